"""OpenTelemetry's GenAI conventions, in every version, and what frameworks built on them write besides.

Structured messages (1.37 and later), events on the span or in log records (until 1.36, and Strands), events in an
attribute (Pydantic AI, Logfire), numbered attributes (OpenLLMetry), and whole JSON (the oldest).
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET

from rightcall.core.calls import CallStatus, ToolSpec
from rightcall.traces import toolspecs
from rightcall.traces.conventions import events, foreign, parts
from rightcall.traces.conventions.carriers import bare, carried, outcome
from rightcall.traces.conventions.model import Around, Asked, Message, Part, asked
from rightcall.traces.conversation import structured
from rightcall.traces.merging import Execution
from rightcall.traces.spans import Span, child, decoded, items, text

_MODEL: Final = frozenset({"chat", "generate_content", "text_completion"})
_AGENT: Final = "invoke_agent"
_SETTING_UP: Final = frozenset({"create_agent"})
_PHANTOMS: Final = frozenset({"(merged tools)", "(merged)"})
_ARGUMENTS: Final = ("gen_ai.tool.call.arguments", "tool_arguments", "gcp.vertex.agent.tool_call_args", "input")
_RESULTS: Final = ("gen_ai.tool.call.result", "tool_response", "gcp.vertex.agent.tool_response", "output")
_OLD: Final = ("gen_ai.prompt", "gen_ai.completion", "llm.request.type")
_SUMMARIES: Final = ("pydantic_ai.all_messages", "gen_ai.output.messages")


def read(span: Span) -> Part | None:
    """What the span is, if anything on it is of these conventions."""
    operation = text(span.attributes, "gen_ai.operation.name") or ""
    if operation == "execute_tool" or _is_tool(span, operation):
        return execution(span)
    if operation in _MODEL or _is_model(span, operation):
        return model(span)
    is_around = operation not in _SETTING_UP if operation else _is_agent(span)
    return _around(span, operation) if is_around else None


def _is_tool(span: Span, operation: str) -> bool:
    called = text(span.attributes, "mcp.method.name") == "tools/call"
    return called or (not operation and text(span.attributes, "gen_ai.tool.name") is not None)


def _is_model(span: Span, operation: str) -> bool:
    """Whether a span without an operation is one of a model: old versions did not name it."""
    if operation or text(span.attributes, "event_loop.cycle_id") or _is_agent(span):
        return False
    if any(child(span.attributes, key) is not UNSET for key in _OLD) or events.answered(span):
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
        history, output, _ = events.conversation(span)
        summary = (*history, *output)
    return Around(agent=(name or span.name) if operation in (_AGENT, "") else None, messages=summary)


def model(span: Span) -> Asked:
    """A model span, by the best that it has of what was said."""
    history, output, reasons = _said(span)
    given = decoded(child(span.attributes, "gen_ai.response.finish_reasons"))
    reasons = (
        *reasons,
        *(str(reason) for reason in (given if isinstance(given, list) else [given]) if _is_set(reason)),
    )
    made = asked(history, output, reasons, _tools(span))
    return _with_output_tools(made) if _is_pydantic(span) else made


def _is_set(value: Any) -> bool:
    return value is not UNSET and value is not None


def _said(span: Span) -> tuple[tuple[Message, ...], tuple[Message, ...], tuple[str, ...]]:
    given = child(span.attributes, "gen_ai.input.messages")
    put_out = child(span.attributes, "gen_ai.output.messages")
    if put_out is not UNSET or given is not UNSET:
        history, output = ({} if value is UNSET else value for value in (given, put_out))
        return (
            foreign.messages(history, "user", "not_captured"),
            foreign.messages(output, "assistant", "not_captured"),
            (),
        )
    history, output, reasons = events.conversation(span)
    if history or output:
        return history, output, reasons
    return _numbered(span)


def _numbered(span: Span) -> tuple[tuple[Message, ...], tuple[Message, ...], tuple[str, ...]]:
    """`gen_ai.prompt.0.role` and its like, or all messages as JSON in `gen_ai.prompt` and `gen_ai.completion`."""
    given, put_out = (child(span.attributes, key) for key in ("gen_ai.prompt", "gen_ai.completion"))
    if isinstance(put_out, str) or isinstance(given, str):
        return foreign.messages(given, "user"), foreign.messages(put_out, "assistant"), ()
    completions = [node for node in items(put_out) if isinstance(node, dict)]
    reasons = tuple(reason for node in completions[:1] if (reason := text(node, "finish_reason")))
    return _nodes(given), _nodes(put_out)[:1] if _are_choices(completions) else _nodes(put_out), reasons


def _are_choices(completions: list[dict[str, Any]]) -> bool:
    """Whether the completions are candidates of one request: each of them says why it stopped."""
    return len(completions) > 1 and all(text(node, "finish_reason") for node in completions)


def _nodes(branch: Any) -> tuple[Message, ...]:
    return tuple(_node(node) for node in items(branch) if isinstance(node, dict))


def _node(node: dict[str, Any]) -> Message:
    role = text(node, "role") or ""
    listed = items(child(node, "tool_calls"))
    content = child(node, "content")
    calls = tuple(parts.entry(_dotless(entry), "not_captured") for entry in listed)
    if not listed and isinstance(content, str) and content.lstrip()[:1] == "[" and role == "assistant":
        inner = foreign.messages(content, role)
        calls = tuple(call for message in inner for call in message.calls)
    return Message(
        role="tool" if role == "function" else role,
        content=None if content is UNSET else content,
        calls=calls,
        tool_call_id=text(node, "tool_call_id"),
    )


def _dotless(entry: Any) -> Any:
    """An entry whose function may be written `function.name` rather than nested."""
    if not isinstance(entry, dict):
        return entry
    function = child(entry, "function")
    return {**entry, "function": function} if isinstance(function, dict) else entry


def _tools(span: Span) -> tuple[ToolSpec, ...]:
    listed = decoded(child(span.attributes, "gen_ai.tool.definitions"))
    functions = items(child(span.attributes, "llm.request.functions"))
    flat = [{**node, "parameters": decoded(node.get("parameters"))} for node in functions if isinstance(node, dict)]
    return toolspecs.tools(listed if isinstance(listed, list) else flat)


def _is_pydantic(span: Span) -> bool:
    return span.scope == "pydantic-ai" or "logfire.json_schema" in span.attributes


def _with_output_tools(made: Asked) -> Asked:
    """Pydantic AI gives structured output through a tool of that name, which does nothing."""
    calls = tuple(
        msgspec.structs.replace(call, kind="output")
        if call.name == "final_result" or call.name.startswith("final_result_")
        else call
        for call in made.calls
    )
    return msgspec.structs.replace(made, calls=calls)


def execution(span: Span) -> Part:
    """A span that ran a tool."""
    name = text(span.attributes, "gen_ai.tool.name") or bare(span.name)
    if name in _PHANTOMS:
        return Around()
    given, result = events.executed(span)
    result = outcome(_found(span, _RESULTS, result))
    status = text(span.attributes, "tool.status") or text(span.attributes, "gen_ai.tool.status")
    failed = span.failed or status == "error" or result.failed or text(span.attributes, "error.type") is not None
    ended: CallStatus = "error" if failed else "ok"
    return Execution(
        name=name,
        arguments=carried(_found(span, _ARGUMENTS, given)),
        id=text(span.attributes, "gen_ai.tool.call.id") or result.id,
        result=structured(result.value),
        status=ended,
        error=error(span, result.value) if failed else None,
        kind="mcp" if text(span.attributes, "mcp.method.name") else "client",
    )


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
