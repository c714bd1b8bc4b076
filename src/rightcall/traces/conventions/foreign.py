"""Messages on a span in whatever shape a framework put them there: every provider, LangChain, Vercel, GenAI.

Spans hold requests, responses, single messages and lists of these, as objects or as JSON text. Nothing here says
that a value is no message: what has none gives none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import UNSET

from rightcall.core.calls import ArgumentsState, ToolCall
from rightcall.traces import hidden, shapes, spans
from rightcall.traces.conventions import parts
from rightcall.traces.conventions.model import Message, Said

_ROLES: Final = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "HumanMessage": "user",
    "AIMessage": "assistant",
    "AIMessageChunk": "assistant",
    "ToolMessage": "tool",
    "SystemMessage": "system",
    "function": "tool",
}
_TYPES: Final = frozenset({"tool", "system", *_ROLES})
_KNOWN: Final = frozenset({"user", "assistant", "system", "developer", "tool", *_ROLES})
_CARRIERS: Final = ("messages", "contents", "input_messages", "output_messages", "generations", "output", "input")
_DEPTH: Final = 8


def messages(value: Any, role: str = "", absent: ArgumentsState = "ok", depth: int = 0) -> tuple[Message, ...]:
    """The messages that a value holds. `role` is that of a message that names none."""
    value = spans.decoded(value)
    if depth > _DEPTH:
        return ()
    if isinstance(value, list):
        return tuple(_listed(value, role, absent, depth))
    if isinstance(value, str):
        return (Message(role=role, content=value),) if value and role else ()
    return tuple(_object(value, role, absent, depth)) if isinstance(value, dict) else ()


def output(value: Any, absent: ArgumentsState = "ok") -> Said:
    """What a model put out, as one field holds it, with what there is to warn about. It may be plain text."""
    value = spans.decoded(value)
    if isinstance(value, str) and _is_broken(value) and spans.is_cut(value):
        return _BROKEN
    found = messages(value, "assistant", absent)
    if found or not value or value is UNSET:
        return Said(output=found, gaps=_unread(value, found))
    unknown = f"puts out {shapes.kind(value)} of an unknown shape; it is read as an answer without calls"
    return Said(output=(Message(role="assistant", content=value),), warnings=(unknown,))


_BROKEN: Final = Said(gaps=("puts out JSON that is cut off or broken: its calls are not known",))


def choice(value: Any, absent: ArgumentsState = "ok", reasons: int | None = None) -> Said:
    """The same where the convention says JSON, and that each message is a choice: the first is the one taken.

    `reasons` is how many reasons to stop the answer as a whole has: one for each choice. Where it has fewer, its
    messages follow one another; where it says none, nobody knows, and what the others ask for may be missing.
    """
    value = spans.decoded(value)
    if isinstance(value, str) and _is_broken(value):
        return _BROKEN
    alternatives = _alternatives(value)
    if not alternatives or (reasons is not None and reasons != len(alternatives)):
        return output(value, absent)
    first, *others = (messages(one, "assistant", absent) for one in alternatives)
    unread = _unread(value, [message for one in (first, *others) for message in one])
    note = f"puts out {len(alternatives)} alternatives; the first is read"
    if reasons is None and any(message.calls for other in others for message in other):
        return Said(output=first, gaps=(f"{note}, but nothing says that they are alternatives", *unread))
    return Said(output=first, gaps=unread, warnings=(note,))


def _unread(value: Any, found: Iterable[Message]) -> tuple[str, ...]:
    """A gap for each place in what a model put out that looks like calls, of which none was read."""
    calls = [call for message in found for call in message.calls]
    signs = hidden.signs(value, "output")
    return tuple(map("puts out calls that are not read: {}".format, hidden.gaps(signs, calls, _read_again)))


def _read_again(entry: Any) -> ToolCall:
    return parts.call(entry) or shapes.call(entry)[0]


def _is_broken(text: str) -> bool:
    """Whether text that did not decode began like JSON."""
    return text.lstrip()[:1] in ("[", "{")


def _alternatives(value: Any) -> list[Any]:
    """Messages that are answers to the same request: each says why it stopped, and the first has all that counts."""
    listed = value if isinstance(value, list) else []
    if len(listed) < 2 or not all(isinstance(item, dict) and item.get("finish_reason") for item in listed):
        return []
    called = [any(message.calls for message in messages(item, "assistant")) for item in listed]
    return listed if called[0] or not any(called) else []


def _listed(value: list[Any], role: str, absent: ArgumentsState, depth: int) -> Iterator[Message]:
    """A list of messages, or a list that is the content of one message, or a pair of role and text."""
    if len(value) == 2 and all(isinstance(item, str) for item in value) and value[0] in _KNOWN:
        yield Message(role=_role(value[0]), content=value[1])
    elif value and all(_is_part(item) for item in value):
        yield from _message({"content": value}, role, absent)
    else:
        for item in map(spans.decoded, value):
            yield from messages(item, role, absent, depth + 1) if isinstance(item, dict | list) else ()


def _is_part(item: Any) -> bool:
    """Whether an element of a list is a part of a message rather than a message or an item of its own."""
    if not isinstance(item, dict) or item.keys() & {"role", "message", "kwargs", "data", "call_id"}:
        return False
    return parts.call(item) is not None or parts.answer(item) is not None or parts.text(item) is not None


def _object(value: dict[str, Any], role: str, absent: ArgumentsState, depth: int) -> Iterator[Message]:
    """A message, an item, or something that carries messages."""
    value = _unwrapped(value)
    if isinstance(value.get("choices"), list):
        yield from messages(_chosen(value["choices"]), "assistant", absent, depth + 1)
    elif isinstance(value.get("candidates"), list):
        yield from messages(value["candidates"][:1], "assistant", absent, depth + 1)
    elif isinstance(value.get("message"), dict):
        inner = {"finish_reason": value.get("finish_reason"), **value["message"]}
        yield from messages(inner, role, absent, depth + 1)
    elif _is_message(value):
        yield from _message(value, role, absent)
    elif value and all(key.isdecimal() for key in value):
        yield from messages(spans.items(value), role, absent, depth + 1)
    else:
        carried = next((value[key] for key in _CARRIERS if isinstance(value.get(key), list | dict)), None)
        if carried is None and isinstance(value.get("content"), dict):
            carried = value["content"]
        yield from messages(_first_generation(value, carried), role, absent, depth + 1)


def _first_generation(value: dict[str, Any], carried: Any) -> Any:
    """Of LangChain's `generations`, a list a prompt and in it one entry a candidate, the first candidates."""
    if carried is not value.get("generations") or not isinstance(carried, list):
        return carried
    return [batch[:1] if isinstance(batch, list) else batch for batch in carried]


