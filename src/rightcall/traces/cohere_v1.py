"""Cohere's chat API, version 1: histories, requests, responses, streams of events, logs of exchanges.

A message is `{"role": "CHATBOT", "message": …, "tool_calls": [{"name": …, "parameters": …}]}`; results stand in
`tool_results`, each with the call that it answers. Calls have no ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rightcall.core.calls import ToolCall, ToolSpec, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import conversation, exchanges, families, heads, records, shapes, stopping, toolspecs
from rightcall.traces.conversation import Answered, Asked, Event, Said

_ROLES: Final = frozenset({"USER", "CHATBOT", "SYSTEM", "TOOL"})
_CONTENT: Final = frozenset({"message", "tool_calls", "tool_results"})
_EVENT: Final = "event"
_ENDED: Final = "stream-end"
_CALLED: Final = "tool-calls-generation"


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and str(value.get("role")) in _ROLES and bool(_CONTENT & value.keys())


def _history(value: dict[str, Any]) -> list[Any] | None:
    """The history of a request or a response; none is an empty one."""
    found = value.get("chat_history")
    found = [] if found is None else found
    return found if isinstance(found, list) and all(map(_is_message, found)) else None


def _is_response(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("text"), str) or value.keys() & {"role", "event_type"}:
        return False
    return bool({"generation_id", "response_id", "chat_history"} & value.keys()) and _history(value) is not None


def _is_request(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("message"), str) or "role" in value:
        return False
    own = {"chat_history", "tool_results"} & value.keys() or any(map(_has_definitions, _list(value.get("tools"))))
    return bool(own) and _history(value) is not None


def _has_definitions(tool: Any) -> bool:
    return isinstance(tool, dict) and "parameter_definitions" in tool


def _kind(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    if _is_message(value):
        return families.MESSAGE
    if isinstance(value.get("event_type"), str):
        return _EVENT
    if exchanges.is_pair(value):
        answered = _is_response(value["response"]) or not value["response"]
        return families.EXCHANGE if _is_request(value["request"]) and answered else None
    return families.RECORD if _is_response(value) or _is_request(value) else None


def _whole(value: Any) -> Iterable[Trajectory]:
    if isinstance(value, list):
        return [_conversation(value, path="")]
    if _is_response(value):
        made = _conversation([*(_history(value) or ()), *_reply(value)], gaps=_gaps(value), path="chat_history")
        return [msgspec.structs.replace(made, **_identity(value))]
    made = _conversation(_given(value), toolspecs.tools(value.get("tools")), path="chat_history")
    return [msgspec.structs.replace(made, **records.beside(value))]


def _identity(response: dict[str, Any]) -> dict[str, str]:
    found = response.get("response_id") or response.get("generation_id")
    return {**records.identity(response), **({"id": found} if isinstance(found, str) and found else {})}


def _reply(response: dict[str, Any]) -> list[Any]:
    """What a response adds to its own history, which may hold it already."""
    calls = response.get("tool_calls")
    reply = {"role": "CHATBOT", "message": response["text"], **({"tool_calls": calls} if calls else {})}
    last = (_history(response) or [None])[-1]
    return [] if last is not None and _key(last) == _key(reply) else [reply]


def _given(request: dict[str, Any]) -> list[Any]:
    """What a model was given: the history, what the user said, and results."""
    said = [{"role": "USER", "message": request["message"]}] if request["message"] else []
    results = [{"role": "TOOL", "tool_results": request["tool_results"]}] if request.get("tool_results") else []
    return [*(_history(request) or ()), *said, *results]


def _gaps(response: dict[str, Any]) -> tuple[str, ...]:
    reason = response.get("finish_reason", "")
    if reason is None:
        return ("the stream ends without a finish reason",)
    calls = bool(response.get("tool_calls"))
    return tuple(stopping.gaps(reason, calls=calls, text=bool(response["text"])))


def _together(kind: str, values: list[Any]) -> Iterator[Trajectory | TraceError]:
    if kind == families.EXCHANGE:
        yield from exchanges.log([value and _exchange(value) for value in values], _key, _conversation)
        return
    for events in families.runs(values, lambda event: event["event_type"] == _ENDED):
        yield from _whole(_streamed(events))


def _streamed(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The response that a stream ends with, else what it told of one."""
    last = events[-1]
    if last["event_type"] == _ENDED and _is_response(last.get("response")):
        return {**last["response"], "finish_reason": last.get("finish_reason") or last["response"].get("finish_reason")}
    calls = [call for event in events if event["event_type"] == _CALLED for call in _list(event.get("tool_calls"))]
    return {"text": "", "chat_history": [], "tool_calls": calls, "finish_reason": None}


