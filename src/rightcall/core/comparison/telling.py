"""What reports tell of a comparison of two runs, line by line; the words are the same wherever they are shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from rightcall.core.comparison import (
    CallRow,
    CallsChange,
    Comparison,
    Kind,
    TestChange,
    TestSide,
    VerdictChange,
)
from rightcall.core.comparison import VerdictSide as Side
from rightcall.core.comparison.classifying import slid
from rightcall.core.comparison.rates import rate_lines, show_p
from rightcall.core.rows import Mark, Row, RowDifference
from rightcall.core.sidebyside import UNICODE_MARKS, Line, side_by_side
from rightcall.core.values import visible
from rightcall.core.wording import amount, first_and_more, listed

SHOWN: Final = 50
"""Tests of one kind that are told of."""

ALARMING: Final = frozenset({Kind.REGRESSION, Kind.NEW_FAILURE, Kind.UNJUDGED})
"""What blocks, and so what the calls are always shown of."""

SHOWN_VERDICTS: Final = 10
SHOWN_IDS: Final = 10

_STYLES: Final[Mapping[Kind, str]] = {
    Kind.REGRESSION: "fail",
    Kind.NEW_FAILURE: "fail",
    Kind.UNJUDGED: "error",
    Kind.FIX: "pass",
    Kind.JUDGED: "pass",
    Kind.STILL_FAILING: "fail",
    Kind.STILL_UNJUDGED: "error",
    Kind.STILL_PASSING: "plain",
    Kind.NEW: "plain",
    Kind.REMOVED: "error",
}
_TITLES: Final[Mapping[Kind, str]] = {
    Kind.REGRESSION: "regression",
    Kind.NEW_FAILURE: "new failure",
    Kind.UNJUDGED: "newly unjudged",
    Kind.FIX: "fixed",
    Kind.JUDGED: "judged now",
    Kind.STILL_FAILING: "still failing",
    Kind.STILL_UNJUDGED: "still not judged",
    Kind.STILL_PASSING: "still passing",
    Kind.NEW: "new",
    Kind.REMOVED: "removed",
}
_NOUNS: Final[Mapping[Kind, tuple[str, str]]] = {
    **{kind: (title, title) for kind, title in _TITLES.items()},
    Kind.REGRESSION: ("regression", "regressions"),
    Kind.NEW_FAILURE: ("new failure", "new failures"),
}
_WORDS: Final = {"pass": "passed", "fail": "failed", "error": "could not be judged", "inconclusive": "was inconclusive"}
_OTHERWISE: Final[Mapping[Kind, str]] = {
    Kind.REGRESSION: "not by all that fails now",
    Kind.NEW_FAILURE: "not by all that fails now",
    Kind.UNJUDGED: "what passed then could not be judged now",
}
_MARKS: Final[Mapping[str, Mark]] = {
    "same": "match",
    "differs": "differs",
    "moved": "moved",
    "removed": "missing",
    "added": "unexpected",
    "note": "note",
}


def told(
    comparison: Comparison,
    width: int,
    marks: Mapping[str, str] = UNICODE_MARKS,
    with_calls: Collection[Kind] = ALARMING,
) -> Iterator[Line]:
    """Yield the counts, then the tests that changed, then rates and what limits the comparison.

    Nothing in a line can steer what shows it. `with_calls` are the kinds whose calls stand side by side.
    """
    yield _headline(comparison)
    yield _EMPTY
    yield from changed(comparison, width, marks, with_calls)
    yield from _rates(comparison)


def changed(
    comparison: Comparison,
    width: int,
    marks: Mapping[str, str] = UNICODE_MARKS,
    with_calls: Collection[Kind] = ALARMING,
) -> Iterator[Line]:
    """Yield only the tests that changed."""
    yield from _apart(_changes(comparison, width, marks, with_calls))


def _apart(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines, with one empty line where there are several, and one at the end."""
    last = _EMPTY
    for line in lines:
        if line.text or last.text:
            yield line
        last = line
    if last.text:
        yield _EMPTY


def _changes(
    comparison: Comparison, width: int, marks: Mapping[str, str], with_calls: Collection[Kind]
) -> Iterator[Line]:
    for kind in Kind:
        changes = [change for change in comparison.changes if change.kind == kind]
        told_of = [change for change in changes if not _is_as_before(change)]
        for change in told_of[:SHOWN]:
            yield from _change(change, width, marks, kind in with_calls)
        if len(told_of) > SHOWN:
            yield Line("note", f"and {comparison.counts[kind] - SHOWN:,} more: {_TITLES[kind]}")
        yield from _as_before(kind, [change.id for change in changes if _is_as_before(change)])


def _is_as_before(change: TestChange) -> bool:
    """Whether it did not pass before, and nothing of that changed."""
    is_still = change.kind in (Kind.STILL_FAILING, Kind.STILL_UNJUDGED)
    return is_still and not change.verdicts and change.calls is None and not slid(change)


def _as_before(kind: Kind, ids: Sequence[str]) -> Iterator[Line]:
    """Name them in one line: there may be many, and they are told of as results."""
    if ids:
        yield Line(_STYLES[kind], visible(f"{_TITLES[kind]}, as before: {first_and_more(ids, SHOWN_IDS)}"))


def summed(comparison: Comparison) -> Iterator[Line]:
    """Yield only the counts, the rates and what limits the comparison."""
    yield _headline(comparison)
    yield from _rates(comparison)


_EMPTY: Final = Line("plain", "")


def _headline(comparison: Comparison) -> Line:
    return Line("plain", visible(f"compared with {comparison.baseline}: {counted(comparison)}"))


