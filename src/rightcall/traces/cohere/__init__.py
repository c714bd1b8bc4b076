"""Cohere's chat API, version 2: messages, requests, responses, streams of events, logs of exchanges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import ToolSpec, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import chat, conversation, documents, exchanges, families, heads, records, stopping, toolspecs
from rightcall.traces.cohere import stream
from rightcall.traces.conversation import Answered

_EVENT: Final = "event"


def _is_message(value: Any) -> bool:
    if (
        not isinstance(value, dict)
        or str(value.get("role")) not in chat.ROLES
        or {"parts", "function_call"} & value.keys()
    ):
        return False
    content = value.get("content")
    return content is None or isinstance(content, str) or (isinstance(content, list) and all(map(_is_block, content)))


def _is_block(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in ("text", "document", "thinking", "image_url")


def _is_distinctive(value: Any) -> bool:
    """Whether a message is Cohere's rather than OpenAI's: it has a plan, or a result of documents."""
    if not _is_message(value):
        return False
    content = value.get("content")
    blocks = content if isinstance(content, list) else []
    return "tool_plan" in value or any("document" in block for block in blocks)


def _is_response(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("message"), dict):
        return False
    reason = value.get("finish_reason", "")
    return _is_message(value["message"]) and isinstance(reason, str | None) and str(reason).isupper()


def _is_answer(value: Any) -> bool:
    """Whether a value is what the model answers to a request: a response, or the events of one."""
    if isinstance(value, list):
        return any(map(stream.is_event, value)) and all(stream.is_event(one) or stream.is_silent(one) for one in value)
    return _is_response(value)


def _is_body(value: Any) -> bool:
    found = value.get("messages") if isinstance(value, dict) else None
    return isinstance(found, list) and all(map(_is_message, found))


def _kind(value: Any) -> str | None:
    if isinstance(value, list):
        known = all(map(_is_message, value)) and any(map(_is_distinctive, value))
        return families.RECORD if known else None
    if not isinstance(value, dict):
        return None
    if _is_message(value):
        return families.MESSAGE
    if _is_answer(value.get("response")) and _is_body(value.get("request")):
        return families.EXCHANGE
    if stream.is_event(value):
        return _EVENT
    body = _is_body(value) and "choices" not in value
    return families.RECORD if _is_response(value) or body else None


def _whole(value: Any) -> Iterable[Trajectory]:
    if isinstance(value, list):
        return [_conversation(value, path="")]
    response = _is_response(value)
    before = value["messages"] if _is_body(value) else []
    after = [value["message"]] if response else []
    gaps = _gaps(value) if response else ()
    made = _conversation([*before, *after], toolspecs.tools(value.get("tools")), gaps)
    return [msgspec.structs.replace(made, **records.beside(value))]


def _gaps(response: dict[str, Any]) -> tuple[str, ...]:
    reason = response.get("finish_reason", "")
    if reason is None:
        return ("the stream ends without a finish reason",)
    message = response["message"]
    return tuple(stopping.gaps(reason, calls=bool(message.get("tool_calls")), text=bool(message.get("content"))))


def _together(kind: str, values: list[Any]) -> Iterator[Trajectory | TraceError]:
    if kind == families.EXCHANGE:
        yield from exchanges.log([value and _exchange(value) for value in values], _key, _conversation)
        return
    for response in stream.responses(values):
        made = _conversation([response["message"]], (), _gaps(response), path="")
        yield msgspec.structs.replace(made, **records.identity(response))


def _exchange(value: dict[str, Any]) -> exchanges.Exchange:
    request, response = value["request"], value["response"]
    if isinstance(response, list):
        response = stream.responses(filter(stream.is_event, response))[0]
    history = request["messages"]
    return exchanges.Exchange(
        history=history,
        reply=[response["message"]],
        gaps=_gaps(response),
        tools=toolspecs.tools(request.get("tools")),
        continues=any(message.get("role") == "assistant" for message in history),
    )


def _key(message: Any) -> Any:
    """What makes two messages of a history the same: clients send a message back without its plan."""
    calls = chat.calls(message)
    written = [(call.name, call.arguments, call.arguments_text) for call in calls]
    said = None if calls else chat.text(message.get("content")) or None
    return message.get("role"), said, written


def _conversation(
    messages: list[Any], tools: tuple[ToolSpec, ...] = (), gaps: tuple[str, ...] = (), path: str = "messages"
) -> Trajectory:
    for index, message in enumerate(messages):
        if isinstance(message, dict) and str(message.get("role")) in chat.ROLES and not _is_message(message):
            raise TraceError("expected a message of Cohere; found another format", Where(path=f"{path}[{index}]"))
    warnings: list[str] = []
    told = chat.events(messages, path, warnings, _WORDS)
    return conversation.trajectory(
        messages, told, warnings, path=path, tools=tools, gaps=gaps, output=chat.output(messages)
    )


def _answers(message: dict[str, Any], place: str) -> Iterator[Answered]:
    yield chat.answer(message, place, result=_result(message.get("content")))


def _result(content: Any) -> Any:
    """The data of a result: of its one document, of each of its documents, or its text."""
    blocks = content if isinstance(content, list) else []
    found = [block.get("document") for block in blocks if isinstance(block, dict) and "document" in block]
    data = [document.get("data") if isinstance(document, dict) else document for document in found]
    if not data or len(data) != len(blocks):
        return chat.text(content)
    return data[0] if len(data) == 1 else [conversation.structured(one) for one in data]


_WORDS: Final = chat.Words(answers=_answers)

_FAMILY: Final = families.Family(
    expected="a message, request or response of Cohere",
    kind=_kind,
    whole=_whole,
    together=_together,
    silent=stream.is_silent,
)


def claims(head: bytes) -> bool:
    """Whether the first value is a response, an event or an exchange of Cohere, or messages that only it writes."""
    value = heads.sketch(head)
    if len(head) >= documents.HEAD and isinstance(value, list) and len(value) > 1:
        value = value[:-1]
    if isinstance(value, list):
        return _kind(value) is not None or (bool(value) and all(map(_is_own, value)))
    if isinstance(value, dict) and _is_body(value) and not _is_response(value):
        return any(map(_is_distinctive, value["messages"]))
    return _is_own(value) or _is_distinctive(value)


def _is_own(value: Any) -> bool:
    if isinstance(value, dict) and isinstance(value.get("request"), dict):
        return _is_answer(value.get("response"))
    return _is_response(value) or stream.is_event(value) or stream.is_silent(value)


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every conversation, in order; one that cannot be read is yielded as an error."""
    return families.read(_FAMILY, chunks, file)
