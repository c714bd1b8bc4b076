"""OpenInference spans in few words, as OTLP JSON has them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any


def span(
    kind: str, span_id: str, *, parent: str = "", start: int = 0, trace: str = "t1", failed: bool = False, **more: Any
) -> dict[str, Any]:
    """One span; `more` are attributes, a double underscore standing for a dot."""
    attributes = {"openinference.span.kind": kind, **{key.replace("__", "."): value for key, value in more.items()}}
    return {
        "traceId": trace,
        "spanId": span_id,
        "parentSpanId": parent,
        "name": span_id,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 1),
        "status": {"code": 2 if failed else 1},
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
    }


def model(
    span_id: str,
    calls: Iterable[Mapping[str, Any]] = (),
    history: Iterable[Mapping[str, Any]] = (),
    **more: Any,
) -> dict[str, Any]:
    """An LLM span that was given earlier calls and put out others."""
    given = {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Go on."}
    return span("LLM", span_id, **{**given, **_message("input", 1, history), **_message("output", 0, calls), **more})


def _message(direction: str, index: int, calls: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    prefix = f"llm.{direction}_messages.{index}.message"
    attributes = {f"{prefix}.role": "assistant"}
    for number, call in enumerate(calls):
        start = f"{prefix}.tool_calls.{number}.tool_call"
        attributes[f"{start}.function.name"] = call["name"]
        if "id" in call:
            attributes[f"{start}.id"] = call["id"]
        if "arguments" in call:
            attributes[f"{start}.function.arguments"] = json.dumps(call["arguments"])
    return attributes


def tool(span_id: str, name: str, arguments: Any = None, **more: Any) -> dict[str, Any]:
    """A TOOL span that ran a call."""
    given = {} if arguments is None else arguments
    return span("TOOL", span_id, **{"tool.name": name, "input.value": json.dumps(given), **more})


def request(*spans: dict[str, Any]) -> dict[str, Any]:
    """The spans as one OTLP export request."""
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "app"}, "spans": list(spans)}]}]}