def _rates(comparison: Comparison) -> Iterator[Line]:
    attempts, tests = comparison.attempt_rate, comparison.pass_rate
    yield from rate_lines("pass rate", tests)
    if (attempts.before.graded, attempts.after.graded) != (tests.before.graded, tests.after.graded):
        yield from rate_lines("attempts that passed", attempts)
    for name, change in comparison.verdict_rates.items():
        if change.before.exact != change.after.exact:
            yield from rate_lines(f"verdict {name}", change)
    if comparison.calls_changed:
        yield Line("plain", f"calls changed in {amount(comparison.calls_changed, 'test')} of both runs")
    if comparison.calls_unknown:
        yield Line("note", f"not known whether the calls changed in {amount(comparison.calls_unknown, 'test')}")
    yield from (Line("note", visible(f"note: {note}")) for note in comparison.notes)


def counted(comparison: Comparison) -> str:
    """`1 regression, 1 fixed, 3 still passing`: every kind that there is."""
    parts = [f"{number:,} {_NOUNS[kind][number != 1]}" for kind, number in comparison.counts.items() if number]
    return ", ".join(parts) or "no tests"


def heads(kind: Kind) -> str:
    """What the tests of a kind are called over a column or a list of them."""
    return _NOUNS[kind][1]


def _change(change: TestChange, width: int, marks: Mapping[str, str], with_calls: bool) -> Iterator[Line]:
    yield from described(change)
    if with_calls and change.calls is not None:
        yield from _calls(change, change.calls, width, marks)


def described(change: TestChange) -> Iterator[Line]:
    """Yield what became of a test and of its verdicts, without its calls."""
    details = list(_details(change))
    yield Line(_STYLES[change.kind], visible(f"{change.id}  {'; '.join([_title(change), *details])}"))
    for verdict in change.verdicts[:SHOWN_VERDICTS]:
        yield Line("plain", visible(f"  {_verdict(verdict)}"))
    more = len(change.verdicts) - SHOWN_VERDICTS
    if more > 0:
        yield Line("note", f"  and {amount(more, 'more verdict')}")
    if not change.verdicts and (reason := _reason(change)):
        yield Line("plain", visible(f"  {reason}"))


def _title(change: TestChange) -> str:
    """`regression: passed before, failed now`: what it is called, and the outcomes where these do not say it."""
    before, after = change.before, change.after
    title = _TITLES[change.kind]
    if before is not None and after is not None and before.outcome != after.outcome:
        return f"{title}: {_WORDS[before.outcome]} before, {_WORDS[after.outcome]} now"
    if before is not None and after is not None and change.kind in ALARMING:
        return f"{title}: failed before too, but {_OTHERWISE[change.kind]}"
    side = before if after is None else after
    assert side is not None
    is_said = change.kind in (Kind.STILL_FAILING, Kind.STILL_PASSING)
    return title if is_said else f"{title}: {_WORDS[side.outcome]}"


def _details(change: TestChange) -> Iterator[str]:
    before, after = change.before, change.after
    if before is not None and after is not None and max(before.attempts, after.attempts) > 1:
        chance = "" if change.p_value is None else f" ({show_p(change.p_value)}, Fisher's exact test)"
        yield f"{_attempts(before)} attempts passed before, {_attempts(after)} now{chance}"
    if change.calls is not None:
        yield "calls changed"
    if after is not None and after.place and change.kind in ALARMING:
        yield after.place


def _attempts(side: TestSide) -> str:
    return f"{side.passed} of {side.attempts}"


def _reason(change: TestChange) -> str:
    side = change.before if change.after is None else change.after
    return "" if side is None else side.reason


def _verdict(change: VerdictChange) -> str:
    """`no_unexpected_tool: pass before, fail now: Call 3, send_email, was not expected.`"""
    reason = f": {change.after.reason}" if change.after is not None and change.after.reason else ""
    before, after = _status(change.before, change.after), _status(change.after, change.before)
    if before == after:
        return f"{change.id}: still {after}, otherwise now{reason}"
    return f"{change.id}: {before} before, {after} now{reason}"


def _status(side: Side | None, other: Side | None) -> str:
    """The status, with the attempts if there are several, and the severity if it does not count or is another."""
    if side is None:
        return "not there"
    parts: list[str] = (
        [] if side.severity == "block" and (other is None or other.severity == "block") else [side.severity]
    )
    if side.graded > 1 or (other is not None and other.graded > 1):
        parts.append(f"{side.passed} of {side.graded} attempts")
    return f"{side.status.replace('_', ' ')}{f' ({listed(parts)})' if parts else ''}"


def _calls(change: TestChange, calls: CallsChange, width: int, marks: Mapping[str, str]) -> Iterator[Line]:
    yield _EMPTY
    for line in side_by_side([as_row(row) for row in calls.rows], width - 4, marks, call_heads(change, calls)):
        yield Line(line.kind, visible(f"    {line.text}"))
    yield _EMPTY


def call_heads(change: TestChange, calls: CallsChange) -> tuple[str, str]:
    """The words over the calls before and the calls now."""
    return _head("before", change.before, calls.before_attempt), _head("now", change.after, calls.after_attempt)


def _head(word: str, side: TestSide | None, attempt: int) -> str:
    """The word over a column, with the attempt where there are several."""
    return word if side is None or side.attempts < 2 else f"{word}, attempt {attempt + 1} of {side.attempts}"


def as_row(row: CallRow) -> Row:
    """The same line as one of an alignment, which those that show alignments can show."""
    return Row(
        mark=_MARKS[row.mark],
        expected_index=row.before_index,
        expected=row.before,
        made_index=row.after_index,
        made=row.after,
        differences=tuple(RowDifference(path=one.path, message=one.message) for one in row.differences),
        note=row.note,
    )
