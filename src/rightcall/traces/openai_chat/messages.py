"""One list of chat messages into one trajectory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import ToolCall, ToolSpec, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import chat, conversation, hidden, shapes, stopping
from rightcall.traces.conversation import Answered, Asked, Event, Said

ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool", "function"})

_CALL_BLOCKS: Final = ("tool_call", "function")
_FOREIGN_BLOCKS: Final = {
    "tool_use": "Anthropic Messages",
    "tool_result": "Anthropic Messages",
    "tool-call": "the Vercel AI SDK",
    "tool-result": "the Vercel AI SDK",
    "function_call": "OpenAI Responses",
    "function_call_output": "OpenAI Responses",
}
_FOREIGN_KEYS: Final = {
    "toolUse": "Bedrock Converse",
    "toolResult": "Bedrock Converse",
    "functionCall": "Gemini",
    "functionResponse": "Gemini",
    "text": "Bedrock Converse",
}


def is_message(value: Any) -> bool:
    """Whether a value is a chat message of OpenAI's format, and not one of its relatives."""
    return isinstance(value, dict) and str(value.get("role")) in ROLES and not foreign(value)


def foreign(message: dict[str, Any]) -> str:
    """The other format that a message is written in, else the empty string."""
    if isinstance(message.get("parts"), list):
        return "messages with `parts` (Gemini, OpenTelemetry or the Vercel AI SDK)"
    if "stop_reason" in message:
        return "Anthropic Messages"
    for block in _list(message.get("content")):
        if isinstance(block, dict) and (named := _foreign_block(block)):
            return named
    for entry in _list(message.get("tool_calls")):
        if isinstance(entry, dict) and isinstance(entry.get("function"), str):
            return "Inspect"
    return "tau2-bench" if "requestor" in message else ""


def _foreign_block(block: dict[str, Any]) -> str:
    kind = str(block.get("type"))
    if kind in _FOREIGN_BLOCKS:
        return _FOREIGN_BLOCKS[kind]
    if kind.endswith(("_tool_use", "_tool_result")):
        return "Anthropic Messages"
    return next((name for key, name in _FOREIGN_KEYS.items() if key in block and "type" not in block), "")


def trajectory(
    messages: list[Any], tools: tuple[ToolSpec, ...] = (), gaps: tuple[str, ...] = (), path: str = "messages"
) -> Trajectory:
    """The trajectory of one conversation; `TraceError` for a message of another format.

    Without a message of the model nothing is recorded of what it called (G3).
    """
    warnings: list[str] = []
    events = list(_events(messages, path, warnings))
    return conversation.trajectory(
        messages,
        events,
        warnings,
        path=path,
        tools=tools,
        gaps=(*gaps, *_gaps(messages, path)),
        output=_output(messages),
    )


def _gaps(messages: list[Any], path: str) -> Iterator[str]:
    """Where one call hides another, and where messages say that there are calls and show none."""
    for index, message in enumerate(messages):
        place = f"{path}[{index}]"
        if message.get("role") == "assistant":
            for entry, at in _entries(message, place):
                yield from hidden.in_call(entry, at)
        yield from stopped(message, message.get("finish_reason"), place)


def stopped(message: dict[str, Any], reason: Any, place: str = "the message") -> Iterator[str]:
    """The gap of a message whose finish reason says that calls are missing."""
    calls = any(True for _ in _entries(message, ""))
    yield from stopping.gaps(reason, calls=calls, text=bool(message.get("content")), at=place)


