"""Messages of OpenTelemetry's GenAI conventions outside spans: lists, and what one model call was given and put out.

A message is `{"role": …, "parts": [{"type": "tool_call", …}, …]}` (semantic conventions 1.37 and later). The spans that
carry them are read as `otel-genai`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import ToolCall, ToolSpec, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import blocks, conversation, exchanges, families, heads, records, shapes, stopping, toolspecs
from rightcall.traces.conventions import parts
from rightcall.traces.conversation import Answered, Asked, Event, Said

_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool"})
_CALLS: Final = frozenset({"tool_call", "server_tool_call"})
_ANSWERS: Final = frozenset({"tool_call_response", "server_tool_call_response"})
_SILENT: Final = frozenset({"reasoning", "blob", "file", "uri", "compaction"})


def _is_message(value: Any) -> bool:
    """Whether a value is a message of parts that say their type, as those of Gemini do not."""
    if not isinstance(value, dict) or str(value.get("role")) not in _ROLES or not isinstance(value.get("parts"), list):
        return False
    return all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in value["parts"])


def _is_distinctive(value: Any) -> bool:
    """Whether a message has a part that others do not write: the text of a part is its `content`."""
    return _is_message(value) and any(_is_own(part) for part in value["parts"])


def _is_own(part: dict[str, Any]) -> bool:
    kind = part["type"]
    return kind in _CALLS | _ANSWERS or (kind in ("text", "reasoning") and "content" in part and "text" not in part)


def _messages(value: dict[str, Any], key: str) -> list[Any] | None:
    """The messages under a key, which may be written as text."""
    found = conversation.structured(value.get(key))
    return found if isinstance(found, list) and all(map(_is_message, found)) else None


def _kind(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    if _is_message(value):
        return families.MESSAGE
    if _messages(value, "output_messages") is not None or _messages(value, "input_messages"):
        return families.EXCHANGE
    return families.RECORD if _messages(value, "messages") else None


def _whole(value: Any) -> Iterable[Trajectory]:
    if isinstance(value, list):
        return [_listed(value)]
    made = _conversation(value["messages"], toolspecs.tools(value.get("tools")))
    return [msgspec.structs.replace(made, **records.beside(value))]


def _listed(messages: list[Any]) -> Trajectory:
    """The trajectory of a list: a conversation, or only what one model call put out."""
    if not all(_is_message(message) and message["role"] == "assistant" for message in messages):
        return _conversation(messages, path="")
    reply, gaps, warnings = _chosen(messages)
    made = _conversation(reply or [], gaps=gaps, path="")
    return msgspec.structs.replace(made, warnings=(*made.warnings, *warnings))


def _together(kind: str, values: list[Any]) -> Iterator[Trajectory | TraceError]:
    """The conversations of model calls; those with an id of their conversation are never taken for one another's."""
    told: dict[str, list[exchanges.Exchange | None]] = {}
    for exchange in (value and _exchange(value) for value in values):
        told.setdefault(exchange.identity.get("conversation_id", "") if exchange else "", []).append(exchange)
    for listed in told.values():
        yield from exchanges.log(listed, _key, _conversation)


def _exchange(value: dict[str, Any]) -> exchanges.Exchange:
    history, output = _messages(value, "input_messages") or [], _messages(value, "output_messages")
    reply, gaps, warnings = _chosen(output)
    return exchanges.Exchange(
        history=history,
        reply=reply,
        gaps=gaps,
        warnings=warnings,
        tools=toolspecs.tools(conversation.structured(value.get("tool_definitions"))),
        identity=records.identity(value),
        continues=any(message["role"] == "assistant" for message in history),
    )


def _chosen(output: list[Any] | None) -> tuple[list[Any] | None, tuple[str, ...], tuple[str, ...]]:
    """What a model put out, gaps and warnings. Messages that each say why they stopped are alternatives."""
    if not output or len(output) == 1 or not all(message.get("finish_reason") for message in output):
        return output or None, (), ()
    note = f"the model put out {len(output)} alternatives; the first is read"
    if any(_has_calls(message) for message in output[1:]):
        return output[:1], (f"{note}, but nothing says that they are alternatives",), ()
    return output[:1], (), (note,)


def _has_calls(message: dict[str, Any]) -> bool:
    return any(part["type"] in _CALLS for part in message["parts"])


def _key(message: Any) -> Any:
    """What makes two messages of a history the same: role, text, calls and results, without ids."""
    calls = [(call.name, call.arguments, call.arguments_text) for call, _ in _asked(message, "")]
    results = [answer.content for part in message["parts"] if (answer := parts.answer(part)) is not None]
    return message["role"], _text(message), calls, results


