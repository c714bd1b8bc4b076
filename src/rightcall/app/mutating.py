"""Mutants of trajectories that pass: which of them a test notices, and which it lets pass.

A mutant is killed by a test if it is no pass for it any more. One that can then no longer be judged (`error`) is
killed too, since an error blocks as a failure does; how many these are is counted apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Final

import msgspec

from rightcall.app.surviving import Excuse, excuse
from rightcall.assertions import ForbiddenTools
from rightcall.core.assertion import judge
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.mutants import UNKNOWN_TOOL, Mutant, Strangers, draw
from rightcall.core.results import Outcome, attempt_outcome
from rightcall.core.verdicts import Status, Verdict
from rightcall.testsets import CompiledTest, Test
from rightcall.testsets.tools import named_tools

MOST_MUTANTS: Final = 10_000
"""Mutants of one trajectory."""

MOST_CALLS: Final = 5_000_000
"""Calls in all mutants of one trajectory together."""


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """How many mutants were killed, `errors` of them because they could not be judged, and how many survived.

    `equivalent` are survivors that the test declares to make no difference: they are in neither.
    """

    killed: int = 0
    errors: int = 0
    survived: int = 0
    equivalent: int = 0

    @property
    def mutants(self) -> int:
        """Those that should have been killed."""
        return self.killed + self.survived

    @property
    def rate(self) -> Fraction | None:
        """The mutation score, `None` without mutants."""
        return Fraction(self.killed, self.mutants) if self.mutants else None

    def __add__(self, other: Score) -> Score:
        return Score(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})


class Survivors(msgspec.Struct, frozen=True, kw_only=True):
    """Survivors of one operator that survive for one reason, with the example of the shortest trajectory."""

    operator: str
    count: int
    example: str
    trajectory: str
    why: str
    advice: str


class TestScore(msgspec.Struct, frozen=True, kw_only=True):
    """How well one test notices mutants of its passing trajectories, in all and by each of its assertions.

    `possible` mutants there were, or more where a trajectory is large (`is_sample`); `place` is where the test stands.
    """

    __test__ = False

    test: str
    place: str
    trajectories: int
    score: Score
    assertions: dict[str, Score]
    survivors: tuple[Survivors, ...]
    possible: int
    is_sample: bool


class Tally:
    """What mutants of one test came to, while trajectories are read."""

    def __init__(self, compiled: CompiledTest, most: int = MOST_MUTANTS) -> None:
        self.compiled = compiled
        self.most = most
        self.trajectories = self.not_passing = self.possible = 0
        self.is_sample = False
        self.score = Score()
        self.assertions: dict[str, list[int]] = {}
        self.survivors: dict[tuple[str, Excuse], tuple[int, int, Mutant, str]] = {}
        self.forbidden = next(_forbidden(compiled), None)

    def add(self, trajectory: Trajectory, shown: str) -> None:
        """Try the mutants of one more trajectory, if it passes."""
        verdicts = self._verdicts(trajectory)
        if self._outcome(verdicts) != Outcome.PASS:
            self.not_passing += 1
            return
        self.trajectories += 1
        calls = trajectory.tool_calls or ()
        drawn = draw(trajectory, self._strangers(calls), min(self.most, MOST_CALLS // max(len(calls), 1)))
        self.possible += drawn.possible
        self.is_sample = self.is_sample or drawn.is_sample
        passing = [at for at, verdict in enumerate(verdicts) if verdict.status == Status.PASS]
        for mutant in drawn.mutants:
            self._try(mutant, trajectory, passing, shown)

    def _try(self, mutant: Mutant, trajectory: Trajectory, passing: list[int], shown: str) -> None:
        verdicts = self._verdicts(mutant.of(trajectory))
        outcome = self._outcome(verdicts)
        if outcome != Outcome.PASS:
            self.score += Score(killed=1, errors=int(outcome == Outcome.ERROR))
        elif is_equivalent(mutant, trajectory.tool_calls or (), self.compiled):
            self.score += Score(equivalent=1)
            return
        else:
            self.score += Score(survived=1)
            self._keep(mutant, trajectory, shown)
        for at in passing:
            counts = self.assertions.setdefault(verdicts[at].id, [0, 0])
            counts[verdicts[at].status != Status.PASS] += 1

    def _keep(self, mutant: Mutant, trajectory: Trajectory, shown: str) -> None:
        calls = trajectory.tool_calls or ()
        key, size = (mutant.operator, excuse(mutant, calls, self.compiled.test)), len(calls)
        count, shortest, first, name = self.survivors.get(key, (0, size + 1, mutant, shown))
        if size < shortest:
            shortest, first, name = size, mutant, shown
        self.survivors[key] = (count + 1, shortest, first, name)

    def _verdicts(self, trajectory: Trajectory) -> list[Verdict]:
        return [judge(trajectory, assertion) for assertion in self.compiled.assertions]

    def _outcome(self, verdicts: list[Verdict]) -> Outcome:
        return attempt_outcome(verdicts, self.compiled.test.min_assertion_rate)

    def _strangers(self, calls: tuple[ToolCall, ...]) -> Strangers:
        test = self.compiled.test
        taken = {call.name for call in calls} | {*test.tool_aliases, *test.tool_aliases.values(), *_words(test)}
        unknown = UNKNOWN_TOOL
        while unknown in taken:
            unknown += "_"
        return Strangers(unknown, self.forbidden)

    def told(self) -> TestScore:
        """The test's score, with what survived most often first."""
        groups = sorted(self.survivors.items(), key=lambda item: -item[1][0])
        return TestScore(
            test=self.compiled.test.id,
            place=str(msgspec.structs.replace(self.compiled.test.where, path="")),
            trajectories=self.trajectories,
            score=self.score,
            assertions={name: Score(killed=killed, survived=left) for name, (left, killed) in self.assertions.items()},
            survivors=tuple(
                Survivors(
                    operator=operator,
                    count=count,
                    example=mutant.words,
                    trajectory=shown,
                    why=reason.why,
                    advice=reason.advice,
                )
                for (operator, reason), (count, _, mutant, shown) in groups
            ),
            possible=self.possible,
            is_sample=self.is_sample,
        )


