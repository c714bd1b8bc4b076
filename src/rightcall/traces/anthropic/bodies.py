"""Requests, responses, results of batches and logs of exchanges into trajectories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from rightcall.core.calls import ToolSpec, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import blocks, conversation, exchanges, records, stopping, toolspecs
from rightcall.traces.anthropic import stream


def is_body(value: Any) -> bool:
    """Whether a value is a request, a response, or the result of one request of a batch."""
    if not isinstance(value, dict):
        return False
    return _is_request(value) or is_response(value) or _is_batched(value)


def is_content(value: Any) -> bool:
    """Whether a value is the content of one message of the model: blocks, a call among them."""
    if not isinstance(value, list) or not any(map(blocks.is_call, value)):
        return False
    return blocks.is_message({"role": "assistant", "content": value})


def is_response(value: Any) -> bool:
    """Whether a value is a response: a message of the model with what the provider adds."""
    return blocks.is_message(value) and value["role"] == "assistant" and "stop_reason" in value


def _is_request(value: dict[str, Any]) -> bool:
    history = value.get("messages")
    if not isinstance(history, list) or value.keys() & {"role", "choices", "steps", "simulations", "sessionId"}:
        return False
    return all(map(blocks.is_message, history)) and not _has_chat_tools(value)


def _has_chat_tools(value: dict[str, Any]) -> bool:
    tools = value.get("tools")
    return isinstance(tools, list) and any(isinstance(tool, dict) and "function" in tool for tool in tools)


def _is_batched(value: dict[str, Any]) -> bool:
    result = value.get("result")
    if not isinstance(value.get("custom_id"), str) or not isinstance(result, dict):
        return False
    return is_response(result.get("message")) or result.get("type") in ("errored", "expired", "canceled")


def is_own(value: Any) -> bool:
    """Whether a body has what only this format has."""
    if not is_body(value):
        return False
    if is_response(value) or _is_batched(value):
        return True
    tools = value.get("tools")
    native = isinstance(tools, list) and any(isinstance(tool, dict) and "input_schema" in tool for tool in tools)
    named = "anthropic_version" in value or ("system" in value and "max_tokens" in value)
    return native or named or any(map(blocks.is_own, value["messages"]))


def is_exchange(value: dict[str, Any]) -> bool:
    """Whether a request and its response are of this format."""
    request, response = value["request"], value["response"]
    if not _is_request(request):
        return False
    if isinstance(response, list):
        return bool(response) and all(map(stream.is_event, response))
    if isinstance(response, dict) and response and response.get("type") != "error":
        return is_response(response)
    return "/messages" in str(value.get("url")) or is_own(request)


def trajectory(value: Any) -> Trajectory:
    """The trajectory of a list of messages, one message, its content, or a body."""
    if is_content(value):
        return _told([{"role": "assistant", "content": value}], path="")
    if isinstance(value, list):
        return _told(value, path="")
    if not isinstance(value, dict) or not is_body(value):
        return _told([value], path="")
    if is_response(value):
        made = _told([value], gaps=gaps(value), path="")
        return msgspec.structs.replace(made, **records.identity(value))
    if _is_batched(value):
        return _batched(value)
    made = _told(value["messages"], toolspecs.tools(value.get("tools")))
    return msgspec.structs.replace(made, **records.beside(value))


def _batched(value: dict[str, Any]) -> Trajectory:
    result = value["result"]
    if not is_response(result.get("message")):
        raise TraceError(
            f"the request of a batch has no response; its result is `{result['type']}`", Where(path="result")
        )
    return msgspec.structs.replace(trajectory(result["message"]), id=value["custom_id"])


def _told(
    messages: list[Any], tools: tuple[ToolSpec, ...] = (), gaps: tuple[str, ...] = (), path: str = "messages"
) -> Trajectory:
    reading = blocks.Reading()
    single = path == "" and len(messages) == 1
    places = [path if single else f"{path}[{index}]" for index in range(len(messages))]
    events = [event for message, at in zip(messages, places, strict=True) for event in reading.events(message, at)]
    made = conversation.trajectory(
        messages,
        events,
        reading.warnings,
        path=path,
        tools=tools,
        gaps=gaps,
        searched=zip(messages, places, strict=True),
    )
    made = reading.nested(made)
    return msgspec.structs.replace(
        made, output=blocks.output(messages), gaps=(*made.gaps, *blocks.replaced(messages, places))
    )


def gaps(response: dict[str, Any]) -> tuple[str, ...]:
    """What the stop reason says is missing."""
    reason, content = response.get("stop_reason"), response["content"]
    if isinstance(response.get("gaps"), list) and response["gaps"]:
        return tuple(response["gaps"])
    text = blocks.ends_in_text(content)
    return tuple(stopping.gaps(reason, calls=any(map(blocks.is_call, content)), text=text, word="stop reason"))


def log(values: list[Any]) -> Iterator[Trajectory | TraceError]:
    """The conversations of a log, each by its longest history; `None` is an exchange of another format."""
    yield from exchanges.log([value and _exchange(value) for value in values], blocks.key, _told)


def _exchange(value: dict[str, Any]) -> exchanges.Exchange:
    request, response = value["request"], value["response"]
    if isinstance(response, list):
        response = next(iter(stream.responses(response)), None)
    history = request["messages"]
    known = exchanges.Exchange(
        history=history,
        tools=toolspecs.tools(request.get("tools")),
        identity=records.identity(request),
        continues=any(message["role"] == "assistant" for message in history),
    )
    if not is_response(response):
        return known
    reply = {"role": "assistant", "content": response["content"]}
    return msgspec.structs.replace(known, reply=[reply], gaps=gaps(response))
