"""What reports tell of one result: the reason that decided, the whole story, and remarks at places of the test set.

Reports that cannot show everything in columns of their own share this, so that they tell the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, Literal

import msgspec

from rightcall.core.results import Attempt, Outcome, Result
from rightcall.core.sidebyside import side_by_side
from rightcall.core.values import cut, display, visible
from rightcall.core.verdicts import Status, Verdict
from rightcall.errors import Where

WIDTH: Final = 120
"""Cells that expected beside made takes together."""

SHOWN_REPLY: Final = 1000
SHOWN_FINDINGS: Final = 5

Level = Literal["failure", "error", "warning", "shadow"]
"""What a remark is about: a failed verdict, one that could not be judged, and those that do not count."""

_PLACE = re.compile(r"(?P<file>.+?):(?P<line>[0-9]{1,9})(?::(?P<column>[0-9]{1,9}))?(?:: .*)?", re.DOTALL)


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with one test, at the place of the expectation that says so.

    `verdict` is the verdict's id, empty where it is the result that could not be judged; `where` may know no file.
    """

    level: Level
    result: str
    verdict: str
    message: str
    where: Where


def reason(result: Result) -> str:
    """Return the reason that decided, or one that says it when the attempts say none."""
    reasons = (text for text, _ in _deciding(result))
    return result.reason or next(filter(None, reasons), "") or f"The test is {result.outcome}."


def why(attempt: Attempt) -> str:
    """Return the reason that decided an attempt, its outcome where there is none."""
    return next((text for text, _ in _deciding_in(attempt) if text), str(attempt.outcome))


def code(result: Result) -> str:
    """Return the stable code of what decided, or the outcome where nothing has a code."""
    return next((code for _, code in _deciding(result) if code), str(result.outcome))


def _deciding(result: Result) -> Iterator[tuple[str, str]]:
    """Yield reasons and codes of what came to the result's outcome, the first such thing first."""
    for attempt in result.attempts:
        if attempt.outcome == result.outcome:
            yield from _deciding_in(attempt)
    for attempt in result.attempts:
        for verdict in attempt.verdicts:
            yield verdict.reason, ""


def _deciding_in(attempt: Attempt) -> Iterator[tuple[str, str]]:
    yield attempt.reason, ""
    for verdict in attempt.verdicts:
        if verdict.severity == "block" and verdict.status == str(attempt.outcome):
            yield verdict.reason, verdict.findings[0].code if verdict.findings else ""


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


def remarks(result: Result) -> Iterator[Remark]:
    """Yield one remark for each verdict id and level that did not pass; of a passed test only what does not count.

    A test that neither passed nor is inconclusive has at least one.
    """
    told = list(_remarks(result))
    yield from told
    if result.outcome in (Outcome.FAIL, Outcome.ERROR) and not any(one.level in ("failure", "error") for one in told):
        level: Level = "failure" if result.outcome == Outcome.FAIL else "error"
        yield _remark(result, level, "", reason(result))


def _remarks(result: Result) -> Iterator[Remark]:
    found: dict[tuple[Level, str], str] = {}
    counts: Counter[tuple[Level, str]] = Counter()
    for attempt in result.attempts:
        for verdict in attempt.verdicts:
            level = _level(verdict, result.outcome)
            if level is not None:
                found.setdefault((level, verdict.id), _message(verdict))
                counts[level, verdict.id] += 1
    for (level, identity), message in found.items():
        of = f"{counts[level, identity]} of {len(result.attempts)} attempts: " if len(result.attempts) > 1 else ""
        yield _remark(result, level, identity, of + message)


def _level(verdict: Verdict, outcome: Outcome) -> Level | None:
    if verdict.status not in (Status.FAIL, Status.ERROR):
        return None
    if verdict.severity != "block":
        return "warning" if verdict.severity == "warn" else "shadow"
    if outcome not in (Outcome.FAIL, Outcome.ERROR):
        return None
    return "failure" if verdict.status == Status.FAIL else "error"


def _message(verdict: Verdict) -> str:
    messages = [finding.message for finding in verdict.findings]
    more = len(messages) - SHOWN_FINDINGS
    rest = [f"and {more} more findings"] if more > 0 else []
    return "\n".join([*messages[:SHOWN_FINDINGS], *rest]) or str(verdict.status)


def _remark(result: Result, level: Level, verdict: str, message: str) -> Remark:
    where = result.places.get(verdict, Where())
    at = where if where.line is not None else _parsed(result.place)
    return Remark(level=level, result=result.id, verdict=verdict, message=message, where=at)


def _parsed(place: str) -> Where:
    """The place that a text such as `file:12` or `file:12:5: tests[0]` writes; a text without a line is a file."""
    found = _PLACE.fullmatch(place)
    if found is None:
        return Where(file=place or None)
    column = found["column"]
    return Where(file=found["file"], line=int(found["line"]), column=None if column is None else int(column))
