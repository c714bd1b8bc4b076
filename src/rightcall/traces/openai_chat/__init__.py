"""OpenAI Chat Completions: message lists, requests, responses, streams of chunks, and logs of exchanges.

Each line of a JSONL file, and each element of an array, is one conversation; lines that are single messages,
chunks of a stream, or pairs of request and response are put together first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from rightcall.core import jsontext
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import documents, families, heads
from rightcall.traces.openai_chat import bodies, messages, stream


def claims(head: bytes) -> bool:
    """Whether the first value is a message, a body or an exchange of this format, or a list of these."""
    value = heads.sketch(head)
    if len(head) >= documents.HEAD:
        value = _without_cut(value)
    if isinstance(value, list):
        parts = [_kind(element) for element in value]
        return bool(parts) and (None not in parts or "exchange" in parts)
    return _kind(value) is not None


def _without_cut(value: Any) -> Any:
    """A sketch without the last of several messages, which may be cut off."""
    if isinstance(value, list) and len(value) > 1:
        return value[:-1]
    if isinstance(value, dict) and isinstance(value.get("messages"), list) and len(value["messages"]) > 1:
        return {**value, "messages": value["messages"][:-1]}
    return value


def _kind(value: Any) -> str | None:
    """Which part of the format a value is: a conversation of its own, or something to put together."""
    if isinstance(value, list):
        return "conversation" if value and all(map(messages.is_message, value)) else None
    if not isinstance(value, dict):
        return None
    if _is_exchange(value):
        return "exchange"
    if _is_chunk(value):
        return "chunk"
    if messages.is_message(value):
        return "message"
    return "conversation" if _is_body(value) else None


def _is_exchange(value: Any) -> bool:
    """Whether a value is a request with its response, as proxies and recorders log them."""
    if not isinstance(value, dict) or not isinstance(value.get("request"), dict):
        return False
    request, response = value["request"], value.get("response")
    if isinstance(response, dict) and response and "choices" not in response and "error" not in response:
        return False
    return _is_body(request) and ("chat/completions" in str(value.get("url")) or bool(response))


def _is_chunk(value: dict[str, Any]) -> bool:
    choices = value.get("choices")
    if choices == [] and "prompt_filter_results" in value:
        return True
    return value.get("object") == "chat.completion.chunk" or (
        isinstance(choices, list) and bool(choices) and all(isinstance(c, dict) and "delta" in c for c in choices)
    )


def _is_body(value: dict[str, Any]) -> bool:
    """Whether a value is a request or response body, or a record of a fine-tuning file."""
    history, choices = value.get("messages"), value.get("choices")
    if isinstance(choices, list):
        return all(isinstance(choice, dict) and isinstance(choice.get("message"), dict) for choice in choices)
    if not isinstance(history, list) or {"steps", "simulations", "sessionId", "toolConfig"} & value.keys():
        return False
    tools = value.get("tools")
    native = isinstance(tools, list) and any(isinstance(t, dict) and "input_schema" in t for t in tools)
    return not native and all(map(messages.is_message, history))


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every conversation, in order; one that cannot be read is yielded as an error."""
    gathered = _Gathered()
    for item in documents.documents(chunks):
        if isinstance(item, TraceError):
            if gathered:
                gathered.gaps.append(f"line {item.where.line} was rejected: {item.message}")
            else:
                yield item.within(file=file)
            continue
        for value, path in _elements(item.value):
            if too_large := _too_large(value, path, item):
                yield too_large.within(file=file, line=item.line)
            elif not gathered.take(value):
                yield from _placed([_conversation(value, path)], file, item.line)
    yield from _placed(gathered.trajectories(), file, None)


def _placed(items: Iterable[Trajectory | TraceError], file: str, line: int | None) -> Iterator[Trajectory | TraceError]:
    for item in items:
        yield item.within(file=file, line=line) if isinstance(item, TraceError) else item


def _elements(value: Any) -> Iterable[tuple[Any, str]]:
    """One document as the conversations, or the parts of one, that it holds."""
    if not isinstance(value, list) or not value or all(map(_has_role, value)):
        return [(value, "")]
    return [(element, f"[{index}]") for index, element in enumerate(value)]


def _too_large(value: Any, path: str, document: documents.Document) -> TraceError | None:
    try:
        documents.within_limit(value, document)
    except TraceError as error:
        error.record_id = _identity(value)
        return error.within(path=path)
    return None


def _has_role(value: Any) -> bool:
    return isinstance(value, dict) and "role" in value


class _Gathered:
    """What lines or elements add up to: one conversation of messages, streams by id, a log of exchanges."""

    def __init__(self) -> None:
        self.gaps: list[str] = []
        self._messages: list[Any] = []
        self._streams: dict[str, list[Any]] = {}
        self._exchanges: list[Any] = []

    def __bool__(self) -> bool:
        return bool(self._messages or self._streams or self._exchanges)

    def take(self, value: Any) -> bool:
        """Whether the value is part of something; then it is kept."""
        kind = _kind(value)
        if kind == "message":
            self._messages.append(value)
        elif kind == "chunk":
            self._streams.setdefault(str(value.get("id")), []).append(value)
        elif kind == "exchange":
            self._exchanges.append(value)
        elif isinstance(value, dict) and "request" in value and "response" in value:
            self._exchanges.append(None)
        else:
            return False
        return True

    def trajectories(self) -> Iterator[Trajectory | TraceError]:
        gaps = tuple(self.gaps)
        if self._messages:
            yield _with_gaps(_conversation(self._messages, ""), gaps)
        for chunks in self._captured():
            yield _with_gaps(_conversation(stream.response(chunks), ""), gaps)
        for made in bodies.log(self._exchanges):
            yield _with_gaps(made, gaps)

    def _captured(self) -> Iterator[list[Any]]:
        """The chunks of each stream. Chunks without choices tell nothing, and make no stream beside others."""
        told = [chunks for chunks in self._streams.values() if any(chunk.get("choices") for chunk in chunks)]
        for chunks in told or self._streams.values():
            yield from families.runs(chunks, stream.is_last, stream.is_first)


def _with_gaps(made: Trajectory | TraceError, gaps: tuple[str, ...]) -> Trajectory | TraceError:
    if isinstance(made, TraceError) or not gaps:
        return made
    return msgspec.structs.replace(made, gaps=(*made.gaps, *gaps))


def _conversation(value: Any, path: str) -> Trajectory | TraceError:
    try:
        jsontext.check_depth(value)
        return bodies.trajectory(value)
    except jsontext.JSONError as error:
        return TraceError(error.message, Where(path=path), _identity(value))
    except TraceError as error:
        error.record_id = _identity(value)
        return error.within(path=path)


def _identity(value: Any) -> str | None:
    identity = value.get("id") if isinstance(value, dict) else None
    return identity if isinstance(identity, str) else None
