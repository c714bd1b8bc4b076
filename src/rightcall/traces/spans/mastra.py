"""Mastra's own traces: spans as its storage and its exporters write them, by the names of GenAI."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rightcall.traces.spans.attributes import decoded
from rightcall.traces.spans.model import Span
from rightcall.traces.spans.otlp import object_, objects
from rightcall.traces.spans.values import identifier, nanoseconds

_TOOLS: Final = frozenset({"tool_call", "mcp_tool_call", "client_tool_call", "provider_tool_call"})
_GENERATIONS: Final = frozenset({"model_generation", "llm_generation"})
_TYPES: Final = _TOOLS | _GENERATIONS | {"agent_run", "model_step", "model_chunk", "model_inference", "generic"}
_WORKFLOW: Final = ("workflow_", "processor_", "scorer_", "memory_", "rag_")


def is_trace(value: dict[str, Any]) -> bool:
    """Whether a value is a span of Mastra, or a trace that holds some."""
    spans = value.get("spans")
    if isinstance(spans, list) and "traceId" in value:
        return bool(spans) and all(isinstance(span, dict) and _is_span(span) for span in spans)
    return _is_span(value)


def _is_span(value: dict[str, Any]) -> bool:
    kind = _type(value)
    is_known = kind in _TYPES or kind.startswith(_WORKFLOW)
    return is_known and "traceId" in value and bool(value.keys() & {"startedAt", "startTime"})


def _type(value: dict[str, Any]) -> str:
    kind = value.get("spanType", value.get("type"))
    return kind if isinstance(kind, str) else ""


def spans(value: dict[str, Any]) -> Iterator[Span]:
    """The spans of a trace, or the one that the value is."""
    listed = value.get("spans")
    for item in objects(listed) if isinstance(listed, list) else [value]:
        yield _span(item)


def _span(value: dict[str, Any]) -> Span:
    about, error = object_(decoded(value.get("attributes"))), value.get("error") or value.get("errorInfo")
    message = error.get("message") if isinstance(error, dict) else error
    known = {
        "gen_ai.conversation.id": value.get("threadId") or about.get("conversationId"),
        "metadata": object_(decoded(value.get("metadata"))) or None,
        **_told(value, about),
    }
    return Span(
        trace_id=identifier(value.get("traceId")),
        span_id=identifier(value.get("spanId") or value.get("id")),
        parent_id=identifier(value.get("parentSpanId")),
        name=str(value.get("name") or ""),
        start=nanoseconds(value.get("startedAt") or value.get("startTime")),
        end=nanoseconds(value.get("endedAt") or value.get("endTime")),
        attributes={key: found for key, found in known.items() if found is not None},
        failed=bool(error) or about.get("success") is False,
        message=message if isinstance(message, str) else "",
        scope="mastra",
    )


def _told(value: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    """What the span is, as attributes. A tool's name is that of the entity, never the label of the span."""
    kind, name = _type(value), value.get("entityId") or value.get("entityName")
    given, result = decoded(value.get("input")), decoded(value.get("output"))
    if kind in _TOOLS:
        by_mcp = kind == "mcp_tool_call"
        return {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name or about.get("toolId") or _unlabelled(str(value.get("name") or "")),
            "gen_ai.tool.call.id": about.get("toolCallId"),
            "gen_ai.tool.call.arguments": given,
            "gen_ai.tool.call.result": result,
            "mcp.method.name": "tools/call" if by_mcp else None,
            "mcp.server.name": about.get("mcpServer") if by_mcp else None,
        }
    if kind in _GENERATIONS:
        return {**_said(given, object_(result) | {"toolCalls": None}), "gen_ai.tool.definitions": about.get("tools")}
    if kind == "model_step":
        reason = about.get("finishReason")
        return {**_said(None, object_(result)), "gen_ai.response.finish_reasons": [reason] if reason else None}
    if kind == "agent_run":
        return {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    return {"gen_ai.operation.name": kind}


def _unlabelled(label: str) -> str:
    """The name of a tool that only the label of its span tells: `tool: 'save'`."""
    return label.rpartition(": ")[2].strip("'\"")


def _said(given: Any, output: dict[str, Any]) -> dict[str, Any]:
    """A model's turn. A generation holds that of all its steps; their calls stand on the steps alone."""
    entries = [object_(entry.get("payload")) or entry for entry in objects(output.get("toolCalls"))]
    message = {"role": "assistant", "content": output.get("text"), "tool_calls": entries}
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": given.get("messages") if isinstance(given, dict) else given,
        "gen_ai.output.messages": [message] if entries or output.get("text") else None,
    }
