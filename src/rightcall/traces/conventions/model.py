"""What a convention says of one span: it asked for calls, it ran one, or it only stands around others."""

from __future__ import annotations

from typing import Any

import msgspec

from rightcall.core.calls import ToolCall, ToolSpec
from rightcall.traces.merging import Execution


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A message of a model span. `tool_call_id` and `name` say whose result a tool message holds.

    `failed` is what a tool message says of its call, `None` if it does not say.
    """

    role: str = ""
    content: Any = None
    calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    failed: bool | None = None


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What was said around one model call: what it was given, what it put out, why it stopped.

    `warnings` say what is odd about it, `gaps` what of it cannot be read; both go on after the name of the span.
    """

    history: tuple[Message, ...] = ()
    output: tuple[Message, ...] = ()
    reasons: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A model span: what was said, the calls that it put out, and the tools that it offered.

    `withheld` says that the span shows nothing of its output, not even why the model stopped: then calls may be
    missing. Warnings are told of the span.
    """

    said: Said = Said()
    calls: tuple[ToolCall, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    withheld: bool = False


class Around(msgspec.Struct, frozen=True, kw_only=True):
    """A span around others: an agent, a workflow, a step.

    `messages` summarise what happened inside; they count only where nothing else tells of it. `perhaps` is the
    execution that the span is, if its name turns out to be that of a call that a model asked for. `loose` says that
    the span need not stand under the call that started it. A `phantom` looks like a span of a tool, but is known to be
    that of no call.
    """

    agent: str | None = None
    messages: tuple[Message, ...] = ()
    perhaps: Execution | None = None
    loose: bool = False
    phantom: bool = False


Part = Asked | Execution | Around


def asked(said: Said, tools: tuple[ToolSpec, ...] = ()) -> Asked:
    """A model span whose calls are those of its output messages."""
    return Asked(
        said=said,
        calls=tuple(call for message in said.output for call in message.calls),
        tools=tools,
        withheld=not (said.output or said.reasons or said.gaps),
    )


def plain(message: Message) -> dict[str, Any]:
    """A message as a plain object, without what it does not have."""
    called = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.calls]
    known = {"role": message.role, "content": message.content, "tool_call_id": message.tool_call_id}
    return {key: value for key, value in {**known, "tool_calls": called}.items() if value}
