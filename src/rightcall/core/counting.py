"""Which calls take part (G13): by kind, requestor, agent and success. Bans see every call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, get_args

import msgspec

from rightcall.core.calls import UNKNOWN_STATES, UNSETTLED_STATUSES, CallKind, ToolCall

ALL_KINDS: tuple[CallKind, ...] = get_args(CallKind)
COUNTED_KINDS: tuple[CallKind, ...] = ("client", "server", "mcp", "handoff", "agent", "custom")


class Count(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which calls count toward a verdict.

    By default every kind but `output`, asked for by the assistant, of every agent, nested ones included.
    `agents` narrows to the calls of the agents named.
    """

    kinds: tuple[CallKind, ...] = COUNTED_KINDS
    requestor: Literal["assistant", "user", "any"] = "assistant"
    agents: tuple[str, ...] | None = None

    def takes(self, call: ToolCall) -> bool:
        """Whether the call counts."""
        return (
            call.kind in self.kinds
            and self.requestor in ("any", call.requestor)
            and (self.agents is None or call.agent in self.agents)
        )


EVERY_CALL: Final = Count(kinds=ALL_KINDS, requestor="any")
"""What bans look at, whatever is counted (G13)."""


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
        """Positions among `calls` of those whose arguments the trace does not show."""
        return [at for at, call in enumerate(self.calls) if call.arguments_state in UNKNOWN_STATES]


def shows_all(calls: Sequence[ToolCall]) -> bool:
    """Whether every call counts by default and shows its arguments: the common case, told in one pass."""
    for call in calls:
        if call.arguments_state != "ok" or call.kind == "output" or call.requestor != "assistant":
            return False
    return True


def select(calls: Sequence[ToolCall], count: Count, aliases: Mapping[str, str], only_successful: bool) -> Counted:
    """The calls that take part in a verdict."""
    taken = [index for index, call in enumerate(calls) if count.takes(call)]
    failed = [index for index in taken if only_successful and calls[index].status in ("error", "refused")]
    left_out = frozenset(failed)
    indices = [index for index in taken if index not in left_out]
    chosen = [renamed(calls[index], aliases) for index in indices]
    unsure = [at for at, call in enumerate(chosen) if only_successful and call.status in UNSETTLED_STATUSES]
    return Counted(calls=chosen, indices=indices, unsure=frozenset(unsure), failed=tuple(failed))


def renamed(call: ToolCall, aliases: Mapping[str, str]) -> ToolCall:
    """The call under the name that expectations use for it."""
    name = aliases.get(call.name)
    return call if name is None else msgspec.structs.replace(call, name=name)
