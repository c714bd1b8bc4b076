"""Request and response bodies, records of conversations, and logs of exchanges, into trajectories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import hidden, records, shapes, snapshots, toolspecs
from rightcall.traces.openai_chat import messages, stream

_READ: Final = frozenset({"messages", "choices", "tools", "functions"})
_SETTINGS: Final = frozenset({"function_call", "tool_choice", "response_format", "parallel_tool_calls"})


def trajectory(value: Any) -> Trajectory:
    """The trajectory of a message list, one message, a body, or a record `{"messages": …, "tools": …}`."""
    if isinstance(value, list):
        return messages.trajectory(value, path="")
    if not isinstance(value, dict):
        raise TraceError(f"expected a conversation; found {shapes.kind(value)}")
    if "role" in value:
        return messages.trajectory([value], path="")
    history, gaps = _history(value), _gaps(value)
    made = messages.trajectory(history, toolspecs.tools(_definitions(value)), gaps, path="messages")
    return msgspec.structs.replace(
        made,
        gaps=(*made.gaps, *_beside(value, made)),
        warnings=(*made.warnings, *_several(value)),
        **records.beside(value),
    )


def _beside(body: dict[str, Any], made: Trajectory) -> tuple[str, ...]:
    """Gaps for calls that stand beside the messages, and are none of those in them."""
    others = {key: part for key, part in body.items() if not (key in _READ | _SETTINGS or _is_compared(key))}
    return hidden.gaps(hidden.signs(others), made.tool_calls or ())


def _is_compared(key: str) -> bool:
    """Whether a key says what should have been called, or what another candidate would have."""
    return records.is_expectation(key) or key.startswith(("expected", "reference", "ground_truth", "rejected"))


def _history(value: dict[str, Any]) -> list[Any]:
    history = value.get("messages", [])
    if not isinstance(history, list):
        raise TraceError(f"expected an array of messages; found {shapes.kind(history)}", Where(path="messages"))
    choices = value.get("choices")
    if choices is not None and not isinstance(choices, list):
        raise TraceError(f"expected an array of choices; found {shapes.kind(choices)}", Where(path="choices"))
    if "messages" not in value and choices is None:
        keys = ", ".join(f"`{key[:40]}`" for key in list(value)[:8]) or "none"
        raise TraceError(f"expected `messages` or `choices`; found the keys {keys}")
    choice = _choice(value)
    return history if choice is None else [*history, choice["message"]]


def _choice(body: dict[str, Any]) -> dict[str, Any] | None:
    """The candidate that counts: the one of index 0, else the first."""
    choices = [choice for choice in body.get("choices") or () if isinstance(choice, dict)]
    choices = [choice for choice in choices if isinstance(choice.get("message"), dict)]
    return next((choice for choice in choices if choice.get("index", 0) == 0), choices[0] if choices else None)


def _several(body: dict[str, Any]) -> tuple[str, ...]:
    count = len(body.get("choices") or ())
    return (f"{count} choices; only the one of index 0 is read",) if count > 1 else ()


def _gaps(body: dict[str, Any]) -> tuple[str, ...]:
    """What the finish reason says is missing."""
    choice = _choice(body)
    if choice is None:
        return ("the response has no choices",) if "choices" in body else ()
    beside = {key: part for key, part in choice.items() if key != "message"}
    found = [*messages.stopped(choice["message"], choice.get("finish_reason")), *hidden.gaps(hidden.signs(beside))]
    if choice.get("finish_reason", "") is None:
        found.append("the stream ends without a finish reason")
    return tuple(found)


def _definitions(body: dict[str, Any]) -> list[Any]:
    """The tools of a request as they stand: `tools`, or `functions` in the legacy form."""
    found = body.get("tools") or body.get("functions")
    return found if isinstance(found, list) else []


def log(exchanges: list[Any]) -> Iterator[Trajectory | TraceError]:
    """The conversations of a log, each by its longest history; `None` is an exchange of another format."""
    bodies, errors = _bodies(exchange for exchange in exchanges if exchange is not None)
    rejected = tuple(f"an exchange of the log was rejected: {error.message}" for error in errors)
    if not bodies:
        yield from errors
    foreign = sum(exchange is None for exchange in exchanges)
    told = [snapshots.Snapshot(_history(body), len(body.get("messages", ()))) for body in bodies]
    for conversation in snapshots.align(told, messages.key):
        members = [bodies[number] for number in conversation.members]
        try:
            yield _logged(conversation, members, foreign, rejected)
        except TraceError as error:
            yield error


def _bodies(exchanges: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[TraceError]]:
    """The exchanges that can be read, each as one body, and what is wrong with the others."""
    bodies, errors = [], []
    for exchange in exchanges:
        body = _body(exchange)
        try:
            _history(body)
            bodies.append(body)
        except TraceError as error:
            errors.append(error)
    return bodies, errors


def _body(exchange: dict[str, Any]) -> dict[str, Any]:
    """Request and response as one body: the history, and the choices that follow it."""
    response = exchange.get("response")
    if isinstance(response, list):
        response = stream.response(chunk for chunk in response if isinstance(chunk, dict))
    choices = response.get("choices") if isinstance(response, dict) else None
    others = {key: part for key, part in response.items() if key != "choices"} if isinstance(response, dict) else None
    beside = {key: part for key, part in exchange.items() if key not in ("request", "response")}
    read = {"choices": [] if choices is None else choices, "response": others, "exchange": beside}
    return {**exchange["request"], **read}


def _logged(
    conversation: snapshots.Conversation, members: list[dict[str, Any]], foreign: int, rejected: tuple[str, ...]
) -> Trajectory:
    gaps = [*rejected, *(gap for body in members if body["choices"] for gap in _gaps(body))]
    if not any(body["choices"] for body in conversation.ending(members)):
        gaps.append("the last request of the log has no response")
    warnings = [warning for body in members for warning in _several(body)]
    if conversation.branched:
        warnings.append("an earlier conversation of the log begins the same; this one is read as a branch of it")
    if foreign:
        note = f"{foreign} exchanges of the log are in another format and are not read"
        (warnings if _begins_late(members[0]) else gaps).append(note)
    offered = toolspecs.tools([tool for body in members for tool in _definitions(body)])
    made = messages.trajectory(conversation.messages, offered, tuple(gaps), path="messages")
    beside = dict.fromkeys(gap for body in members for gap in _beside(body, made))
    return msgspec.structs.replace(
        made,
        gaps=(*made.gaps, *beside),
        warnings=(*made.warnings, *warnings),
        **records.identity(members[0]),
    )


def _begins_late(body: dict[str, Any]) -> bool:
    """Whether the first request already tells of earlier messages of the model."""
    return any(isinstance(item, dict) and item.get("role") == "assistant" for item in body.get("messages") or ())
