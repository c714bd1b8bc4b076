"""Google ADK: its own model spans, with the request and the response of Gemini; the rest follows GenAI."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from rightcall.traces import toolspecs
from rightcall.traces.conventions import foreign, genai
from rightcall.traces.conventions.model import Part, asked
from rightcall.traces.spans import Span, child, decoded, items, text


def read(span: Span) -> Part | None:
    """What the span is, if it has a response or the arguments of a tool in attributes of ADK's own."""
    if text(span.attributes, "gen_ai.tool.name") is not None:
        return None
    if child(span.attributes, "gcp.vertex.agent.tool_call_args") is not UNSET and "llm" not in span.name:
        return genai.execution(span)
    request, response = (_object(span, f"gcp.vertex.agent.llm_{name}") for name in ("request", "response"))
    if not response:
        return None
    said = msgspec.structs.replace(
        foreign.choice(response), history=foreign.messages(child(request, "contents"), "user")
    )
    return asked(said, toolspecs.tools(items(child(request, "config.tools"))))


def _object(span: Span, key: str) -> Any:
    """A request or a response; text that is no JSON was cut off."""
    found = decoded(child(span.attributes, key))
    return found if isinstance(found, dict | str) else {}
