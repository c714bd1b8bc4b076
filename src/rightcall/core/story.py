"""What reports tell of one result: the reason that decided, and the whole story in lines of text.

Reports that cannot show everything in columns of their own share this, so that they tell the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rightcall.core.results import Attempt, Outcome, Result
from rightcall.core.sidebyside import side_by_side
from rightcall.core.values import cut, display, visible
from rightcall.core.verdicts import Status, Verdict

WIDTH: Final = 120
"""Cells that expected beside made takes together."""

SHOWN_REPLY: Final = 1000


def reason(result: Result) -> str:
    """Return the reason that decided, or one that says it when the attempts say none."""
    reasons = (text for text, _ in _deciding(result))
    return result.reason or next(filter(None, reasons), "") or f"The test is {result.outcome}."


def code(result: Result) -> str:
    """Return the stable code of what decided, or the outcome where nothing has a code."""
    return next((code for _, code in _deciding(result) if code), str(result.outcome))


def _deciding(result: Result) -> Iterator[tuple[str, str]]:
    """Yield reasons and codes of what came to the result's outcome, the first such thing first."""
    for attempt in result.attempts:
        if attempt.outcome == result.outcome:
            yield attempt.reason, ""
            for verdict in attempt.verdicts:
                if verdict.severity == "block" and verdict.status == str(result.outcome):
                    yield verdict.reason, verdict.findings[0].code if verdict.findings else ""
    for attempt in result.attempts:
        for verdict in attempt.verdicts:
            yield verdict.reason, ""


def story(result: Result) -> Iterator[str]:
    """Yield everything that explains a result, line by line; nothing in a line can steer what shows it."""
    if result.reason:
        yield visible(result.reason)
    for number, attempt in enumerate(result.attempts, 1):
        if len(result.attempts) > 1:
            yield visible(f"attempt {number}: {attempt.outcome} ({attempt.trajectory})")
        yield from _attempt(attempt)


def _attempt(attempt: Attempt) -> Iterator[str]:
    if attempt.reason:
        yield visible(attempt.reason)
    for verdict in attempt.verdicts:
        yield from _verdict(verdict, attempt)
    if attempt.outcome != Outcome.PASS and attempt.output is not None:
        reply = visible(attempt.output) if isinstance(attempt.output, str) else display(attempt.output, SHOWN_REPLY)
        yield f"The agent replied: {cut(reply, SHOWN_REPLY)}"
    if attempt.place:
        yield visible(f"trajectory {attempt.trajectory}, {attempt.place}")
    yield from (visible(f"note: {warning}") for warning in attempt.warnings)


def _verdict(verdict: Verdict, attempt: Attempt) -> Iterator[str]:
    counts = "" if verdict.severity == "block" else f" ({verdict.severity}: does not count)"
    because = f": {verdict.reason}" if verdict.reason else ""
    yield visible(f"{verdict.status} {verdict.id}{counts}{because}")
    yield from (f"    {visible(finding.message)}" for finding in verdict.findings[1:])
    if verdict.status == Status.ERROR and "traceback" in verdict.details:
        yield from (f"    {visible(line)}" for line in str(verdict.details["traceback"]).split("\n"))
    rows = attempt.alignments.get(verdict.id, ())
    yield from (f"    {visible(line.text)}" for line in side_by_side(rows, WIDTH))
