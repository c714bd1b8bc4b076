"""One LLM span on its own: what a metric over a single span needs (G29)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from rightcall.core.calls import ToolCall, ToolSpec
from rightcall.errors import TraceError, Where
from rightcall.traces import objects, shapes
from rightcall.traces.conventions.model import plain
from rightcall.traces.conventions.openinference import messages
from rightcall.traces.spans import child


class LLMSpan(msgspec.Struct, frozen=True, kw_only=True):
    """What one LLM span called, what it could have called, and what it was given.

    `called` are the calls of all output messages, in numeric order; `messages` are the input messages as
    objects with `role`, `content` and, where there are any, `tool_calls`.
    """

    called: tuple[ToolCall, ...]
    available_tools: tuple[ToolSpec, ...]
    messages: tuple[dict[str, Any], ...]


def read_llm_span(span: object) -> LLMSpan:
    """The span, given as `{"attributes": {…}}` or as a bare attribute map, flat or nested.

    `TraceError` if it is no object, is of another kind than LLM (a missing kind is accepted), or has no input
    messages: then there is nothing to judge.
    """
    value = objects.plain(span)
    if not isinstance(value, dict):
        raise TraceError(f"expected a span, an object; found {shapes.kind(value)}")
    inner = value.get("attributes")
    attributes = inner if isinstance(inner, dict) else value
    kind = child(attributes, "openinference.span.kind")
    if kind not in (UNSET, None, "") and str(kind).upper() != "LLM":
        where = Where(path="attributes.openinference.span.kind" if inner is attributes else "openinference.span.kind")
        raise TraceError(f"expected a span of kind LLM; found {kind}", where)
    given = messages.messages(attributes, "input")
    if not given:
        raise TraceError("the span has no input messages: expected `llm.input_messages.0.message.…`")
    output = messages.messages(attributes, "output")
    return LLMSpan(
        called=tuple(call for message in output for call in message.calls),
        available_tools=messages.tools(attributes),
        messages=tuple(plain(message) for message in given),
    )
