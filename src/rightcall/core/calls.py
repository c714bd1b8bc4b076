"""The call record: what every reader writes and every assertion reads."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

ArgumentsState = Literal["ok", "malformed", "redacted", "not_captured", "truncated"]
CallStatus = Literal["requested", "ok", "error", "refused", "pending"]
CallKind = Literal["client", "server", "mcp", "handoff", "agent", "output", "custom"]
Requestor = Literal["assistant", "user"]

UNKNOWN_STATES: Final = frozenset({"redacted", "not_captured", "truncated"})
"""States in which a call had arguments that the trace does not show (G11)."""

FAILED_STATUSES: Final = frozenset({"error", "refused"})
UNSETTLED_STATUSES: Final = frozenset({"requested", "pending"})
"""Statuses that do not say whether the call succeeded (G13)."""


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One tool call, as the model asked for it.

    `arguments` is decoded JSON, normally an object, `{}` for a call without arguments and `None`
    whenever `arguments_state` is not `ok`; `arguments_text` then keeps the source text if there was one.
    `turn` counts user turns and `message` model messages, both from 0; calls of one message are parallel.
    `parent` is the index, in the trajectory, of the call that this one was made inside.
    `server` names the MCP server of a call of kind `mcp`, where the trace names it.
    `started_at` and `ended_at` are RFC 3339 with up to nine decimals. `id` is the provider's and may repeat.
    """

    name: str
    arguments: Any = msgspec.field(default_factory=dict)
    arguments_state: ArgumentsState = "ok"
    arguments_text: str | None = None
    id: str | None = None
    status: CallStatus = "requested"
    result: Any = None
    error: str | None = None
    kind: CallKind = "client"
    server: str | None = None
    agent: str | None = None
    agent_path: tuple[str, ...] = ()
    parent: int | None = None
    requestor: Requestor = "assistant"
    turn: int | None = None
    message: int | None = None
    started_at: str | None = None
    ended_at: str | None = None
    sources: tuple[str, ...] = ()

    @property
    def lacks_results(self) -> bool:
        """Whether results that it could have used are not known, where anything asks for them."""
        return False


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool that the agent could have called. `parameters` is its JSON Schema."""

    name: str
    description: str | None = None
    parameters: Any = None


class Ingestion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was read to make one trajectory, as far as its reader counts it, and what of it gave no call.

    `messages` are those of a conversation. `spans` are counted once each, however often they were delivered; of them
    `model_spans` and `tool_spans` are, or look like, one of a model or of a tool, `understood` are the tool spans that
    tell of a call, and `idle` the spans from which no call was taken. `joined` counts sightings of a call after
    its first: its execution, its result, its place in later requests.

    `unknown_spans` counts those that no convention knows, and `unknown` has their names; `unread` has the names of
    those among all spans that look like a tool's and told of no call; `labels` has the names of calls that only
    the label of a span gives. Each name stands once, and of many only the first `MOST_NAMES`.

    `content_off` says that the spans hold no message, no arguments and no result at all.
    """

    messages: int = 0
    spans: int = 0
    model_spans: int = 0
    tool_spans: int = 0
    understood: int = 0
    idle: int = 0
    joined: int = 0
    unknown_spans: int = 0
    unknown: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    content_off: bool = False


MOST_NAMES: Final = 20
"""Names of one sort that are kept of what was read."""


class Trajectory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The ordered tool calls of one conversation, with what is known around them.

    `tool_calls` is `None` when none were recorded, which is not the same as the empty tuple: none were made.
    `gaps` says in words where calls may be missing. `failure` is what the agent itself reported or raised as its
    failure, after the calls that are there; `trouble` is why the conversation could not be held at all, or not to its
    end, which is not the agent's doing (G38). `expectations` holds expectation keys found beside the
    calls in the same record, undecoded. `ingestion` says what was read, where the reader counts it.
    """

    id: str = ""
    test_id: str | None = None
    conversation_id: str | None = None
    trace_ids: tuple[str, ...] = ()
    tool_calls: tuple[ToolCall, ...] | None = None
    gaps: tuple[str, ...] = ()
    available_tools: tuple[ToolSpec, ...] = ()
    messages: list[Any] | None = None
    output: Any = None
    failure: str | None = None
    trouble: str | None = None
    warnings: tuple[str, ...] = ()
    metadata: dict[str, Any] = {}
    ingestion: Ingestion | None = None
    expectations: dict[str, Any] = {}


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """What a trajectory tells of the conversation: its calls, its messages as they were read, and what may be missing.

    `calls` and `messages` are `None` where none were recorded.
    """

    calls: tuple[ToolCall, ...] | None = None
    messages: list[Any] | None = None
    gaps: tuple[str, ...] = ()
