"""Gemini and Vertex AI: contents, requests, responses, streams of chunks, logs of exchanges, Gemini CLI sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import ToolSpec, Trajectory
from rightcall.errors import TraceError
from rightcall.traces import contents, conversation, exchanges, families, records, stopping, toolspecs
from rightcall.traces.conversation import Event
from rightcall.traces.gemini import cli, stream

_FAILED_CALLS: Final = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"})


def _kind(value: Any) -> str | None:
    if not isinstance(value, dict) or {"author", "invocationId", "invocation_id"} & value.keys():
        return None
    if contents.is_content(value):
        return families.MESSAGE
    if isinstance(value.get("request"), dict):
        return families.EXCHANGE if _is_body(value["request"]) else None
    if _is_response(value):
        return f"stream {contents.field(value, 'responseId') or ''}"
    return families.RECORD if _is_body(value) or cli.is_session(value) else None


def _is_response(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_is_response, value))
    if not isinstance(value, dict):
        return False
    found = value.get("candidates")
    if isinstance(found, list):
        return all(isinstance(one, dict) and not {"message", "delta"} & one.keys() for one in found)
    return bool({"promptFeedback", "prompt_feedback", "usageMetadata"} & value.keys()) and "content" not in value


def _is_body(value: Any) -> bool:
    found = value.get("contents") if isinstance(value, dict) else None
    return isinstance(found, str) or (isinstance(found, list) and all(map(_is_history, found)))


def _is_history(value: Any) -> bool:
    return isinstance(value, str) or contents.is_content(value)


def _whole(value: Any) -> Iterable[Trajectory]:
    if isinstance(value, list):
        return [_conversation(value, path="")]
    if cli.is_session(value):
        return [cli.trajectory(value)]
    return [msgspec.structs.replace(_body(value), **records.beside(value))]


def _body(value: dict[str, Any]) -> Trajectory:
    history = value["contents"]
    return _conversation([history] if isinstance(history, str) else history, _tools(value), path="contents")


def _tools(request: Any) -> tuple[ToolSpec, ...]:
    """The tools of a request, which SDKs keep in its `config`."""
    config = request.get("config")
    entries = request.get("tools") or (config.get("tools") if isinstance(config, dict) else None)
    return toolspecs.tools([entries] if isinstance(entries, dict) else entries)


def _together(kind: str, values: list[Any]) -> Iterator[Trajectory | TraceError]:
    if kind == families.EXCHANGE:
        return exchanges.log([value and _exchange(value) for value in values], contents.key, _conversation)
    return iter([_response(values)])


def _response(chunks: list[Any]) -> Trajectory:
    history, gaps, warnings = _told(chunks)
    made = _conversation(history, gaps=gaps, path="")
    identity = contents.field(chunks[0], "responseId")
    return msgspec.structs.replace(
        made, id=identity if isinstance(identity, str) else "", warnings=(*made.warnings, *warnings)
    )


def _told(chunks: list[Any]) -> tuple[list[Any], tuple[str, ...], tuple[str, ...]]:
    """The contents of a response, what is missing from it, and warnings."""
    histories = (contents.field(chunk, "automaticFunctionCallingHistory") for chunk in chunks)
    history: list[Any] = next((one for one in histories if isinstance(one, list)), [])
    several = max(len(chunk.get("candidates") or ()) for chunk in chunks)
    warnings = (f"{several} candidates; only the one of index 0 is read",) if several > 1 else ()
    if not any(map(stream.candidate_of, chunks)):
        return [*history], ("the response has no candidates",), warnings
    content, finish = stream.content(chunks)
    gaps = _gaps(content, finish, len(chunks))
    return [*history, content], gaps, warnings


def _gaps(content: dict[str, Any], finish: str | None, chunks: int) -> tuple[str, ...]:
    if finish is None and not content["parts"]:
        return ("the response has neither parts nor a finish reason",)
    if finish is None:
        return ("the stream ends without a finish reason",) if chunks > 1 else ()
    if finish.rpartition(".")[2] in _FAILED_CALLS:
        return (f"the finish reason is `{finish}`: the model wrote a call that is not recorded",)
    text = contents.text(content)
    return tuple(stopping.gaps(finish, calls=text is None, text=bool(text)))


def _exchange(value: dict[str, Any]) -> exchanges.Exchange:
    request, response = value["request"], value.get("response")
    history = request["contents"]
    known = exchanges.Exchange(history=[history] if isinstance(history, str) else history, tools=_tools(request))
    if not _is_response(response):
        return known
    reply, gaps, warnings = _told(response if isinstance(response, list) else [response])
    continues = any(isinstance(one, dict) and one.get("role") == "model" for one in known.history)
    return msgspec.structs.replace(known, reply=reply, gaps=gaps, warnings=warnings, continues=continues)


def _conversation(
    history: list[Any], tools: tuple[ToolSpec, ...] = (), gaps: tuple[str, ...] = (), path: str = "contents"
) -> Trajectory:
    history = [{"role": "user", "parts": [{"text": one}]} if isinstance(one, str) else one for one in history]
    warnings: list[str] = []
    told = _events(history, path, warnings)
    output = contents.text(history[-1]) if history else None
    return conversation.trajectory(history, told, warnings, path=path, tools=tools, gaps=gaps, output=output or None)


def _events(history: list[Any], path: str, warnings: list[str]) -> Iterator[Event]:
    for index, content in enumerate(history):
        yield from contents.events(content, f"{path}[{index}]", warnings)


_FAMILY: Final = families.Family(
    expected="a Gemini content, request or response", kind=_kind, whole=_whole, together=_together
)


def claims(head: bytes) -> bool:
    """Whether the first value is a content, a body, a chunk, an exchange or a session of Gemini."""
    return families.claims(_FAMILY, head)


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every conversation, in order; one that cannot be read is yielded as an error."""
    return families.read(_FAMILY, chunks, file)
