"""Which calls take part (G13): by kind, requestor, agent and success. Bans see every call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final, Literal, get_args

import msgspec

from rightcall.core.calls import FAILED_STATUSES, UNKNOWN_STATES, UNSETTLED_STATUSES, CallKind, ToolCall

ALL_KINDS: tuple[CallKind, ...] = get_args(CallKind)
COUNTED_KINDS: tuple[CallKind, ...] = ("client", "server", "mcp", "handoff", "agent", "custom")


class Count(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which calls count toward a verdict.

    By default every kind but `output`, asked for by the assistant, of every agent, nested ones included.
    `agents` narrows to the calls of the agents named.
    """

    kinds: Annotated[tuple[CallKind, ...], msgspec.Meta(min_length=1)] = COUNTED_KINDS
    requestor: Literal["assistant", "user", "any"] = "assistant"
    agents: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)] | None = None

    def counts(self, call: ToolCall) -> bool | None:
        """Whether the call counts; `None` where that depends on its agent, which is not recorded."""
        if call.kind not in self.kinds or self.requestor not in ("any", call.requestor):
            return False
        return True if self.agents is None or call.agent in self.agents else None if call.agent is None else False

    def takes(self, call: ToolCall) -> bool:
        """Whether the call is known to count."""
        return self.counts(call) is True


EVERY_CALL: Final = Count(kinds=ALL_KINDS, requestor="any")
"""What bans look at, whatever is counted (G13)."""


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a conversation that an assertion speaks of: one turn, one agent, or one agent in one turn.

    `turn` counts user turns from 1. `agent` takes the calls of that agent and of the agents that it called.
    """

    turn: int | None = None
    agent: str | None = None

    @property
    def suffix(self) -> str:
        """What the name of a verdict ends with: `@turn:2`, `@agent:billing`."""
        turn = "" if self.turn is None else f"@turn:{self.turn}"
        return turn if self.agent is None else f"{turn}@agent:{self.agent}"

    def holds(self, call: ToolCall) -> bool | None:
        """Whether the call was made there; `None` where its turn or agent is not recorded."""
        told = (self._in_turn(call), self._by_agent(call))
        return False if False in told else None if None in told else True

    def _in_turn(self, call: ToolCall) -> bool | None:
        if self.turn is None:
            return True
        return None if call.turn is None else call.turn + 1 == self.turn

    def _by_agent(self, call: ToolCall) -> bool | None:
        if self.agent is None or self.agent == call.agent or self.agent in call.agent_path:
            return True
        return None if call.agent is None else False


class ScopedCount(Count, frozen=True, kw_only=True):
    """A count that takes calls of one scope only, and those that may belong to it if `unknown` says so."""

    scope: Scope
    unknown: bool

    def takes(self, call: ToolCall) -> bool:
        """Whether the call is known to count, or may."""
        told = (self.counts(call), self.scope.holds(call))
        return False not in told and (self.unknown or None not in told)


def numbered(calls: Sequence[ToolCall], count: Count) -> Iterable[tuple[int, ToolCall]]:
    """The calls that a count takes, each with its index in the trajectory."""
    every = enumerate(calls)
    return every if count is EVERY_CALL else ((index, call) for index, call in every if count.takes(call))


def narrowed(count: Count, scope: Scope, *, unknown: bool) -> ScopedCount:
    """The count, of calls of the scope only; with `unknown`, also of calls that may belong to it."""
    return ScopedCount(kinds=count.kinds, requestor=count.requestor, agents=count.agents, scope=scope, unknown=unknown)


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """The calls that count, under the names that expectations use.

    `indices` are their positions in the trajectory. `unsure` are positions among `calls` of those that may not
    have succeeded where only successful calls count. `failed` are indices of those left out for that.
    """

    calls: Sequence[ToolCall]
    indices: Sequence[int]
    unsure: frozenset[int] = frozenset()
    failed: tuple[int, ...] = ()

    @property
    def unknown(self) -> list[int]:
        """Positions among `calls` of those whose arguments, or results that these may come from, are not known."""
        return [
            at for at, call in enumerate(self.calls) if call.arguments_state in UNKNOWN_STATES or call.lacks_results
        ]


def shows_all(calls: Sequence[ToolCall]) -> bool:
    """Whether every call counts by default and shows its arguments: the common case, told in one pass."""
    for call in calls:
        if call.arguments_state != "ok" or call.kind == "output" or call.requestor != "assistant":
            return False
    return True


def select(calls: Sequence[ToolCall], count: Count, aliases: Mapping[str, str]) -> Counted:
    """The calls that take part in a verdict."""
    indices = [index for index, call in enumerate(calls) if count.takes(call)]
    return Counted(calls=[renamed(calls[index], aliases) for index in indices], indices=indices)


def successful(counted: Counted) -> Counted:
    """Those of the calls that succeeded, or may have."""
    made = list(zip(counted.indices, counted.calls, strict=True))
    kept = [(index, call) for index, call in made if call.status not in FAILED_STATUSES]
    return Counted(
        calls=[call for _, call in kept],
        indices=[index for index, _ in kept],
        unsure=frozenset(at for at, (_, call) in enumerate(kept) if call.status in UNSETTLED_STATUSES),
        failed=tuple(index for index, call in made if call.status in FAILED_STATUSES),
    )


def renamed(call: ToolCall, aliases: Mapping[str, str]) -> ToolCall:
    """The call under the name that expectations use for it."""
    name = aliases.get(call.name)
    return call if name is None else msgspec.structs.replace(call, name=name)
