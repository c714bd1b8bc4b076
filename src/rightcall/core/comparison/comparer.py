"""From the results of two runs to what became of each test: one fold over the later run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from msgspec import UNSET

from rightcall.core.comparison import CallsChange, Comparison, Kind, RateChange, TestChange, classifying, rate_of
from rightcall.core.comparison.calls import changed_calls, same_calls
from rightcall.core.comparison.outlines import ResultRow, RunRow, secrets
from rightcall.core.significance import mcnemar
from rightcall.core.wording import amount, first

KEPT: Final = 1000
"""Changes of one kind that are kept; more of them are counted."""

SHOWN_IDS: Final = 3


Find = Callable[[str], ResultRow | None]
"""Gives the result of that id in the baseline, each once; `None` if there is none, or no other."""


class _Tally:
    """How many passed of those judged, in both runs, and how many pairs changed sides."""

    def __init__(self) -> None:
        self._counts = [[0, 0], [0, 0]]
        self._worse = self._better = 0

    def add(self, before: bool | None, after: bool | None) -> None:
        """Count one thing by whether it passed in each run; `None` if it was not judged there."""
        for counts, passed in zip(self._counts, (before, after), strict=True):
            counts[0] += passed is True
            counts[1] += passed is not None
        self._worse += before is True and after is False
        self._better += before is False and after is True

    def count(self, side: int, passed: int, graded: int) -> None:
        """Count things of one run that have no counterpart in the other."""
        self._counts[side][0] += passed
        self._counts[side][1] += graded

    def unpaired(self) -> RateChange:
        """Both rates, and nothing about pairs."""
        before, after = (rate_of(*counts) for counts in self._counts)
        return RateChange(before=before, after=after)

    def paired(self) -> RateChange:
        """Both rates, and whether what was judged twice came to something else by more than chance."""
        before, after = (rate_of(*counts) for counts in self._counts)
        p_value = mcnemar(self._worse, self._better)
        return RateChange(before=before, after=after, worse=self._worse, better=self._better, p_value=p_value)


class Comparer:
    """Takes the results of a run one by one, and tells at the end how they differ from those of the baseline."""

    def __init__(self, baseline: RunRow, candidate: RunRow, find: Find) -> None:
        self._runs = (baseline, candidate)
        self._find = find
        self._kinds: Counter[Kind] = Counter()
        self._changes: dict[Kind, list[TestChange]] = {kind: [] for kind in Kind}
        self._left_out = self._judged_in_both = self._calls_changed = self._calls_unknown = 0
        self._tests, self._attempts = _Tally(), _Tally()
        self._verdicts: dict[str, _Tally] = {}
        self._positional: dict[str, None] = {}
        # Of what has no hash, JSON Lines and records, nobody knows whether the tests are the same.
        self._is_one_set = baseline.test_set_hash == candidate.test_set_hash != ""

    def add(self, after: ResultRow) -> None:
        """Take one result of the later run."""
        before = self._find(after.id)
        self._count(before, after)
        verdicts = tuple(classifying.verdict_changes(before, after)) if before is not None else ()
        kind_of = classifying.kind if self._is_one_set else classifying.kind_by_place
        calls = None if before is None else self._calls(before, after)
        self._keep(
            TestChange(
                id=after.id,
                kind=kind_of(before, after, verdicts),
                before=None if before is None else classifying.side(before),
                after=classifying.side(after),
                verdicts=verdicts,
                calls=calls,
                p_value=None if before is None else classifying.p_value(before, after),
                secrets=secrets(*(side.secrets for side in (before, after) if side is not None)),
            )
        )

    def end(self, left: Iterable[ResultRow]) -> Comparison:
        """Return the comparison; `left` are the results of the baseline that were not found by any of the later run."""
        for before in left:
            self._count(before, None)
            self._keep(
                TestChange(
                    id=before.id, kind=Kind.REMOVED, before=classifying.side(before), after=None, secrets=before.secrets
                )
            )
        return Comparison(
            baseline=self._runs[0].name,
            candidate=self._runs[1].name,
            counts={kind: self._kinds[kind] for kind in Kind},
            changes=tuple(change for kind in Kind for change in self._changes[kind]),
            left_out=self._left_out,
            judged_in_both=self._judged_in_both,
            pass_rate=self._tests.paired(),
            attempt_rate=self._attempts.unpaired(),
            verdict_rates={name: tally.paired() for name, tally in sorted(self._verdicts.items())},
            calls_changed=self._calls_changed,
            calls_unknown=self._calls_unknown,
            notes=tuple(self._notes()),
        )

    def _keep(self, change: TestChange) -> None:
        self._kinds[change.kind] += 1
        is_quiet = change.kind == Kind.STILL_PASSING and not change.verdicts and change.calls is None
        if is_quiet and not classifying.slid(change):
            return
        if len(self._changes[change.kind]) < KEPT:
            self._changes[change.kind].append(change)
        else:
            self._left_out += 1

    def _count(self, before: ResultRow | None, after: ResultRow | None) -> None:
        sides = (before, after)
        passes = [classifying.passes(side) for side in sides]
        self._tests.add(*passes)
        self._judged_in_both += None not in passes
        for number, side in enumerate(sides):
            if side is not None:
                self._attempts.count(number, *classifying.tally(side.attempts))
                self._positional |= {side.id: None} if side.positional else {}
        verdicts = [{} if side is None else classifying.verdicts(side) for side in sides]
        for identity in dict.fromkeys([*verdicts[0], *verdicts[1]]):
            found = [each.get(identity) for each in verdicts]
            name = next(side.name for side in found if side is not None)
            self._verdicts.setdefault(name, _Tally()).add(*(classifying.verdict_passes(side) for side in found))

    def _calls(self, before: ResultRow, after: ResultRow) -> CallsChange | None:
        """The calls that changed, of the attempts that made each test what it is."""
        pairs = classifying.representatives(before, after)
        if pairs is None or before.attempts[pairs[0]].made is UNSET or after.attempts[pairs[1]].made is UNSET:
            self._calls_unknown += 1
            return None
        then, now = before.attempts[pairs[0]].made, after.attempts[pairs[1]].made
        assert then is not UNSET
        assert now is not UNSET
        if same_calls(then, now):
            return None
        self._calls_changed += 1
        # Lining up takes time and room, and what is beyond the limit is not kept anyway.
        rows = changed_calls(then or (), now or ()) if self._calls_changed <= KEPT else ()
        return CallsChange(before_attempt=pairs[0], after_attempt=pairs[1], rows=rows)

    def _notes(self) -> Iterator[str]:
        baseline, candidate = self._runs
        for run in (baseline, candidate):
            if not run.is_complete:
                yield f"{run.name} does not say by which rules and for which test set it was graded"
        if baseline.is_complete and candidate.is_complete:
            if baseline.test_set_hash != candidate.test_set_hash:
                yield f"the test sets differ: {_test_set(baseline)} before, {_test_set(candidate)} now"
            if baseline.product != candidate.product:
                yield f"graded by rightcall {baseline.product} before, {candidate.product} now"
        if self._positional:
            noun = amount(len(self._positional), "test has no id", "tests have no id")
            verb = "is" if len(self._positional) == 1 else "are"
            alike = "" if self._is_one_set else ", and excused only for the same reason"
            yield f"{noun} and {verb} paired by position{alike}: {first(list(self._positional), SHOWN_IDS)}"


def _test_set(run: RunRow) -> str:
    if not run.test_set_hash:
        return "none"
    return f"{run.test_set} ({run.test_set_hash[:12]})"
