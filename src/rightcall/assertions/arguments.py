"""A named tool was called with arguments that match (G23)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from rightcall.core import doubt
from rightcall.core.aligning import row_of
from rightcall.core.assertion import Assertion, Check, Setting
from rightcall.core.calls import UNKNOWN_STATES, ToolCall, Trajectory
from rightcall.core.counting import Counted, numbered, select
from rightcall.core.explaining import Effort, closest
from rightcall.core.patterns import Match, Pattern, ask_results, compile_match
from rightcall.core.rows import Row
from rightcall.core.values import visible
from rightcall.core.verdicts import Evidence, Finding
from rightcall.core.wording import mismatch, times


class ToolCallArgs(Assertion, frozen=True, kw_only=True, tag="arguments"):
    """A call of `tool` has arguments that match. Verdict `tool_call_args:<tool>` or `…#<call_index>`.

    `match` is `{mode: exact | subset | partial | deep, args}`, `{mode: regex, pattern, flags}` or
    `{mode: ignore}`. Any call of the tool will do, or with `call_index` (from 1) the Nth one. `negate` turns it
    round: it passes when no such call exists, and like every ban it sees all calls, whatever `count` says.
    """

    tool: str
    match: Match
    call_index: Annotated[int, msgspec.Meta(ge=1)] | None = None
    negate: bool = False

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories; `TestSetError` if the match cannot be compiled."""
        return ArgumentsCheck(self, compile_match(self.tool, self.match, setting), setting)


class ArgumentsCheck:
    """A compiled arguments assertion."""

    def __init__(self, assertion: ToolCallArgs, pattern: Pattern, setting: Setting) -> None:
        self.pattern = pattern
        self.uses_results = ask_results([pattern])
        self.call_index = assertion.call_index
        self.negate = self.is_ban = self.sees_every_call = assertion.negate
        self.only_forbids = assertion.negate and assertion.call_index is None
        self.count = setting.every_call if assertion.negate else setting.count
        self.aliases = setting.tool_aliases
        suffix = f"#{self.call_index}" if self.call_index else ""
        self.name = f"tool_call_args:{assertion.tool}{suffix}"

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """Look for a matching call among those that could be meant."""
        counted, positions, meant = self._meant(trajectory)
        matching = [at for at in meant if self.pattern.accepts(counted.calls[at])]
        self._refuse_doubt(trajectory, counted, meant, bool(matching))
        if self.negate:
            return Evidence(tuple(self._forbidden(counted, at) for at in matching))
        return Evidence(() if matching else (self._missing(counted, positions, meant),))

    def align(self, trajectory: Trajectory) -> tuple[Row, ...]:
        """What was expected beside the closest call of the tool, or the calls that are forbidden, for showing."""
        counted, _, meant = self._meant(trajectory)
        if self.negate:
            banned = [at for at in meant if self.pattern.accepts(counted.calls[at])]
            return tuple(row_of("unexpected", None, counted.calls[at], number=counted.indices[at]) for at in banned)
        if not meant:
            return ()
        at = closest(self.pattern, counted.calls, meant, Effort())
        return (row_of("differs", self.pattern, counted.calls[at], number=counted.indices[at]),)

    def _meant(self, trajectory: Trajectory) -> tuple[Counted, Sequence[int], Sequence[int]]:
        """The calls that count, the positions of those of the tool, and of those that could be meant."""
        counted = select(trajectory.tool_calls or (), self.count, {})
        positions = [at for at, call in enumerate(counted.calls) if self._is_meant(call)]
        index = self.call_index
        return counted, positions, positions if index is None else positions[index - 1 : index]

    def _is_meant(self, call: ToolCall) -> bool:
        """By the name that expectations use; a ban knows a tool by the recorded one too."""
        name = self.aliases.get(call.name, call.name)
        return name == self.pattern.name or (self.negate and call.name == self.pattern.name)

    def _refuse_doubt(self, trajectory: Trajectory, counted: Counted, meant: Sequence[int], has_match: bool) -> None:
        """`CannotJudge` where a gap or unknown arguments could overturn the verdict.

        A match that was seen stays one, unless calls in a gap could shift which call is the Nth.
        """
        if self.call_index is not None and trajectory.gaps:
            raise doubt.gap(trajectory)
        if has_match:
            return
        states = {*UNKNOWN_STATES, "malformed"} if self.negate else UNKNOWN_STATES
        for at in meant:
            if counted.calls[at].arguments_state in states:
                raise doubt.arguments(counted, at)
            if undecided := self.pattern.doubt(counted.calls[at]):
                raise undecided
        if self.negate and (unnamed := doubt.nameless(numbered(trajectory.tool_calls or (), self.count))):
            raise unnamed
        if trajectory.gaps:
            raise doubt.gap(trajectory)

    def _forbidden(self, counted: Counted, at: int) -> Finding:
        number = counted.indices[at] + 1
        message = f"call {number} to `{visible(self.pattern.name)}` has the arguments that no call may have."
        return Finding(code="forbidden", message=message, made_index=counted.indices[at])

    def _missing(self, counted: Counted, positions: Sequence[int], meant: Sequence[int]) -> Finding:
        tool = visible(self.pattern.name)
        if not positions:
            return Finding(code="missing", message=f"no call to `{tool}`: it was never called.")
        if not meant:
            message = f"no call {self.call_index} to `{tool}`: it was called {times(len(positions))}."
            return Finding(code="too_few", message=message)
        return self._differing(counted, meant)

    def _differing(self, counted: Counted, meant: Sequence[int]) -> Finding:
        tool = visible(self.pattern.name)
        at = closest(self.pattern, counted.calls, meant, Effort())
        number = counted.indices[at] + 1
        difference = mismatch(self.pattern, counted.calls[at])
        subject = f"no call to `{tool}`" if self.call_index is None else f"call {self.call_index} to `{tool}`"
        verb = "matched" if self.call_index is None else "did not match"
        return Finding(
            code="arguments_differ",
            message=f"{subject} {verb} the expected arguments. "
            f"Expected {tool} {difference.wanted}; call {number} {difference.found}.",
            made_index=counted.indices[at],
            path=difference.first.path,
            expected=difference.first.expected,
            actual=difference.first.actual,
        )
