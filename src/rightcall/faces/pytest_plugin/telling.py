"""Results in words, as pytest shows them, and in properties of its reports."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from rightcall.core.results import Outcome, Result
from rightcall.core.story import reason
from rightcall.core.summary import RunEnd
from rightcall.core.verdicts import Status, Verdict
from rightcall.reports.terminal import Detail, Look, TerminalReport

MEASURES: Final = ("precision", "recall")

OUTCOME: Final = "rightcall.outcome"
NOTE: Final = "rightcall.note"
"""Names of properties of reports: what a test came to, and what the summary should say besides."""

_LOOK = Look(width=100, detail=Detail.QUIET)


def text(result: Result) -> str:
    """Why a test did not pass: first the reason, then expected beside made, and the attempts if there were several."""
    title, _, body = TerminalReport(_LOOK).add(result).decode("utf-8").strip("\n").partition("\n")
    head, told = _head(result, title), textwrap.dedent(body)
    if not told:
        return title
    if told in head:
        return head
    return told if head in told.partition("\n")[0] else f"{head}\n\n{told}"


def _head(result: Result, title: str) -> str:
    """The line that pytest's own summary shows."""
    if result.outcome is Outcome.ERROR:
        return f"could not be judged: {reason(result)}"
    if result.outcome is Outcome.INCONCLUSIVE:
        return "inconclusive: nothing was expected that blocks"
    return title[2:] if len(result.attempts) > 1 else reason(result)


def properties(result: Result) -> list[tuple[str, object]]:
    """What was measured, for the JUnit report, and what did not block, for the summary."""
    found: list[tuple[str, object]] = [
        (OUTCOME, str(result.outcome)),
        ("rightcall.attempts", len(result.attempts)),
    ]
    if result.statistics is not None:
        low, high = result.statistics.interval
        found.append(("rightcall.attempts_passed", result.statistics.passed))
        found.append(("rightcall.interval_95", f"{low:.4f} to {high:.4f}"))
    if len(result.attempts) == 1:
        found += measured(result.attempts[0].verdicts)
    return [*found, *(note for attempt in result.attempts for note in unblocking(attempt.verdicts))]


def measured(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, object]]:
    """What the verdicts measured, by names such as `tool_call_trajectory.recall`."""
    for verdict in verdicts:
        values = ((key, getattr(verdict, key)) for key in MEASURES)
        yield from ((f"{verdict.id}.{key}", value) for key, value in values if value is not None)


def unblocking(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, object]]:
    """What did not pass and does not block: assertions of severity `warn` or `shadow`."""
    for verdict in verdicts:
        if verdict.severity != "block" and verdict.status in (Status.FAIL, Status.ERROR):
            yield NOTE, f"{verdict.severity} {verdict.id}: {verdict.reason}"


def notes(end: RunEnd) -> list[tuple[str, object]]:
    """What the user should know of the whole file."""
    unused = (f"no test for trajectory {name}" for name in end.unused)
    return [(NOTE, note) for note in (*unused, *end.warnings)]


def blocked(unread: Sequence[Result], end: RunEnd) -> str:
    """Why the gate blocks, and the records that no test was for."""
    report = TerminalReport(_LOOK)
    decided = f"Blocked: {'; '.join(end.decision.reasons)}"
    told = b"".join([*map(report.add, unread), report.end(end)]).decode("utf-8").strip("\n").removesuffix(decided)
    return f"{decided}\n\n{told.rstrip()}"