def _events(messages: list[Any], path: str, warnings: list[str]) -> Iterator[Event]:
    for index, message in enumerate(messages):
        place = f"{path}[{index}]"
        if not isinstance(message, dict):
            raise TraceError(f"expected a message, an object; found {shapes.kind(message)}", Where(path=place))
        if found := foreign(message):
            raise TraceError(f"expected an OpenAI chat message; found {found}", Where(path=place))
        role = message.get("role")
        if role == "assistant":
            calls, notes = _asked(message, place)
            warnings += notes
            yield Asked(calls)
            continue
        if message.get("tool_calls"):
            warnings.append(f"{place} has `tool_calls` although it is no message of the model; they are not read")
        if role in ("tool", "function"):
            yield _answered(message, place)
        elif role == "user":
            yield Said()
        elif str(role) not in ROLES:
            raise TraceError(f"unknown role {role!r}", Where(path=f"{place}.role"))


def _asked(message: dict[str, Any], place: str) -> tuple[tuple[ToolCall, ...], list[str]]:
    """The calls of a message of the model, in order."""
    calls, warnings = [], []
    for entry, at in _entries(message, place):
        call, notes = shapes.call(entry)
        calls.append(msgspec.structs.replace(call, sources=(at,)))
        warnings += [f"{at} {note}" for note in notes]
    return tuple(calls), warnings


def _entries(message: dict[str, Any], place: str) -> Iterator[tuple[Any, str]]:
    entries = message.get("tool_calls")
    if entries is not None and not isinstance(entries, list):
        raise TraceError(
            f"expected an array of tool calls; found {shapes.kind(entries)}", Where(path=f"{place}.tool_calls")
        )
    for index, entry in enumerate(entries or ()):
        yield entry, f"{place}.tool_calls[{index}]"
    for key in _single(message):
        yield message[key], f"{place}.{key}"
    if not entries:
        for block, at in _blocks(message.get("content"), f"{place}.content"):
            if str(block.get("type")) in _CALL_BLOCKS and (block["type"] == "tool_call" or shapes.is_call(block)):
                yield block, at


def _single(message: dict[str, Any]) -> list[str]:
    """The keys under which a message has one call each."""
    keys = ["function_call"] if message.get("tool_calls") else ["function_call", "tool_call"]
    return [key for key in keys if isinstance(message.get(key), dict)]


def _blocks(content: Any, place: str) -> list[tuple[dict[str, Any], str]]:
    """The blocks of a content, which may be a single one, with their places."""
    if isinstance(content, dict):
        return [(content, place)]
    return [(block, f"{place}[{at}]") for at, block in enumerate(_list(content)) if isinstance(block, dict)]


def _answered(message: dict[str, Any], place: str) -> Answered:
    failed = message.get("is_error") is True or message.get("status") == "error"
    content = chat.text(message.get("content"))
    name = message.get("name") or message.get("tool_name")
    identity = message.get("tool_call_id")
    return Answered(
        id=identity if isinstance(identity, str) and identity else None,
        name=name if isinstance(name, str) and name else None,
        result=content,
        status="error" if failed else "ok",
        error=content if failed and isinstance(content, str) else None,
        place=place,
    )


def _output(messages: list[Any]) -> Any:
    """The text of the last message of the model, if it asks for no call."""
    last = next((item for item in reversed(messages) if item.get("role") == "assistant"), None)
    if last is None or any(True for _ in _entries(last, "")):
        return None
    return chat.text(last.get("content")) or None


def key(message: Any) -> Any:
    """What makes two messages of a history the same: all but identifiers and what providers add."""
    if not isinstance(message, dict):
        return message
    return message.get("role"), chat.text(message.get("content")) or None, *_called(message)


def _called(message: dict[str, Any]) -> tuple[Any, Any]:
    """The calls of a message, and where it shows others."""
    try:
        entries = list(_entries(message, "message"))
    except TraceError:
        return message.get("tool_calls"), None
    known = hidden.Places(frozenset(), frozenset(at for _, at in entries))
    unread = [sign.place for sign in hidden.in_message(message, "message", known)]
    return [(call.name, _written(call)) for call in (shapes.call(entry)[0] for entry, _ in entries)], unread


def _written(call: ToolCall) -> Any:
    return call.arguments if call.arguments_state == "ok" else call.arguments_text


def _list(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else ()
