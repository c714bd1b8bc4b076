"""What a TOOL span of OpenInference says of the call that it ran."""

from __future__ import annotations

from typing import Any, Final

from msgspec import UNSET

from rightcall.core.calls import CallStatus
from rightcall.traces import shapes
from rightcall.traces.conventions.carriers import carried, outcome
from rightcall.traces.conversation import structured
from rightcall.traces.merging import Execution
from rightcall.traces.spans import Span, child, decoded, text

_PHANTOMS: Final = frozenset({"(merged tools)"})
_SCHEMA_KEYS: Final = frozenset({"type", "properties", "$schema", "anyOf", "description", "title"})


def execution(span: Span) -> Execution | None:
    """The execution that a TOOL span shows; `None` for spans that only look like one."""
    name = text(span.attributes, "tool.name")
    if name in _PHANTOMS or (name is None and span.name.startswith("handoff")):
        return None
    came = outcome(child(span.attributes, "output.value"))
    result = structured(came.value)
    status: CallStatus = "error" if span.failed or came.failed else "ok"
    return Execution(
        name=name or span.name,
        arguments=_arguments(span),
        id=_id(span) or came.id,
        result=result,
        status=status,
        error=_error(span, result) if status == "error" else None,
        kind="output" if span.name == "FinalAnswerTool" else "client",
    )


def _id(span: Span) -> str | None:
    keys = ("tool.id", "tool_call.id", "gen_ai.tool.call.id")
    return next((found for key in keys if (found := text(span.attributes, key))), None)


def _error(span: Span, result: Any) -> str | None:
    for event in span.events:
        if event.name == "exception" and (message := text(event.attributes, "exception.message")):
            return message
    return span.message or (result if isinstance(result, str) else None)


def _arguments(span: Span) -> shapes.Arguments:
    source = child(span.attributes, "input.value")
    if source is UNSET or source is None:
        return _from_parameters(child(span.attributes, "tool.parameters"))
    return carried(source)


def _from_parameters(source: Any) -> shapes.Arguments:
    """`tool.parameters` holds the arguments with some instrumentations, the schema of the tool with others."""
    value = decoded(source)
    if not isinstance(value, dict) or _is_schema(value):
        return shapes.Arguments(None, "not_captured")
    return shapes.Arguments(value)


def _is_schema(value: dict[str, Any]) -> bool:
    if "$schema" in value or any(key == "properties" or key.startswith("properties.") for key in value):
        return True
    return bool(value) and all(isinstance(part, dict) and part.keys() & _SCHEMA_KEYS for part in value.values())