def _exchange(value: dict[str, Any]) -> exchanges.Exchange:
    request, response = value["request"], value["response"]
    history = _given(request)
    known = exchanges.Exchange(
        history=history,
        tools=toolspecs.tools(request.get("tools")),
        identity=records.identity(request),
        continues=any(message["role"] == "CHATBOT" for message in history),
    )
    if not response:
        return known
    reply = _reply({**response, "chat_history": None})
    return msgspec.structs.replace(known, reply=reply, gaps=_gaps(response))


def _key(message: dict[str, Any]) -> Any:
    """What makes two messages of a history the same."""
    calls, results = (_list(message.get(key)) for key in ("tool_calls", "tool_results"))
    return message["role"], None if calls or results else message.get("message"), calls, results


def _conversation(
    messages: list[Any], tools: tuple[ToolSpec, ...] = (), gaps: tuple[str, ...] = (), path: str = "messages"
) -> Trajectory:
    warnings: list[str] = []
    told = list(_events(messages, path, warnings))
    last = messages[-1] if messages else {}
    output = last.get("message") if last.get("role") == "CHATBOT" and not last.get("tool_calls") else None
    searched = ((_spelt(message), f"{path}[{index}]") for index, message in enumerate(messages))
    return conversation.trajectory(
        messages, told, warnings, path=path, tools=tools, gaps=gaps, output=output or None, searched=searched
    )


def _spelt(value: Any) -> Any:
    """A value with the parameters of calls spelt as others spell them, so that calls in it are seen."""
    if isinstance(value, list):
        return [_spelt(part) for part in value]
    if not isinstance(value, dict):
        return value
    named = isinstance(value.get("name"), str)
    return {"arguments" if named and key == "parameters" else key: _spelt(part) for key, part in value.items()}


def _events(messages: list[Any], path: str, warnings: list[str]) -> Iterator[Event]:
    """What happens in messages; `TraceError` with its place for what is no message."""
    asked: tuple[ToolCall, ...] = ()
    for index, message in enumerate(messages):
        at = f"{path}[{index}]"
        if not _is_message(message):
            found = "another format" if isinstance(message, dict) else shapes.kind(message)
            raise TraceError(f"expected a message of Cohere's version 1; found {found}", Where(path=at))
        calls = tuple(_calls(message, at, warnings))
        if message["role"] == "CHATBOT":
            asked = calls
            yield Asked(calls)
        elif calls:
            warnings.append(f"{at} has `tool_calls` although it is no message of the model; they are not read")
        elif message["role"] == "USER" and message.get("message"):
            yield Said()
        yield from _results(message, at, asked)


def _calls(message: dict[str, Any], at: str, warnings: list[str]) -> Iterator[ToolCall]:
    entries = message.get("tool_calls")
    if entries is not None and not isinstance(entries, list):
        place = f"{at}.tool_calls"
        raise TraceError(f"expected an array of tool calls; found {shapes.kind(entries)}", Where(path=place))
    for index, entry in enumerate(entries or ()):
        known = entry if isinstance(entry, dict) else {}
        place = f"{at}.tool_calls[{index}]"
        source = known.get("parameters", UNSET)
        call, notes = shapes.named(known.get("name"), source, absent="not_captured", at=place)
        warnings += notes
        yield call


def _results(message: dict[str, Any], at: str, asked: tuple[ToolCall, ...]) -> Iterator[Answered]:
    """The results of a message, in the order of the calls that they repeat: those of one tool have only their order."""
    placed = [(part, f"{at}.tool_results[{index}]") for index, part in enumerate(_list(message.get("tool_results")))]
    for part, place in sorted(placed, key=lambda one: _place(one[0], asked)):
        call, outputs = (part.get("call"), part.get("outputs")) if isinstance(part, dict) else (None, part)
        name = call.get("name") if isinstance(call, dict) else None
        result = outputs[0] if isinstance(outputs, list) and len(outputs) == 1 else outputs
        yield Answered(name=name if isinstance(name, str) and name else None, result=result, place=place)


def _place(part: Any, asked: tuple[ToolCall, ...]) -> int:
    call = part.get("call") if isinstance(part, dict) else None
    known = (call.get("name"), call.get("parameters")) if isinstance(call, dict) else None
    return next((at for at, one in enumerate(asked) if (one.name, one.arguments) == known), len(asked))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


_FAMILY: Final = families.Family(
    expected="a message, request or response of Cohere's version 1", kind=_kind, whole=_whole, together=_together
)


def claims(head: bytes) -> bool:
    """Whether the first value is a message, a body, an event or an exchange of version 1, or a list of these."""
    value = heads.sketch(head)
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, dict) and "event_type" in first:
        return first["event_type"] in ("stream-start", _CALLED, _ENDED)
    return families.claims(_FAMILY, head)


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every conversation, in order; one that cannot be read is yielded as an error."""
    return families.read(_FAMILY, chunks, file)
