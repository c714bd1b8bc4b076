"""OpenTelemetry's GenAI conventions, in every version, and what frameworks built on them write besides.

Structured messages (1.37 and later), events on the span or in log records (until 1.36, and Strands), events in an
attribute (Pydantic AI, Logfire), numbered attributes (OpenLLMetry), and whole JSON (the oldest).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rightcall.core.calls import CallStatus, ToolSpec
from rightcall.traces import toolspecs
from rightcall.traces.conventions import differing, events, foreign, numbered, output_tools
from rightcall.traces.conventions.carriers import bare, carried, outcome
from rightcall.traces.conventions.model import Around, Asked, Part, Said, asked
from rightcall.traces.conversation import structured
from rightcall.traces.merging import Execution
from rightcall.traces.spans import Span, child, decoded, items, text

ROOTS: Final = frozenset({"gen_ai", "mcp", "llm", "pydantic_ai", "agent_name", "all_messages_events", "events"})
"""The first words of the attributes and events that a span of these conventions is known by."""

_MODEL: Final = frozenset({"chat", "generate_content", "text_completion"})
_AGENT: Final = "invoke_agent"
_SETTING_UP: Final = frozenset({"create_agent"})
_PHANTOMS: Final = frozenset({"(merged tools)", "(merged)"})
_ARGUMENTS: Final = ("gen_ai.tool.call.arguments", "tool_arguments", "gcp.vertex.agent.tool_call_args", "input")
_RESULTS: Final = ("gen_ai.tool.call.result", "tool_response", "gcp.vertex.agent.tool_response", "output")
_SAID: Final = (
    "gen_ai.output.messages",
    "gen_ai.input.messages",
    "gen_ai.prompt",
    "gen_ai.completion",
    "llm.request.type",
)
_SUMMARIES: Final = ("pydantic_ai.all_messages", "gen_ai.output.messages")


def read(span: Span) -> Part | None:
    """What the span is, if anything on it is of these conventions."""
    told, span = span, events.detailed(span)
    operation = text(span.attributes, "gen_ai.operation.name") or ""
    if operation == "execute_tool" or _is_tool(span, operation):
        return execution(span)
    if operation in _MODEL or _is_model(span, operation):
        return _with_views(told, model(span))
    is_around = operation not in _SETTING_UP if operation else _is_agent(span)
    return _around(span, operation) if is_around else None


def _is_tool(span: Span, operation: str) -> bool:
    called = text(span.attributes, "mcp.method.name") == "tools/call"
    return called or (not operation and text(span.attributes, "gen_ai.tool.name") is not None)


def _is_model(span: Span, operation: str) -> bool:
    """Whether a span without an operation is one of a model: old versions did not name it."""
    if operation or text(span.attributes, "event_loop.cycle_id") or _is_agent(span):
        return False
    if any(child(span.attributes, key) is not UNSET for key in _SAID) or events.answered(span):
        return True
    return text(span.attributes, "gen_ai.request.model") is not None and "gen_ai.tool.name" not in span.attributes


def _is_agent(span: Span) -> bool:
    known = ("all_messages_events", "pydantic_ai.all_messages", "agent_name")
    return any(text(span.attributes, key) is not None for key in known)


def _around(span: Span, operation: str) -> Around:
    """An agent, a workflow, a step. What it sums up counts only where nothing inside it is recorded."""
    name = text(span.attributes, "gen_ai.agent.name") or text(span.attributes, "agent_name")
    found = [child(span.attributes, key) for key in _SUMMARIES]
    summary = next((foreign.messages(value, "assistant") for value in found if value is not UNSET), ())
    if not summary:
        said = events.conversation(span)
        summary = (*said.history, *said.output)
    return Around(agent=(name or span.name) if operation in (_AGENT, "") else None, messages=summary)


def model(span: Span) -> Asked:
    """A model span, by the best that it has of what was said."""
    given = decoded(child(span.attributes, "gen_ai.response.finish_reasons"))
    listed = given if isinstance(given, list) else [given]
    reasons = tuple(str(reason) for reason in listed if reason is not UNSET and reason is not None)
    said = _said(span, len(reasons) or None)
    said = msgspec.structs.replace(said, reasons=(*said.reasons, *reasons), gaps=(*said.gaps, *_silence(span)))
    return output_tools.told(span, asked(said, _tools(span)))


def _with_views(span: Span, read: Asked) -> Asked:
    """A model span, with a gap where its events tell of calls that its attributes do not show."""
    if not span.events:
        return read
    views = [foreign.choice(value, "not_captured").output for value in events.outputs(span)]
    views.append(events.conversation(span).output)
    shown = ([call for message in view for call in message.calls] for view in views)
    said = msgspec.structs.replace(read.said, gaps=(*read.said.gaps, *differing.gaps(read.calls, shown)))
    return msgspec.structs.replace(read, said=said)


def _silence(span: Span) -> Iterator[str]:
    """A gap where a model put out a message without any part, and does not say why it stopped.

    OpenLLMetry writes one where LangChain has put calls with broken arguments aside.
    """
    for message in items(decoded(child(span.attributes, "gen_ai.output.messages"))):
        if isinstance(message, dict) and message.get("parts") == [] and not message.get("finish_reason"):
            yield "puts out a message without parts or a reason to stop: its calls may be missing"


def _said(span: Span, reasons: int | None) -> Said:
    given = child(span.attributes, "gen_ai.input.messages")
    put_out = child(span.attributes, "gen_ai.output.messages")
    if put_out is not UNSET or given is not UNSET:
        history = foreign.messages(given, "user", "not_captured")
        return msgspec.structs.replace(foreign.choice(put_out, "not_captured", reasons), history=history)
    said = events.conversation(span)
    return said if said.history or said.output else numbered.said(span)


def _tools(span: Span) -> tuple[ToolSpec, ...]:
    listed = decoded(child(span.attributes, "gen_ai.tool.definitions"))
    functions = items(child(span.attributes, "llm.request.functions"))
    flat = [{**node, "parameters": decoded(node.get("parameters"))} for node in functions if isinstance(node, dict)]
    return toolspecs.tools(listed if isinstance(listed, list) else flat)


def execution(span: Span) -> Part:
    """A span that ran a tool."""
    name = text(span.attributes, "gen_ai.tool.name") or bare(span.name)
    if name in _PHANTOMS:
        return Around(phantom=True)
    given, result = events.executed(span) if span.events else _executed(span)
    result = outcome(_found(span, _RESULTS, result))
    status = text(span.attributes, "tool.status") or text(span.attributes, "gen_ai.tool.status")
    by_mcp = text(span.attributes, "mcp.method.name") is not None
    told = status == "error" or (by_mcp and child(structured(result.value), "isError") is True)
    failed = span.failed or told or result.failed or text(span.attributes, "error.type") is not None
    ended: CallStatus = "error" if failed else "ok"
    return Execution(
        name=name,
        arguments=carried(_found(span, _ARGUMENTS, given)),
        id=text(span.attributes, "gen_ai.tool.call.id") or result.id,
        result=structured(result.value),
        status=ended,
        error=error(span, result.value) if failed else None,
        kind="mcp" if by_mcp else "client",
        server=_server(span) if by_mcp else None,
    )


def _server(span: Span) -> str | None:
    """The MCP server that a span called: its name, else where it is."""
    return text(span.attributes, "mcp.server.name") or text(span.attributes, "server.address")


def _executed(span: Span) -> tuple[Any, Any]:
    """The arguments and the result of a tool span that has them as messages."""
    asked_for = foreign.messages(child(span.attributes, "gen_ai.input.messages"), "user")
    answers = foreign.messages(child(span.attributes, "gen_ai.output.messages"), "tool")
    given = next((call.arguments for message in asked_for for call in message.calls), UNSET)
    return given, next((answer.content for answer in answers), UNSET)


def _found(span: Span, keys: tuple[str, ...], event: Any) -> Any:
    """The first of the attributes that is there, else what the events of the span say."""
    found = next((value for key in keys if (value := child(span.attributes, key)) is not UNSET), UNSET)
    return event if found is UNSET else found


def error(span: Span, result: Any) -> str | None:
    """What a failed span says of its failure."""
    for event in span.events:
        if event.name == "exception" and (message := text(event.attributes, "exception.message")):
            return message
    if span.message:
        return span.message
    return result if isinstance(result, str) else text(span.attributes, "error.type")
