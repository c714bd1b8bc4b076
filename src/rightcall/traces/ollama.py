"""Ollama's chat API: responses, streamed or whole, and logs of exchanges. Bare messages are those of OpenAI chat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from rightcall.core.calls import ToolSpec, Trajectory
from rightcall.errors import TraceError
from rightcall.traces import chat, conversation, exchanges, families, stopping, toolspecs
from rightcall.traces.conversation import Answered

_CHUNK: Final = "chunk"


def _is_chunk(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("done"), bool):
        return False
    return isinstance(value.get("message"), dict) and isinstance(value.get("model"), str)


def _is_request(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("messages"), list) and isinstance(value.get("model"), str)


def _kind(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    if _is_chunk(value):
        return _CHUNK
    response = value.get("response")
    pieces = response if isinstance(response, list) else [response]
    known = _is_request(value.get("request")) and bool(pieces) and all(map(_is_chunk, pieces))
    return families.EXCHANGE if known else None


def _whole(value: Any) -> Iterable[Trajectory]:
    raise TraceError("expected a response of Ollama; bare messages are read as `openai-chat`")


def _together(kind: str, values: list[Any]) -> Iterator[Trajectory | TraceError]:
    if kind == families.EXCHANGE:
        yield from exchanges.log([value and _exchange(value) for value in values], _key, _conversation)
        return
    for pieces in families.runs(values, lambda piece: bool(piece["done"])):
        message, gaps = _message(pieces)
        yield _conversation([message], (), gaps, path="")


def _message(pieces: list[dict[str, Any]]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The whole message of a response: texts joined, calls in order; each piece holds whole calls."""
    messages = [piece["message"] for piece in pieces]
    texts = [message["content"] for message in messages if isinstance(message.get("content"), str)]
    listed = [message["tool_calls"] for message in messages if isinstance(message.get("tool_calls"), list)]
    calls = [call for entries in listed for call in entries]
    reason, text = pieces[-1].get("done_reason"), "".join(texts)
    cut = stopping.gaps(reason, calls=bool(calls), text=bool(text), word="done reason")
    gaps = tuple(cut) if pieces[-1]["done"] else ("the stream ends before its last piece",)
    return {"role": "assistant", "content": text, "tool_calls": calls}, gaps


def _exchange(value: dict[str, Any]) -> exchanges.Exchange:
    request, response = value["request"], value["response"]
    message, gaps = _message(response if isinstance(response, list) else [response])
    return exchanges.Exchange(
        history=request["messages"],
        reply=[message],
        gaps=gaps,
        tools=toolspecs.tools(request.get("tools")),
        continues=any(isinstance(one, dict) and one.get("role") == "assistant" for one in request["messages"]),
    )


def _key(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    calls = chat.calls(message)
    return message.get("role"), message.get("content") or None, [(call.name, call.arguments) for call in calls]


def _conversation(
    messages: list[Any], tools: tuple[ToolSpec, ...] = (), gaps: tuple[str, ...] = (), path: str = "messages"
) -> Trajectory:
    warnings: list[str] = []
    told = chat.events(messages, path, warnings, _WORDS)
    return conversation.trajectory(
        messages, told, warnings, path=path, tools=tools, gaps=gaps, output=chat.output(messages)
    )


def _answers(message: dict[str, Any], place: str) -> Iterator[Answered]:
    name = message.get("tool_name") or message.get("name")
    yield chat.answer(message, place, result=message.get("content"), name=name)


_WORDS: Final = chat.Words(answers=_answers)
_FAMILY: Final = families.Family(expected="a response of Ollama", kind=_kind, whole=_whole, together=_together)


def claims(head: bytes) -> bool:
    """Whether the first value is a response or an exchange of Ollama, or a list of these."""
    return families.claims(_FAMILY, head)


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every response and every conversation of a log, in order; one that cannot be read is yielded as an error."""
    return families.read(_FAMILY, chunks, file)
