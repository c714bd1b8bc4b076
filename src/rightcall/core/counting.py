"""Which calls take part (G13): by kind, requestor and agent. Bans see every call."""

from __future__ import annotations

from typing import Literal

import msgspec

from rightcall.core.calls import CallKind, ToolCall

COUNTED_KINDS: tuple[CallKind, ...] = ("client", "server", "mcp", "handoff", "agent", "custom")


class Count(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which calls count toward a verdict.

    By default every kind but `output`, asked for by the assistant, of every agent, nested ones included.
    `agents` narrows to the calls of the agents named.
    """

    kinds: tuple[CallKind, ...] = COUNTED_KINDS
    requestor: Literal["assistant", "user", "any"] = "assistant"
    agents: tuple[str, ...] | None = None
