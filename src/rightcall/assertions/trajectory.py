"""Expected calls against calls made: five ways to line them up (G17 to G22)."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Literal

from rightcall.core import doubt
from rightcall.core.aligning import align
from rightcall.core.assertion import Assertion, CannotJudge, Check, Setting
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.counting import Count, Counted, shows_all, successful
from rightcall.core.explaining import Lineup, explain, measure, rates
from rightcall.core.lining import MODES, Mode, steps
from rightcall.core.pairing import Groups, candidates, count_pairs, grouped, longest_in_order
from rightcall.core.patterns import ExpectedCall, Pattern, ask_results, compile_call, compile_each
from rightcall.core.rows import Row
from rightcall.core.verdicts import Evidence, Finding, Words


class ToolCallTrajectory(Assertion, frozen=True, kw_only=True, tag="trajectory"):
    """The calls made line up with the calls expected. Verdict `tool_call_trajectory`.

    `expected_tool_calls` lists them; an empty list expects no calls at all, in every mode. `match` says how
    they must line up:

    - `exact`: the same calls in the same order, and no others;
    - `in_order` (default): the expected calls in order, other calls may come between them;
    - `any_order`: the same calls in any order, and no others;
    - `subset`: every call made was expected, some expected ones may be missing;
    - `superset`: every expected call was made, other calls are allowed.

    `arguments` says how arguments are compared: `partial` (default) the listed top-level keys, `exact` all of
    them, `deep` listed keys at every depth, `ignore` not at all. `only_successful` counts calls that are known
    to have succeeded. `parallel: unordered` lets the calls of one model message stand in any order.

    The score is 1 or 0. Details hold `precision`, `recall`, `f1`, `paired`, `paired_in_order`, `missing` and
    `unexpected` (counts), and a `reason` that also says on a pass what matched.
    """

    expected_tool_calls: tuple[ExpectedCall, ...]
    match: Mode = "in_order"
    arguments: Literal["partial", "exact", "ignore", "deep"] = "partial"
    only_successful: bool = False
    parallel: Literal["ordered", "unordered"] = "ordered"

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories; `TestSetError` with the path of a call that cannot be."""
        patterns = compile_each(
            self.expected_tool_calls, lambda call: compile_call(call, self.arguments, setting), "expected_tool_calls"
        )
        unordered = self.parallel == "unordered" or setting.parallel_unordered
        return TrajectoryCheck(patterns, self, setting, unordered=unordered)


class TrajectoryCheck:
    """A compiled trajectory assertion."""

    name = "tool_call_trajectory"

    def __init__(
        self, patterns: list[Pattern], assertion: ToolCallTrajectory, setting: Setting, *, unordered: bool
    ) -> None:
        self.patterns = patterns
        self.steps = steps(patterns)
        self.mode = MODES[assertion.match if patterns else "none"]
        self.unordered = unordered
        self.setting = setting
        self.only_successful = assertion.only_successful
        self.uses_results = ask_results(patterns)
        has_options = unordered or self.only_successful or setting.tool_aliases or setting.count != Count()
        self.is_simple = not (has_options or self.uses_results)

    @cached_property
    def groups(self) -> Groups:
        """The patterns by name, for when taking the first fit is not enough."""
        return grouped(self.patterns)

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """Decide at once where nothing is unknown, else by asking what the unknown could change."""
        calls = trajectory.tool_calls
        assert calls is not None
        if self.is_simple and not trajectory.gaps and shows_all(calls):
            return self._plainly(trajectory, calls)
        return self._carefully(trajectory, self._counted(trajectory))

    def _plainly(self, trajectory: Trajectory, calls: tuple[ToolCall, ...]) -> Evidence:
        expected, made = len(self.patterns), len(calls)
        counted = Counted(calls=calls, indices=range(made))
        if self.mode.follows(self.steps, calls):
            return self._evidence(trajectory, counted, expected, True)
        paired = count_pairs(self.groups, calls)
        passes = not self.mode.ordered and self.mode.is_met(expected, made, paired)
        return self._evidence(trajectory, counted, paired, passes)

    def _evidence(self, trajectory: Trajectory, counted: Counted, paired: int, passes: bool) -> Evidence:
        """Decided; put into words when somebody reads it."""
        precision, recall = rates(len(self.patterns), len(counted.calls), paired)
        words = partial(self._words, trajectory, counted, paired, passes)
        return Evidence(precision=precision, recall=recall, words=words, fails=not passes)

    def _words(self, trajectory: Trajectory, counted: Counted, paired: int, passes: bool) -> Words:
        lineup = Lineup(self.patterns, counted, trajectory)
        if passes and self.mode.ordered:
            return (), measure(lineup, self.mode, paired, paired, passes=True)
        try:
            found = candidates(self.patterns, counted.calls)
            in_order = longest_in_order(found, len(counted.calls))
            findings = () if passes else explain(lineup, self.mode, found, unordered=self.unordered)
        except CannotJudge as error:
            # Decided within the limits, but too large to be explained within them.
            in_order, findings = 0, () if passes else (Finding(code="limit", message=error.reason),)
        return findings, measure(lineup, self.mode, paired, in_order, passes=passes)

    def _counted(self, trajectory: Trajectory) -> Counted:
        counted = self.setting.counted(trajectory)
        return successful(counted) if self.only_successful else counted

    def _carefully(self, trajectory: Trajectory, counted: Counted) -> Evidence:
        possible = self.mode.possibilities(self.patterns, counted, trajectory.gaps, unordered=self.unordered)
        if possible.can_pass and possible.can_fail:
            raise self._cause(trajectory, counted)
        return self._evidence(trajectory, counted, self._paired(counted, possible.can_pass), possible.can_pass)

    def _paired(self, counted: Counted, passes: bool) -> int:
        """How many pairs there are: on a pass that is known without looking for them."""
        if passes:
            return min(len(self.patterns), len(counted.calls))
        return count_pairs(self.groups, counted.calls)

    def _cause(self, trajectory: Trajectory, counted: Counted) -> CannotJudge:
        settled = self.mode.possibilities(self.patterns, counted, (), unordered=self.unordered)
        if trajectory.gaps and not (settled.can_pass and settled.can_fail):
            return doubt.gap(trajectory)
        if undecided := doubt.result(self.patterns, counted):
            return undecided
        unknown = counted.unknown
        return doubt.arguments(counted, unknown[0]) if unknown else doubt.success(counted, min(counted.unsure))

    def align(self, trajectory: Trajectory) -> tuple[Row, ...]:
        """Expected beside made, for showing."""
        lineup = Lineup(self.patterns, self._counted(trajectory), trajectory)
        return align(lineup, self.mode, unordered=self.unordered)
