"""Bedrock Converse, and Strands, which keeps its messages: lists, bodies, events of streams, logs of exchanges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import ToolSpec, Trajectory
from rightcall.errors import TraceError
from rightcall.traces import exchanges, families, records, toolspecs
from rightcall.traces.bedrock import messages, stream

_EVENT: Final = "event"


def _kind(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    if messages.is_message(_unwrapped(value)):
        return families.MESSAGE
    if isinstance(value.get("request"), dict):
        known = _is_request(value["request"]) or _is_response(value.get("response"))
        return families.EXCHANGE if known else None
    if stream.is_event(value):
        return _EVENT
    return families.RECORD if _is_response(value) or _is_request(value) else None


def _unwrapped(value: dict[str, Any]) -> Any:
    """A message out of the record in which a session of Strands keeps it."""
    return value["message"] if isinstance(value.get("message"), dict) and "message_id" in value else value


def _is_response(value: Any) -> bool:
    output = value.get("output") if isinstance(value, dict) else None
    return isinstance(output, dict) and isinstance(output.get("message"), dict)


def _is_request(value: Any) -> bool:
    found = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(found, list) or not all(map(messages.is_message, found)):
        return False
    return bool(found) or "toolConfig" in value


def _whole(value: Any) -> Iterable[Trajectory]:
    if isinstance(value, list):
        history = [_unwrapped(one) if isinstance(one, dict) else one for one in value]
        return [messages.trajectory(history, path="")]
    made = _response(value) if _is_response(value) else _request(value)
    return [msgspec.structs.replace(made, **records.beside(value))]


def _request(value: dict[str, Any]) -> Trajectory:
    return messages.trajectory(value["messages"], _tools(value))


def _response(value: dict[str, Any]) -> Trajectory:
    before = value["messages"] if isinstance(value.get("messages"), list) else []
    return messages.trajectory([*before, *_reply(value)], _tools(value), messages.gaps(value))


def _reply(response: dict[str, Any]) -> list[Any]:
    return [response["output"]["message"]]


def _tools(request: dict[str, Any]) -> tuple[ToolSpec, ...]:
    config = request.get("toolConfig")
    return toolspecs.tools(config.get("tools") if isinstance(config, dict) else None)


def _together(kind: str, values: list[Any]) -> Iterator[Trajectory | TraceError]:
    if kind == families.EXCHANGE:
        listed = [value and _exchange(value) for value in values]
        return exchanges.log(listed, messages.key, messages.trajectory)
    made, gaps = stream.messages(values)
    return iter([messages.trajectory(made, (), gaps, path="")])


def _exchange(value: dict[str, Any]) -> exchanges.Exchange:
    request, response = value["request"], value.get("response")
    history = request.get("messages")
    history = history if isinstance(history, list) else []
    known = exchanges.Exchange(
        history=history,
        tools=_tools(request),
        continues=any(isinstance(one, dict) and one.get("role") == "assistant" for one in history),
    )
    if isinstance(response, list):
        reply, gaps = stream.messages([one for one in response if isinstance(one, dict)])
        return msgspec.structs.replace(known, reply=reply, gaps=gaps)
    if not isinstance(response, dict) or not _is_response(response):
        return known
    return msgspec.structs.replace(known, reply=_reply(response), gaps=messages.gaps(response))


_FAMILY: Final = families.Family(
    expected="a message, request or response of Bedrock Converse", kind=_kind, whole=_whole, together=_together
)


def claims(head: bytes) -> bool:
    """Whether the first value is a message, a body, an event or an exchange of Converse, or a list of these."""
    return families.claims(_FAMILY, head)


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every conversation, in order; one that cannot be read is yielded as an error."""
    return families.read(_FAMILY, chunks, file)