def _conversation(
    messages: list[Any], tools: tuple[ToolSpec, ...] = (), gaps: tuple[str, ...] = (), path: str = "messages"
) -> Trajectory:
    places = [f"{path}[{index}]" for index in range(len(messages))]
    for message, at in zip(messages, places, strict=True):
        _check(message, at)
    warnings: list[str] = []
    told = [event for message, at in zip(messages, places, strict=True) for event in _events(message, at, warnings)]
    as_blocks = [{"role": message["role"], "content": message["parts"]} for message in messages]
    gaps = (*gaps, *_stopped(messages, places), *blocks.replaced(as_blocks, places))
    return conversation.trajectory(
        messages, told, warnings, path=path, tools=tools, gaps=gaps, output=_output(messages[-1:])
    )


def _check(message: Any, at: str) -> None:
    """`TraceError` for what is no message of the conventions."""
    if _is_message(message):
        return
    if isinstance(message, dict) and isinstance(message.get("role"), str) and message["role"] not in _ROLES:
        raise TraceError(f"unknown role {message['role'][:40]!r}", Where(path=f"{at}.role"))
    found = "another format" if isinstance(message, dict) else shapes.kind(message)
    raise TraceError(f"expected a GenAI message, `role` and typed `parts`; found {found}", Where(path=at))


def _stopped(messages: list[Any], places: list[str]) -> Iterator[str]:
    for message, at in zip(messages, places, strict=True):
        reason = message.get("finish_reason")
        yield from stopping.gaps(reason, calls=_has_calls(message), text=bool(_text(message)), at=at)


def _events(message: dict[str, Any], at: str, warnings: list[str]) -> Iterator[Event]:
    """What happens in one message; results may stand in the message of the model that asked for them."""
    calls = _asked(message, at)
    results = list(_results(message, at))
    if message["role"] == "assistant":
        warnings += [note for _, notes in calls for note in notes]
        yield Asked(tuple(call for call, _ in calls))
    elif calls:
        warnings.append(f"{at} has calls although it is no message of the model; they are not read")
    elif message["role"] == "user" and not results:
        yield Said()
    yield from results
    for index, part in enumerate(message["parts"]):
        if part["type"] not in _CALLS | _ANSWERS | _SILENT | {"text"}:
            warnings += shapes.unknown(f"{at}.parts[{index}]", part)


def _asked(message: dict[str, Any], at: str) -> list[tuple[ToolCall, tuple[str, ...]]]:
    """The calls of a message, in order. A part without arguments is one of which they were not recorded."""
    placed = [(part, f"{at}.parts[{index}]") for index, part in enumerate(message["parts"]) if part["type"] in _CALLS]
    return [_call(part, place) for part, place in placed]


def _call(part: dict[str, Any], place: str) -> tuple[ToolCall, tuple[str, ...]]:
    call = parts.entry(part, "not_captured", parts.CALLS[part["type"]])
    notes = () if call.name else (f"{place} has no string for its name; counted as a call without a name",)
    return msgspec.structs.replace(call, sources=(place,)), notes


def _results(message: dict[str, Any], at: str) -> Iterator[Answered]:
    for index, part in enumerate(message["parts"]):
        told = parts.answer(part) if part["type"] in _ANSWERS else None
        if told is not None:
            result = conversation.structured(told.content)
            yield Answered(
                id=told.tool_call_id or None,
                name=told.name or None,
                result=result,
                status="error" if told.failed else "ok",
                error=result if told.failed and isinstance(result, str) else None,
                place=f"{at}.parts[{index}]",
            )


def _text(message: dict[str, Any]) -> str:
    said = (parts.text(part) for part in message["parts"] if part["type"] == "text")
    return "".join(text for text in said if text)


def _output(last: list[Any]) -> Any:
    """The text of the last message, if it is of the model and asks for no call."""
    if not last or last[0]["role"] != "assistant" or _has_calls(last[0]):
        return None
    return _text(last[0]) or None


_FAMILY: Final = families.Family(
    expected="messages of OpenTelemetry's GenAI conventions", kind=_kind, whole=_whole, together=_together
)


def claims(head: bytes) -> bool:
    """Whether the first value is messages with a part that only these conventions write, or holds such messages."""
    value = heads.settled(head)
    return families.claims(_FAMILY, head) and any(map(_is_distinctive, _all_messages(value)))


def _all_messages(value: Any) -> Iterator[Any]:
    for one in value if isinstance(value, list) else [value]:
        if _is_message(one):
            yield one
        elif isinstance(one, dict):
            for key in ("input_messages", "output_messages", "messages"):
                yield from _messages(one, key) or ()


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every conversation, in order; one that cannot be read is yielded as an error."""
    return families.read(_FAMILY, chunks, file)