def is_equivalent(mutant: Mutant, calls: tuple[ToolCall, ...], compiled: CompiledTest) -> bool:
    """Whether the test declares that the change makes no difference.

    That is: an argument under `ignore_arguments`, calls of one message that `parallel: unordered` makes
    interchangeable, and calls that `count` leaves out.
    """
    test = compiled.test
    key = mutant.path.partition(".")[0].partition("[")[0]
    if key and any(fnmatchcase(key, glob) for glob in test.ignore_arguments):
        return True
    if test.parallel == "unordered" and mutant.swaps_parallel(calls):
        return True
    is_addition = mutant.operator.startswith("add-") and not mutant.path
    return mutant.at is not None and not is_addition and not test.count.takes(calls[mutant.at])


def _forbidden(compiled: CompiledTest) -> Iterator[str]:
    """Tools that the test forbids whatever their arguments."""
    for assertion in compiled.test.assertions:
        if isinstance(assertion, ForbiddenTools):
            yield from (tool for tool in assertion.tools if isinstance(tool, str))


def _words(test: Test) -> Iterator[str]:
    """The tools that a test names."""
    for assertion in test.assertions:
        yield from (name for _, name in named_tools(assertion))


class Mutation(msgspec.Struct, frozen=True, kw_only=True):
    """What all tests came to; `not_passing` trajectories had no mutants, `unused` belong to no test."""

    score: Score
    tests: tuple[TestScore, ...]
    without: tuple[str, ...]
    not_passing: int
    unused: tuple[str, ...]
    rejected: tuple[str, ...]

    @classmethod
    def of(cls, tallies: Mapping[str, Tally], unused: list[str], rejected: list[str]) -> Mutation:
        """Sum up."""
        told = [tally.told() for tally in tallies.values() if tally.trajectories]
        return cls(
            score=sum((one.score for one in told), Score()),
            tests=tuple(told),
            without=tuple(name for name, tally in tallies.items() if not tally.trajectories),
            not_passing=sum(tally.not_passing for tally in tallies.values()),
            unused=tuple(unused),
            rejected=tuple(rejected),
        )
