"""Logfire's own instrumentations of OpenAI and of its Agents SDK, whose span names are templates."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from rightcall.core.calls import CallStatus
from rightcall.traces import toolspecs
from rightcall.traces.conventions import events, foreign, genai
from rightcall.traces.conventions.carriers import carried, outcome
from rightcall.traces.conventions.model import Around, Asked, Part, asked
from rightcall.traces.conversation import structured
from rightcall.traces.merging import Execution
from rightcall.traces.spans import Span, child, decoded, text


def read(span: Span) -> Part | None:
    """What the span is, if its message template is one of these instrumentations."""
    template = text(span.attributes, "logfire.msg_template")
    if template is None or text(span.attributes, "gen_ai.tool.name") is not None:
        return None
    if template.startswith("Function: "):
        return _execution(span)
    if any(child(span.attributes, key) is not UNSET for key in ("response", "response_data")):
        return _asked(span)
    if template.startswith("Agent run: "):
        return Around(agent=text(span.attributes, "name"))
    return Around() if text(span.attributes, "agent_trace_id") or template.startswith("Handoff: ") else None


def _asked(span: Span) -> Asked:
    """A model span: `response` is that of the Responses API, `response_data` holds the message of a chat."""
    request = decoded(child(span.attributes, "request_data"))
    given = request.get("messages", request.get("input")) if isinstance(request, dict) else UNSET
    given = child(span.attributes, "raw_input") if given is UNSET else given
    history = foreign.messages(given, "user") if given is not UNSET else events.conversation(span).history
    response: Any = decoded(child(span.attributes, "response"))
    response = decoded(child(span.attributes, "response_data")) if response is UNSET else response
    offers = next((place["tools"] for place in (response, request) if _offers(place)), ())
    said = msgspec.structs.replace(foreign.output(response), history=history)
    return asked(said, toolspecs.tools(offers))


def _offers(place: Any) -> bool:
    return isinstance(place, dict) and isinstance(place.get("tools"), list)


def _execution(span: Span) -> Execution:
    came = outcome(child(span.attributes, "output"))
    failed = span.failed or text(span.attributes, "error") is not None
    status: CallStatus = "error" if failed else "ok"
    about = decoded(child(span.attributes, "mcp_data"))
    return Execution(
        name=text(span.attributes, "name") or span.name,
        arguments=carried(child(span.attributes, "input")),
        result=structured(came.value),
        status=status,
        error=genai.error(span, came.value) if failed else None,
        kind="client" if about in (UNSET, None) else "mcp",
        server=text(about, "server"),
    )
