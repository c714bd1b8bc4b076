"""Steps that are one call each, in order, other calls between them (G24)."""

from __future__ import annotations

from rightcall.core import doubt
from rightcall.core.aligning import align, align_after
from rightcall.core.assertion import Setting
from rightcall.core.calls import Trajectory
from rightcall.core.counting import Counted
from rightcall.core.explaining import Effort, Lineup, closest
from rightcall.core.lining import MODES, is_subsequence_by_message, taken_by_message
from rightcall.core.pairing import accepts, is_subsequence, may_accept
from rightcall.core.patterns import Pattern, ask_results
from rightcall.core.rows import Row
from rightcall.core.values import visible
from rightcall.core.verdicts import Evidence, Finding
from rightcall.core.wording import mismatch


class SequenceCheck:
    """A compiled sequence assertion."""

    name = "tool_sequence"

    def __init__(self, patterns: list[Pattern], setting: Setting) -> None:
        self.patterns = patterns
        self.uses_results = ask_results(patterns)
        self.setting = setting
        self.follows = is_subsequence_by_message if setting.parallel_unordered else is_subsequence

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """Follow the steps through the calls; say how far they were found."""
        counted = self.setting.counted(trajectory)
        if self.follows(self.patterns, counted.calls, accepts):
            return Evidence((), self._details(len(self.patterns)))
        if self.follows(self.patterns, counted.calls, may_accept):
            raise doubt.mismatched(self.patterns, counted)
        if trajectory.gaps:
            raise doubt.gap(trajectory)
        return self._failure(counted)

    def align(self, trajectory: Trajectory) -> tuple[Row, ...]:
        """The steps beside the calls made, for showing; the steps that were matched keep their calls."""
        counted = self.setting.counted(trajectory)
        lineup = Lineup(self.patterns, counted, trajectory)
        if self.setting.parallel_unordered:
            return align(lineup, MODES["in_order"], unordered=True)
        return align_after(lineup, self._progress(counted))

    def _details(self, matched: int) -> dict[str, int]:
        return {"matched_steps": matched, "steps": len(self.patterns)}

    def _failure(self, counted: Counted) -> Evidence:
        taken = self._progress(counted)
        matched, last = len(taken), max(taken, default=None)
        step = self.patterns[matched]
        wanted = "" if step.matches is None else self._closest_later(counted, step, last)
        never = all(call.name != step.name for call in counted.calls)
        when = "was never called" if never or (last is None and not wanted) else "was not called"
        after = "" if last is None or never else f" after call {counted.indices[last] + 1}"
        progress = f"matched {matched} of {len(self.patterns)} steps"
        message = f"{progress}; step {matched + 1} `{visible(step.name)}` {when}{after}{wanted}."
        return Evidence(
            (Finding(code="step_missing", message=message, expected_index=matched),), self._details(matched)
        )

    def _progress(self, counted: Counted) -> list[int]:
        """The positions of the calls that matched the first steps, one after another."""
        if self.setting.parallel_unordered:
            return taken_by_message(self.patterns, counted.calls)
        taken: list[int] = []
        for at, call in enumerate(counted.calls):
            if len(taken) < len(self.patterns) and accepts(self.patterns[len(taken)], call):
                taken.append(at)
        return taken

    def _closest_later(self, counted: Counted, step: Pattern, last: int | None) -> str:
        """How the nearest call of the step's tool, after the last step, differs: the empty string without one."""
        start = 0 if last is None else last + 1
        later = [at for at in range(start, len(counted.calls)) if counted.calls[at].name == step.name]
        if not later:
            return ""
        at = closest(step, counted.calls, later, Effort())
        difference = mismatch(step, counted.calls[at])
        return f" {difference.wanted}; call {counted.indices[at] + 1} {difference.found}"
