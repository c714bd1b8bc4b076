"""What became of one test between two runs: its kind, its verdicts, and what is told of each side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from rightcall.core.comparison import Kind, TestChange, TestSide, VerdictChange, VerdictSide
from rightcall.core.comparison.outlines import AttemptRow, ResultRow, VerdictRow
from rightcall.core.results import Outcome
from rightcall.core.significance import fisher
from rightcall.core.verdicts import WORST_FIRST, Status

_JUDGED: Final = frozenset({Outcome.PASS, Outcome.FAIL})
_NOT_PASSED: Final = frozenset({Status.FAIL, Status.ERROR})


def passes(side: ResultRow | None) -> bool | None:
    """Whether the test passed; `None` if it was not judged, or is not there."""
    return None if side is None or side.outcome not in _JUDGED else side.outcome == Outcome.PASS


def verdict_passes(side: VerdictSide | None) -> bool | None:
    """Whether the verdict passed in every attempt; `None` if it was not judged, or is not there."""
    return None if side is None or side.status not in (Status.PASS, Status.FAIL) else side.status == Status.PASS


def tally(attempts: Iterable[AttemptRow]) -> tuple[int, int]:
    """How many attempts passed, and how many were judged."""
    outcomes = [attempt.outcome for attempt in attempts]
    passed = outcomes.count(Outcome.PASS)
    return passed, passed + outcomes.count(Outcome.FAIL)


def side(row: ResultRow) -> TestSide:
    """What is told of a test in one run."""
    passed, graded = tally(row.attempts)
    return TestSide(
        outcome=row.outcome,
        passed=passed,
        graded=graded,
        attempts=len(row.attempts),
        reason=_reason(row),
        place=row.place,
    )


def _reason(row: ResultRow) -> str:
    """Why a test is what it is: the first reason that an attempt of its outcome, or a blocking verdict of that, has."""
    if row.outcome == Outcome.PASS or row.reason:
        return row.reason if row.outcome != Outcome.PASS else ""
    for attempt in row.attempts:
        if attempt.outcome == row.outcome:
            blocking = (one for one in attempt.verdicts if one.severity == "block" and one.status == str(row.outcome))
            return attempt.reason or next((one.reason for one in blocking), "")
    return ""


def verdicts(row: ResultRow) -> dict[str, VerdictSide]:
    """The verdicts of a test over its attempts, by id."""
    found: dict[str, list[VerdictRow]] = {}
    for attempt in row.attempts:
        for verdict in attempt.verdicts:
            found.setdefault(verdict.id, []).append(verdict)
    return {identity: _verdict_side(verdicts) for identity, verdicts in found.items()}


def _verdict_side(verdicts: Sequence[VerdictRow]) -> VerdictSide:
    statuses = [verdict.status for verdict in verdicts]
    status = next(status for status in WORST_FIRST if status in statuses)
    deciding = verdicts[statuses.index(status)]
    passed = statuses.count(Status.PASS)
    return VerdictSide(
        name=deciding.name,
        status=status,
        severity=deciding.severity,
        passed=passed,
        graded=passed + statuses.count(Status.FAIL),
        reason=deciding.reason,
    )


def verdict_changes(before: ResultRow, after: ResultRow) -> Iterator[VerdictChange]:
    """The verdicts whose status, severity, share of attempts or reason is another, or that are on one side only."""
    then, now = verdicts(before), verdicts(after)
    for identity in dict.fromkeys([*now, *then]):
        old, new = then.get(identity), now.get(identity)
        if old != new and not (_is_absent(old) and _is_absent(new)):
            yield VerdictChange(id=identity, before=old, after=new)


def _is_absent(side: VerdictSide | None) -> bool:
    return side is None or side.status == Status.NOT_APPLICABLE


def kind(before: ResultRow | None, after: ResultRow, changes: Iterable[VerdictChange]) -> Kind:
    """What became of a test."""
    if before is None:
        return _NEW_KINDS.get(after.outcome, Kind.NEW)
    if after.outcome == Outcome.FAIL and before.outcome == Outcome.FAIL:
        return max((_failing(change) for change in changes), key=_ORDER.__getitem__, default=Kind.STILL_FAILING)
    if after.outcome == Outcome.ERROR and before.outcome != Outcome.ERROR:
        return Kind.UNJUDGED
    return _KINDS[_group(before.outcome), _group(after.outcome)]


_NEW_KINDS: Final = {Outcome.FAIL: Kind.NEW_FAILURE, Outcome.ERROR: Kind.UNJUDGED}
_ORDER: Final = {Kind.STILL_FAILING: 0, Kind.UNJUDGED: 1, Kind.NEW_FAILURE: 2, Kind.REGRESSION: 3}


def _failing(change: VerdictChange) -> Kind:
    """What a verdict makes of a test that failed before and fails now: a failure excuses only itself."""
    before, after = change.before, change.after
    passed = before is not None and before.status == Status.PASS
    failed = before is not None and before.status == Status.FAIL and before.severity == "block"
    if after is None or after.severity != "block":
        return Kind.STILL_FAILING
    if after.status == Status.FAIL and not failed:
        return Kind.REGRESSION if passed else Kind.NEW_FAILURE
    return Kind.UNJUDGED if after.status == Status.ERROR and passed else Kind.STILL_FAILING


def kind_by_place(before: ResultRow | None, after: ResultRow, changes: Iterable[VerdictChange]) -> Kind:
    """What became of a test of another test set, or of none that is known.

    What is found by its place there, a test without an id or a verdict that shares its name with others of the test,
    may be another one than before: it is excused only for the same reasons.
    """
    found = kind(before, after, changes)
    if before is None or _reasons(after, before) <= _reasons(before, after):
        return found
    return _UNEXCUSED.get(found, found)


_UNEXCUSED: Final = {Kind.STILL_FAILING: Kind.NEW_FAILURE, Kind.STILL_UNJUDGED: Kind.UNJUDGED}


def _reasons(row: ResultRow, other: ResultRow) -> set[tuple[str, str]]:
    """Why what is found by its place did not pass: the names of verdicts that block, with their reasons."""
    failed = [one for one in verdicts(row).values() if one.severity == "block" and one.status in _NOT_PASSED]
    if row.positional:
        whole = (row.reason, *(attempt.reason for attempt in row.attempts))
        return {*(("", reason) for reason in whole if reason), *((one.name, one.reason) for one in failed)}
    alike = _shared_names(row) | _shared_names(other)
    return {(one.name, one.reason) for one in failed if one.name in alike}


def _shared_names(row: ResultRow) -> set[str]:
    names = Counter(one.name for one in verdicts(row).values())
    return {name for name, number in names.items() if number > 1}


def _group(outcome: Outcome) -> Outcome:
    return outcome if outcome in _JUDGED else Outcome.ERROR


_KINDS: Final[Mapping[tuple[Outcome, Outcome], Kind]] = {
    (Outcome.PASS, Outcome.PASS): Kind.STILL_PASSING,
    (Outcome.PASS, Outcome.FAIL): Kind.REGRESSION,
    (Outcome.PASS, Outcome.ERROR): Kind.UNJUDGED,
    (Outcome.FAIL, Outcome.PASS): Kind.FIX,
    (Outcome.FAIL, Outcome.ERROR): Kind.UNJUDGED,
    (Outcome.ERROR, Outcome.PASS): Kind.JUDGED,
    (Outcome.ERROR, Outcome.FAIL): Kind.NEW_FAILURE,
    (Outcome.ERROR, Outcome.ERROR): Kind.STILL_UNJUDGED,
}


def slid(change: TestChange) -> bool:
    """Whether another share of the attempts passed, although the test came to the same."""
    before, after = change.before, change.after
    return before is not None and after is not None and before.passed * after.graded != after.passed * before.graded


def p_value(before: ResultRow, after: ResultRow) -> float | None:
    """Whether another share of the attempts passed by more than chance; `None` without several attempts."""
    if max(len(before.attempts), len(after.attempts)) < 2:
        return None
    return fisher(*tally(before.attempts), *tally(after.attempts))


def representatives(before: ResultRow, after: ResultRow) -> tuple[int, int] | None:
    """The first attempt on each side that came to what the test did there; `None` if a side has no attempt."""
    if not before.attempts or not after.attempts:
        return None
    return _first(before), _first(after)


def _first(row: ResultRow) -> int:
    return next((at for at, attempt in enumerate(row.attempts) if attempt.outcome == row.outcome), 0)
