"""Messages and calls in the attributes of an OpenInference span."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from msgspec import UNSET

from rightcall.core.calls import ToolCall, ToolSpec
from rightcall.traces import hidden, shapes, toolspecs
from rightcall.traces.conventions.model import Message
from rightcall.traces.spans import Span, arguments, child, decoded, is_masked, items, text


def kind(attributes: dict[str, Any]) -> str:
    """The kind of a span in upper case, empty if it has none."""
    return (text(attributes, "openinference.span.kind") or "").upper()


def messages(attributes: dict[str, Any], direction: str, dropped: int = 0) -> tuple[Message, ...]:
    """The `input` or `output` messages of a model span, in numeric order."""
    nodes = _nodes(attributes, direction)
    return tuple(_message(node, dropped) for node in nodes if isinstance(node, dict))


def _nodes(attributes: dict[str, Any], direction: str) -> list[Any]:
    """The messages as they stand; exporters may have written any part of them as JSON text."""
    key = f"llm.{direction}_messages"
    whole = child(attributes, key)
    halves = [whole]
    if isinstance(whole, str):
        halves.append(child({name: value for name, value in attributes.items() if name != key}, key))
    return [decoded(_unwrapped(node)) for half in halves for node in _listed(half)]


def _listed(branch: Any) -> list[Any]:
    """The elements of a list, or the one object that stands in its place; each may be JSON text."""
    found = decoded(branch)
    if isinstance(found, dict) and not any(key[:1].isdigit() for key in found):
        return [found] if found else []
    return list(map(decoded, items(found)))


def _unwrapped(node: Any) -> Any:
    inner = child(node, "message")
    return node if inner is UNSET else inner


_READ: Final = ("tool_calls", "contents")
_SETTINGS: Final = ("tools", "tool_choice", "functions")


def gaps(span: Span, calls: tuple[ToolCall, ...]) -> Iterator[str]:
    """Where the output of a model span shows calls that are not read, or shows nothing at all."""
    nodes = _nodes(span.attributes, "output")
    whole, raw = child(span.attributes, "llm.output_messages"), child(span.attributes, "output.value")
    lost = isinstance(decoded(whole), str) or any(not isinstance(node, dict | None) for node in nodes)
    if lost and not is_masked(whole):
        yield "has `llm.output_messages` that cannot be read"
    lists = [whole, *(child(node, "tool_calls") for node in nodes if isinstance(node, dict))]
    for word in sorted({word for branch in lists for word in _misplaced(branch)}):
        yield f"has messages or calls under `{word[:40]}`, which is no index"
    signs = [sign for node in nodes if isinstance(node, dict) for sign in _signs(node)]
    yield from map("has calls that are not read: {}".format, hidden.gaps(signs, calls))
    shown = any(isinstance(node, dict) for node in nodes) or calls
    if not shown and not lost and not span.failed and (not raw or raw is UNSET or is_masked(raw)):
        yield "does not show what the model put out"
    if is_masked(whole):
        yield "hides what the model put out"
    if not calls and isinstance(raw, str) and _CALLS.search(raw):
        yield from hidden.gaps(hidden.signs(decoded(raw), "output.value", _SETTINGS))


_MESSAGE: Final = frozenset({"message", "role", "content", "contents", "tool_calls", "tool_call_id", "finish_reason"})


def _misplaced(branch: Any) -> set[str]:
    """The beginnings of keys of a list that are no index, unless they are those of its one element."""
    found = decoded(branch)
    words = {str(key).partition(".")[0] for key in found} if isinstance(found, dict) else set[str]()
    odd = {word for word in words if not (word.isascii() and word.isdigit())}
    return odd if odd < words else odd - shapes.READ - _MESSAGE - {"custom", "function_call_name"}


def _signs(node: dict[str, Any]) -> Iterator[hidden.Sign]:
    """What looks like calls in the parts of a message that are not read as calls."""
    yield from hidden.signs(node, "", _READ)
    content = child(node, "content")
    if isinstance(content, str) and content.startswith("[") and _CALLS.search(content):
        yield from hidden.signs(decoded(content), "content")
    for part in _listed(child(node, "contents")):
        if isinstance(part, dict) and child(part, "tool_call") is UNSET:
            yield from hidden.signs(part, "contents")


_CALLS: Final = re.compile(r"call|tool.?use", re.IGNORECASE)


def _message(node: dict[str, Any], dropped: int) -> Message:
    contents = [part for part in _listed(child(node, "contents")) if isinstance(part, dict)]
    content = child(node, "content")
    return Message(
        role=text(node, "role") or "",
        content=_joined(contents) if content in (UNSET, None, "") else content,
        calls=tuple(_calls(node, contents, dropped)),
        tool_call_id=text(node, "tool_call_id"),
        name=text(node, "name"),
    )


def _joined(contents: list[Any]) -> str | None:
    """The text parts of a message, one after another."""
    parts = [text(part, "message_content.text") for part in contents]
    return "".join(part for part in parts if part) or None


def _calls(node: dict[str, Any], contents: list[Any], dropped: int) -> Iterator[ToolCall]:
    """The calls of a message: its own list, else its content, else the legacy pair of attributes."""
    listed = [_inner(entry) for entry in _listed(child(node, "tool_calls"))]
    if not listed:
        listed = [decoded(inner) for part in contents if (inner := child(part, "tool_call")) is not UNSET]
    if not listed and (name := text(node, "function_call_name")):
        listed = [{"function": {"name": name, "arguments": child(node, "function_call_arguments_json")}}]
    for entry in listed:
        if isinstance(entry, dict):
            yield _call(entry, dropped)
        elif entry is not None:
            yield shapes.call(entry)[0]


def _inner(entry: Any) -> Any:
    inner = child(entry, "tool_call")
    return decoded(entry if inner is UNSET else inner)


def _call(entry: dict[str, Any], dropped: int) -> ToolCall:
    """One call. Instrumentations leave out empty arguments, so none are `{}` unless attributes were dropped."""
    if text(entry, "function.name") is None and shapes.is_call(entry):
        return shapes.call(entry)[0]
    read = arguments(child(entry, "function.arguments"), "not_captured" if dropped else "ok")
    name = text(entry, "function.name") or ""
    return ToolCall(
        name=name,
        arguments=read.value,
        arguments_state=read.state,
        arguments_text=read.text,
        id=text(entry, "id"),
        kind="handoff" if name.startswith("transfer_to_") else "client",
    )


def invalid_calls(span: Span, listed: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """Calls with broken arguments that LangChain keeps apart in the raw output of the model, unless they are listed.

    Newer instrumentations list them with the others.
    """
    output = child(span.attributes, "output.value")
    if not isinstance(output, str) or "invalid_tool_calls" not in output:
        return ()
    batches = items(child(decoded(output), "generations"))
    generations = [generation for batch in batches for generation in items(batch)]
    entries = [items(child(generation, "message.kwargs.invalid_tool_calls")) for generation in generations]
    apart = [shapes.call(entry)[0] for entries_of_one in entries for entry in entries_of_one]
    known = Counter((call.name, call.id, call.arguments_text) for call in listed)
    return tuple(call for call in apart if not _counted(known, (call.name, call.id, call.arguments_text)))


_Key = tuple[str, str | None, str | None]


def _counted(known: Counter[_Key], key: _Key) -> bool:
    """Whether one more of those is known; it is taken out."""
    if not known[key]:
        return False
    known[key] -= 1
    return True


def tools(attributes: dict[str, Any]) -> tuple[ToolSpec, ...]:
    """The tools that a model span offers."""
    nodes = items(child(attributes, "llm.tools"))
    schemas = [child(node, "tool.json_schema") for node in nodes]
    return toolspecs.tools([decoded(schema) for schema in schemas if schema is not UNSET])
