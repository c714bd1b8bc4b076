"""One part of a message, in the shape of any provider or framework: a call, a result, or text."""

from __future__ import annotations

from typing import Any, Final

from msgspec import UNSET

from rightcall.core.calls import ArgumentsState, CallKind, ToolCall
from rightcall.traces import shapes, spans
from rightcall.traces.conventions.model import Message

CALLS: Final[dict[str, CallKind]] = {
    "tool_call": "client",
    "tool_use": "client",
    "tool-call": "client",
    "function_call": "client",
    "custom_tool_call": "custom",
    "server_tool_call": "server",
    "server_tool_use": "server",
    "mcp_tool_use": "mcp",
    "mcp_call": "mcp",
}
"""What a part of a message says its type is when it is a call, and the kind of that call."""

_SERVERS: Final = ("server_name", "server_label")
_ANSWERS: Final = frozenset(
    {
        "tool_call_response",
        "server_tool_call_response",
        "tool_result",
        "mcp_tool_result",
        "tool-result",
        "tool-error",
        "function_call_output",
        "custom_tool_call_output",
    }
)
_WRAPPED_CALLS: Final = ("toolUse", "functionCall", "function_call")
_WRAPPED_ANSWERS: Final = ("toolResult", "functionResponse", "function_response")
_NAMES: Final = ("name", "toolName", "tool_name")
_IDS: Final = ("call_id", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id", "id")
_ARGUMENTS: Final = ("arguments", "args", "input")
_RESULTS: Final = ("response", "result", "output", "content", "server_tool_call_response")


def call(part: Any, absent: ArgumentsState = "ok") -> ToolCall | None:
    """The call that a part writes, if it is one. `absent` is what it means that a part has no arguments."""
    if not isinstance(part, dict):
        return None
    for key in _WRAPPED_CALLS:
        if isinstance(part.get(key), dict):
            return entry(part[key])
    kind = CALLS.get(type_of(part))
    if kind is None and _is_bare_call(part):
        kind = "client"
    return None if kind is None else entry(part, absent, kind)


def type_of(node: dict[str, Any]) -> str:
    """What an object says its type is, empty if it does not say so in words."""
    found = node.get("type")
    return found if isinstance(found, str) else ""


def _is_bare_call(part: dict[str, Any]) -> bool:
    """Whether a part without a type is a call of the Vercel AI SDK, or an entry of OpenAI that stands alone.

    A definition of a tool has a function too, but no arguments.
    """
    if "toolCallId" in part and "type" not in part:
        return "toolName" in part and not part.keys() & {"result", "output"}
    return isinstance(part.get("function"), dict) and "arguments" in part["function"]


def entry(listed: Any, absent: ArgumentsState = "ok", kind: CallKind = "client") -> ToolCall:
    """The call of an entry that is known to be one; without a name it is called `""`."""
    if not isinstance(listed, dict):
        return shapes.call(listed)[0]
    inner = next((listed[key] for key in ("function", "custom") if isinstance(listed.get(key), dict)), listed)
    name = _first(inner, _NAMES)
    name = name if isinstance(name, str) else ""
    source = _source(inner)
    free = kind == "custom" or listed.get("type") == "custom"
    read = shapes.free_text(source) if free else spans.arguments(_unmended(source), absent)
    identity = _first(listed, _IDS)
    return ToolCall(
        name=name,
        arguments=read.value,
        arguments_state=read.state,
        arguments_text=read.text,
        id=identity if isinstance(identity, str) and identity else None,
        kind=_kind(name, "custom" if free else kind),
        server=shapes.label(_first(listed, _SERVERS)) if kind == "mcp" else None,
    )


def _unmended(source: Any) -> Any:
    """Arguments without the `{"_raw": text}` that OpenLLMetry puts around text that is no JSON."""
    if isinstance(source, str) and "_raw" not in source:
        return source
    value = spans.decoded(source)
    text = value.get("_raw") if isinstance(value, dict) and len(value) == 1 else None
    return text if isinstance(text, str) and isinstance(spans.decoded(text), str) else source


def _kind(name: str, kind: CallKind) -> CallKind:
    return "handoff" if kind == "client" and name.startswith("transfer_to_") else kind


def _source(inner: dict[str, Any]) -> Any:
    source = _first(inner, _ARGUMENTS, UNSET)
    if source is UNSET and isinstance(inner.get("server_tool_call"), dict):
        return {key: value for key, value in inner["server_tool_call"].items() if key != "type"}
    return source


def _first(node: dict[str, Any], keys: tuple[str, ...], default: Any = None) -> Any:
    return next((node[key] for key in keys if node.get(key) is not None), default)


def answer(part: Any) -> Message | None:
    """The result that a part holds, as a tool message of its own, if it is one."""
    if not isinstance(part, dict):
        return None
    inner = next((part[key] for key in _WRAPPED_ANSWERS if isinstance(part.get(key), dict)), None)
    if inner is None and type_of(part) not in _ANSWERS:
        return None
    inner = part if inner is None else inner
    identity, name = _first(inner, _IDS), _first(inner, _NAMES)
    return Message(
        role="tool",
        content=result(_first(inner, _RESULTS)),
        tool_call_id=identity if isinstance(identity, str) else None,
        name=name if isinstance(name, str) else None,
        failed=failed(inner),
    )


def failed(node: dict[str, Any]) -> bool | None:
    """Whether a result says that its call failed; `None` if it says neither."""
    if node.get("is_error") is True or node.get("isError") is True or node.get("status") == "error":
        return True
    if node.get("type") == "tool-error":
        return True
    return False if node.get("status") == "success" or node.get("is_error") is False else None


def result(value: Any) -> Any:
    """A result without the carriers of providers: one text block is its text, `{type, value}` is its value."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        block = value[0]
        return next((block[key] for key in ("text", "json") if block.get(key) is not None), value)
    if isinstance(value, dict) and value.keys() == {"type", "value"}:
        return value["value"]
    return value


def text(part: Any) -> str | None:
    """The text of a part that holds some."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or part.get("thought") is True:
        return None
    if part.get("type") not in (None, "text", "output_text", "input_text"):
        return None
    found = part.get("text", part.get("content"))
    return found if isinstance(found, str) else None
