"""The five ways to line up, and what the unknown parts of a trace could change (G11, G12, G17 to G21)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import msgspec

from rightcall.core.calls import ToolCall
from rightcall.core.counting import Counted
from rightcall.core.flow import Flow
from rightcall.core.pairing import Accepts, accepts, candidates, is_subsequence, may_accept, pair, size_of_matching
from rightcall.core.patterns import MatchesArguments, Pattern

Mode = Literal["exact", "in_order", "any_order", "subset", "superset"]
Patterns = Sequence[Pattern]
Calls = Sequence[ToolCall]


class Possibilities(msgspec.Struct, frozen=True):
    """Whether some completion of what a trace does not show passes, and whether some fails."""

    can_pass: bool
    can_fail: bool


class ModeRules(msgspec.Struct, frozen=True, kw_only=True):
    """One way to line up.

    `extras` and `absences` say whether calls beyond the expected ones, and expected
    calls that were not made, are allowed; `ordered` whether order counts. `passed` is what is said on a pass.
    """

    name: str
    extras: bool
    absences: bool
    ordered: bool
    passed: str

    def follows(self, wanted: Steps, calls: Calls) -> bool:
        """Whether calls that show their arguments stand in the order of the steps, which passes every mode."""
        if len(wanted) == len(calls):
            return all(map(_is_step, wanted, calls))
        return self.extras and _has_steps(wanted, calls)

    def is_met(self, expected: int, made: int, paired: int) -> bool:
        """Whether a maximum pairing of this size is enough, order aside."""
        return (self.absences or paired == expected) and (self.extras or paired == made)

    def possibilities(
        self, patterns: Patterns, counted: Counted, gaps: Sequence[str], *, unordered: bool
    ) -> Possibilities:
        """Grade twice: with the unknown at its best and at its worst (G11, G12).

        Unknown arguments match everything or nothing but "any", calls of unknown success are there or not, and a
        gap may hold any calls anywhere. More calls can only help where extras are allowed and only harm where
        they are not; where nothing but the exact number passes, any doubt about it can make it fail.
        """
        calls = counted.calls
        sure = [call for at, call in enumerate(calls) if at not in counted.unsure]
        doubtful = bool(gaps) or len(sure) < len(calls)
        if self.extras:
            can_pass = bool(gaps) or self._holds(patterns, calls, may_accept, unordered)
            return Possibilities(can_pass, not self._holds(patterns, sure, accepts, unordered))
        can_fail = bool(gaps) or not self._holds(patterns, calls, accepts, unordered)
        if self.absences or not patterns:
            return Possibilities(self._holds(patterns, sure, may_accept, unordered), can_fail)
        can_fail = can_fail or doubtful
        return Possibilities(self._completable(patterns, calls, sure, bool(gaps), unordered), can_fail)

    def _holds(self, patterns: Patterns, calls: Calls, compatible: Accepts, unordered: bool) -> bool:
        rule = UNORDERED.get(self.name) if unordered else None
        return (rule or RULES[self.name])(patterns, calls, compatible)

    def _completable(self, patterns: Patterns, calls: Calls, sure: Calls, gaps: bool, unordered: bool) -> bool:
        """Could the sure calls, some unsure ones and whatever a gap holds be exactly the expected ones?"""
        if len(sure) == len(calls) and not gaps:
            return self._holds(patterns, calls, may_accept, unordered)
        fits = covers_made(patterns, sure, may_accept) and (gaps or covers_expected(patterns, calls, may_accept))
        if not self.ordered or unordered or not fits:
            return fits
        return _fits_in_order(patterns, calls, frozenset(map(id, sure)), gaps)


Steps = Sequence[tuple[str, MatchesArguments | None]]


def steps(patterns: Patterns) -> Steps:
    """The patterns as pairs of a name and what decides on arguments, for the quickest walk."""
    return [(pattern.name, pattern.matches) for pattern in patterns]


def _is_step(step: tuple[str, MatchesArguments | None], call: ToolCall) -> bool:
    name, matches = step
    return name == call.name and (matches is None or matches(call.arguments))


def _has_steps(wanted: Steps, calls: Calls) -> bool:
    at, last = 0, len(wanted)
    name, matches = wanted[0]
    for call in calls:
        if name == call.name and (matches is None or matches(call.arguments)):
            at += 1
            if at == last:
                return True
            name, matches = wanted[at]
    return False


def _fits_in_order(patterns: Patterns, calls: Calls, sure: frozenset[int], gaps: bool) -> bool:
    """Whether every sure call fits a pattern of its own, in order, leaving only patterns that others may fill.

    Reachable pattern counts after each call: a call takes the next pattern, an unsure one may be skipped, and a
    gap may fill any patterns in between.
    """
    reachable = {0}
    for call in calls:
        if gaps:
            reachable = set(range(min(reachable), len(patterns) + 1))
        taken = {at + 1 for at in reachable if at < len(patterns) and may_accept(patterns[at], call)}
        reachable = taken if id(call) in sure else taken | reachable
        if not reachable:
            return False
    return gaps or len(patterns) in reachable


def is_exact(patterns: Patterns, calls: Calls, compatible: Accepts = accepts) -> bool:
    """Same length, and position by position compatible."""
    return len(patterns) == len(calls) and all(map(compatible, patterns, calls))


def covers_expected(patterns: Patterns, calls: Calls, compatible: Accepts = accepts) -> bool:
    """A one-to-one pairing covers all expected calls."""
    if len(patterns) > len(calls):
        return False
    return is_subsequence(patterns, calls, compatible) or _matching(patterns, calls, compatible) == len(patterns)


def covers_made(patterns: Patterns, calls: Calls, compatible: Accepts = accepts) -> bool:
    """A one-to-one pairing covers all calls made."""
    return len(calls) <= len(patterns) and _matching(patterns, calls, compatible) == len(calls)


def covers_both(patterns: Patterns, calls: Calls, compatible: Accepts = accepts) -> bool:
    """A one-to-one pairing covers all expected calls and all calls made."""
    return len(patterns) == len(calls) and covers_expected(patterns, calls, compatible)


def is_silent(patterns: Patterns, calls: Calls, compatible: Accepts = accepts) -> bool:
    """No calls at all were made: what an empty list of expected calls asks for, in every mode (G17)."""
    return not calls


def _matching(patterns: Patterns, calls: Calls, compatible: Accepts) -> int:
    return size_of_matching(candidates(patterns, calls, compatible))


def messages(calls: Calls) -> Iterator[tuple[ToolCall, ...]]:
    """The calls split into runs that one model message made; a call of no known message stands alone."""
    run: list[ToolCall] = []
    for call in calls:
        if run and (call.message is None or call.message != run[-1].message):
            yield tuple(run)
            run = []
        run.append(call)
    if run:
        yield tuple(run)


def is_exact_by_message(patterns: Patterns, calls: Calls, compatible: Accepts = accepts) -> bool:
    """`exact`, the calls of one message being interchangeable (G18)."""
    if len(patterns) != len(calls):
        return False
    at = 0
    for run in messages(calls):
        if not covers_both(patterns[at : at + len(run)], run, compatible):
            return False
        at += len(run)
    return True


def is_subsequence_by_message(patterns: Patterns, calls: Calls, compatible: Accepts = accepts) -> bool:
    """`in_order`, the calls of one message being interchangeable.

    Each message takes as many of the next patterns as it can: a shorter rest is never harder to place.
    """
    at = 0
    for run in messages(calls):
        at += _longest_taken(patterns[at : at + len(run)], run, compatible)
    return at == len(patterns)


def taken_by_message(patterns: Patterns, calls: Calls) -> list[int]:
    """The positions of the calls that match the first patterns so, each message taking as many as it can."""
    taken: list[int] = []
    start = 0
    for run in messages(calls):
        pairs = pair(candidates(patterns[len(taken) : len(taken) + len(run)], run))
        taken += [start + at for at in itertools.takewhile(lambda made: made is not None, pairs) if at is not None]
        start += len(run)
    return taken


def _longest_taken(patterns: Patterns, run: Calls, compatible: Accepts) -> int:
    """How many of the first patterns the calls can take: a largest matching covers the earliest ones it can."""
    covered = Flow(candidates(patterns, run, compatible)).cover()
    return covered.index(False) if False in covered else len(covered)


Rule = Callable[[Patterns, Calls, Accepts], bool]

RULES: dict[str, Rule] = {
    "exact": is_exact,
    "in_order": is_subsequence,
    "any_order": covers_both,
    "subset": covers_made,
    "superset": covers_expected,
    "none": is_silent,
}

UNORDERED: dict[str, Rule] = {"exact": is_exact_by_message, "in_order": is_subsequence_by_message}

MODES: dict[str, ModeRules] = {
    rules.name: rules
    for rules in (
        ModeRules(
            name="exact", extras=False, absences=False, ordered=True,
            passed="{all_expected} {were} made, in order, and no others.",
        ),
        ModeRules(
            name="in_order", extras=True, absences=False, ordered=True,
            passed="{all_expected} {were} made, in order.",
        ),
        ModeRules(
            name="any_order", extras=False, absences=False, ordered=False,
            passed="{all_expected} {were} made, and no others.",
        ),
        ModeRules(
            name="subset", extras=False, absences=True, ordered=False,
            passed="{all_made} {were} expected.",
        ),
        ModeRules(
            name="superset", extras=True, absences=False, ordered=False,
            passed="{all_expected} {were} made.",
        ),
        ModeRules(
            name="none", extras=False, absences=False, ordered=False,
            passed="No calls were expected and none were made.",
        ),
    )
}  # fmt: skip