def _chosen(choices: list[Any]) -> Any:
    """The choice of index 0: others are alternatives that the conversation did not take."""
    known = [choice for choice in choices if isinstance(choice, dict)]
    return next((choice for choice in known if choice.get("index", 0) in (0, None)), known[:1])


def _unwrapped(value: dict[str, Any]) -> dict[str, Any]:
    """A message of LangChain without what its dumps put around it."""
    if isinstance(value.get("kwargs"), dict) and isinstance(value.get("id"), list) and value["id"]:
        return {"role": str(value["id"][-1]), **value["kwargs"]}
    if isinstance(value.get("data"), dict) and parts.type_of(value) in _TYPES:
        return {"role": value["type"], **value["data"]}
    return value


def _is_message(value: dict[str, Any]) -> bool:
    if isinstance(value.get("role"), str) or parts.type_of(value) in _TYPES:
        return True
    if value.keys() & {"tool_calls", "parts", "toolCalls"} and not isinstance(value.get("messages"), list):
        return True
    return _is_part(value) or parts.type_of(value) in parts.CALLS or parts.answer(value) is not None


def _role(name: Any) -> str:
    return _ROLES.get(name, name) if isinstance(name, str) else ""


def _message(value: dict[str, Any], role: str, absent: ArgumentsState) -> Iterator[Message]:
    """One message; results among its parts are messages of their own behind it."""
    found = _role(value.get("role") or (value["type"] if parts.type_of(value) in _TYPES else ""))
    content = _parts(value)
    calls = tuple(_calls(value, content, absent))
    answers = [answer for part in content if (answer := parts.answer(part)) is not None]
    said = "".join(said for part in content if (said := parts.text(part))) or None
    if found == "tool" and not answers:
        yield _result(value)
    elif calls or said is not None or not answers:
        yield Message(role="assistant" if calls else found or role, content=said, calls=calls)
    yield from answers


def _parts(value: dict[str, Any]) -> list[Any]:
    for key in ("parts", "content"):
        found = spans.decoded(value.get(key)) if key == "parts" else value.get(key)
        if isinstance(found, dict) and isinstance(found.get("parts"), list):
            return list(found["parts"])
        if isinstance(found, list):
            return found
        if isinstance(found, str):
            return [found]
    return [value] if _is_part(value) or parts.type_of(value) in parts.CALLS or parts.answer(value) else []


def _result(value: dict[str, Any]) -> Message:
    identity, name = value.get("tool_call_id") or value.get("id"), value.get("name")
    return Message(
        role="tool",
        content=parts.result(value.get("content")),
        tool_call_id=identity if isinstance(identity, str) else None,
        name=name if isinstance(name, str) else None,
        failed=parts.failed(value),
    )


def _calls(value: dict[str, Any], content: list[Any], absent: ArgumentsState) -> Iterator[ToolCall]:
    """The calls of a message: its own list, else its parts, else what older shapes keep elsewhere.

    LangChain keeps calls with broken arguments in a list of their own.
    """
    listed = spans.items(spans.decoded(value.get("tool_calls") or value.get("toolCalls")))
    made = [parts.entry(item, absent) for item in listed]
    made = made or [call for part in content if (call := parts.call(part, absent)) is not None]
    if not made and isinstance(value.get("function_call"), dict):
        made = [parts.entry(value["function_call"], absent)]
    if not made and isinstance(extra := value.get("additional_kwargs"), dict):
        made = [parts.entry(item, absent) for item in spans.items(extra.get("tool_calls"))]
    yield from made or _written(value, content, absent)
    yield from (parts.entry(item, absent) for item in spans.items(value.get("invalid_tool_calls")))


def _written(value: dict[str, Any], content: list[Any], absent: ArgumentsState) -> list[ToolCall]:
    """Calls that a framework wrote into the text of a message, which stopped because of them."""
    if value.get("finish_reason") not in ("tool_calls", "tool_call"):
        return []
    listed = [item for part in content for item in spans.items(spans.decoded(part))]
    return [
        parts.entry(item, absent)
        for item in listed
        if isinstance(item, dict) and item.get("type") == "function" and isinstance(item.get("function"), dict)
    ]
