"""Assertions of a part of a conversation: one turn, one agent, or the agents whose calls count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.counting import Scope, narrowed
from rightcall.core.judging import CannotJudge, NothingToJudge
from rightcall.core.scoping import last_turn
from rightcall.core.values import visible
from rightcall.core.verdicts import Evidence
from rightcall.errors import did_you_mean

if TYPE_CHECKING:
    from rightcall.core.assertion import Assertion, Setting


class ScopedCheck:
    """A check of one part of a conversation, or of some agents. Calls are numbered as they are in the whole of it.

    Calls of which it is not recorded whether they belong there may do: they are an error where they matter (G11).
    """

    def __init__(self, assertion: Assertion, scope: Scope, setting: Setting) -> None:
        self.scope = scope
        self.certain, self.possible = (
            assertion.compile(
                msgspec.structs.replace(
                    setting,
                    count=narrowed(setting.count, scope, unknown=unknown),
                    every_call=narrowed(setting.every_call, scope, unknown=unknown),
                )
            )
            for unknown in (False, True)
        )
        self.name = f"{self.certain.name}{scope.suffix}"
        self.is_ban = bool(getattr(self.certain, "is_ban", False))
        self.ask = getattr(self.certain, "ask", None)
        self.count = setting.every_call if getattr(self.certain, "sees_every_call", False) else setting.count
        if hasattr(self.certain, "align"):
            self.align = self.certain.align

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """The evidence of the calls of this part; none if no agent was there that it speaks of."""
        self._refuse_turn(trajectory)
        held = [self._holds(call) for call in trajectory.tool_calls or ()]
        evidence = self._doubtful(trajectory) if None in held else self.certain(trajectory)
        if self._agents(trajectory) and True not in held and not is_against(evidence):
            raise self._nothing(trajectory)
        return evidence

    def _agents(self, trajectory: Trajectory) -> tuple[str, ...]:
        """The agents that must have been there for anything to be judged. Where nobody did anything, none counted."""
        if self.scope.agent is not None:
            return (self.scope.agent,)
        return (self.count.agents or ()) if trajectory.tool_calls else ()

    def _nothing(self, trajectory: Trajectory) -> NothingToJudge:
        seen = list(dict.fromkeys(call.agent for call in trajectory.tool_calls or () if call.agent))
        near = {name: "" if name in seen else did_you_mean(name, seen) for name in self._agents(trajectory)}
        agents = [f"`{visible(name)}`{visible(meant)}" for name, meant in near.items()]
        named = f"agent {agents[0]}" if len(agents) == 1 else f"agents {', '.join(agents)}"
        return NothingToJudge("no_agent", f"There is no call of the {named} to judge.")

    def _holds(self, call: ToolCall) -> bool | None:
        """Whether the call is one of this part that counts; `None` where its turn or agent is not recorded."""
        told = (self.count.counts(call), self.scope.holds(call))
        return False if False in told else None if None in told else True

    def _refuse_turn(self, trajectory: Trajectory) -> None:
        last = last_turn(trajectory)
        if self.scope.turn is not None and self.scope.turn > last:
            seen = f"turn {last} is the last one recorded" if last else "no turns are recorded"
            raise CannotJudge("turn_not_recorded", f"It is not known that there was a turn {self.scope.turn}: {seen}.")

    def _doubtful(self, trajectory: Trajectory) -> Evidence:
        """Calls that may belong here matter where calls that are missing from the trace would (G12)."""
        if getattr(self.certain, "only_forbids", False):
            evidence = self.certain(trajectory)
            if is_against(evidence) or not is_against(self.possible(trajectory)):
                return evidence
            raise self._unknown(trajectory)
        try:
            return self.certain(msgspec.structs.replace(trajectory, gaps=(*trajectory.gaps, "of unknown scope")))
        except CannotJudge as error:
            if error.code == "gap" and not trajectory.gaps:
                raise self._unknown(trajectory) from None
            raise

    def _unknown(self, trajectory: Trajectory) -> CannotJudge:
        calls = trajectory.tool_calls or ()
        number = next(number for number, call in enumerate(calls, 1) if self._holds(call) is None)
        what = "turn" if self.scope.turn is not None and calls[number - 1].turn is None else "agent"
        reason = f"The {what} of call {number} is not recorded; the verdict depends on it."
        return CannotJudge("scope_unknown", reason)


def is_against(evidence: Evidence) -> bool:
    """Whether the evidence speaks against the trajectory."""
    return evidence.fails or bool(evidence.findings)
