"""Messages with a role, calls under `tool_calls` and results in messages of role `tool`: what many formats share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import ToolCall
from rightcall.errors import TraceError, Where
from rightcall.traces import shapes
from rightcall.traces.conversation import Answered, Asked, Event, Said

ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool"})


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """How a format writes a call and its results. `callers` are the roles whose calls count."""

    call: Callable[[Any], tuple[ToolCall, tuple[str, ...]]] = shapes.call
    answers: Callable[[dict[str, Any], str], Iterable[Answered]]
    callers: frozenset[str] = frozenset({"assistant"})


def events(messages: list[Any], path: str, warnings: list[str], words: Words) -> Iterator[Event]:
    """What happens in messages; `TraceError` with its place for what is no message."""
    for index, message in enumerate(messages):
        at = f"{path}[{index}]"
        if not isinstance(message, dict):
            raise TraceError(f"expected a message, an object; found {shapes.kind(message)}", Where(path=at))
        role = message.get("role")
        if str(role) not in ROLES:
            raise TraceError(f"unknown role {role!r}", Where(path=f"{at}.role"))
        calls = tuple(_calls(message, at, warnings, words))
        if role == "user":
            yield Said()
        if role == "assistant" or (calls and role in words.callers):
            yield Asked(calls)
        elif calls:
            warnings.append(f"{at} has `tool_calls` although it is no message of the model; they are not read")
        if role == "tool":
            yield from words.answers(message, at)


def _calls(message: dict[str, Any], at: str, warnings: list[str], words: Words) -> Iterator[ToolCall]:
    entries = message.get("tool_calls")
    if entries is not None and not isinstance(entries, list):
        raise TraceError(
            f"expected an array of tool calls; found {shapes.kind(entries)}", Where(path=f"{at}.tool_calls")
        )
    for index, entry in enumerate(entries or ()):
        place = f"{at}.tool_calls[{index}]"
        call, notes = words.call(entry)
        warnings += [f"{place} {note}" for note in notes]
        yield msgspec.structs.replace(call, sources=(place,))


def calls(message: Any) -> list[ToolCall]:
    """The calls of a message of a history, in which nothing is warned about."""
    entries = message.get("tool_calls") if isinstance(message, dict) else None
    return [shapes.call(entry)[0] for entry in entries] if isinstance(entries, list) else []


def answer(
    message: dict[str, Any], place: str, *, result: Any, name: Any = None, id: Any = None, error: str | None = None
) -> Answered:
    """The result of a call, joined by the id that the message gives, or another."""
    identity = id or message.get("tool_call_id")
    return Answered(
        id=identity if isinstance(identity, str) and identity else None,
        name=name if isinstance(name, str) and name else None,
        result=result,
        status="ok" if error is None else "error",
        error=error,
        place=place,
    )


def text(content: Any) -> Any:
    """The text of a message: its string, or its text parts joined; other content as it stands."""
    if not isinstance(content, list):
        return content
    parts = [part.get("text") if isinstance(part, dict) else part for part in content]
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if texts and len(texts) == len(parts) else content


def output(messages: list[Any]) -> Any:
    """The text of the last message, if the model wrote it and asked for no call."""
    last = messages[-1] if messages and isinstance(messages[-1], dict) else {}
    if last.get("role") != "assistant" or last.get("tool_calls"):
        return None
    return text(last.get("content")) or None
