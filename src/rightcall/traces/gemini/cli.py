"""Sessions of Gemini CLI: messages that keep each call with its status and its result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import CallStatus, ToolCall, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import contents, conversation, shapes
from rightcall.traces.conversation import Asked, Event, Said

_STATUSES: Final[dict[str, CallStatus]] = {
    "success": "ok",
    "error": "error",
    "cancelled": "refused",
    "awaiting_approval": "pending",
    "scheduled": "pending",
    "validating": "pending",
    "executing": "pending",
}


def is_session(value: Any) -> bool:
    """Whether a value is a session: its id, the project, and typed messages."""
    return isinstance(value, dict) and {"sessionId", "messages"} <= value.keys() and _has_types(value["messages"])


def _has_types(messages: Any) -> bool:
    return isinstance(messages, list) and all(
        isinstance(one, dict) and isinstance(one.get("type"), str) and "role" not in one for one in messages
    )


def trajectory(session: dict[str, Any]) -> Trajectory:
    """The one trajectory of a session."""
    messages = session["messages"]
    warnings: list[str] = []
    made = conversation.trajectory(messages, _events(messages, warnings), warnings, output=_output(messages))
    identity = str(session["sessionId"])
    return msgspec.structs.replace(made, id=identity, conversation_id=identity)


def _events(messages: list[dict[str, Any]], warnings: list[str]) -> Iterator[Event]:
    for index, message in enumerate(messages):
        if message["type"] == "user":
            yield Said()
        elif message["type"] == "gemini":
            yield Asked(tuple(_calls(message, f"messages[{index}].toolCalls", warnings)))


def _calls(message: dict[str, Any], path: str, warnings: list[str]) -> Iterator[ToolCall]:
    entries = message.get("toolCalls")
    if entries is not None and not isinstance(entries, list):
        raise TraceError(f"expected an array of calls; found {shapes.kind(entries)}", Where(path=path))
    for index, entry in enumerate(entries or ()):
        if not isinstance(entry, dict):
            raise TraceError(f"expected a call, an object; found {shapes.kind(entry)}", Where(path=f"{path}[{index}]"))
        call, notes = shapes.named(entry.get("name"), entry.get("args"), id=entry.get("id"), at=f"{path}[{index}]")
        warnings += notes
        yield _with_outcome(call, entry)


def _with_outcome(call: ToolCall, entry: dict[str, Any]) -> ToolCall:
    status = _STATUSES.get(str(entry.get("status")), "requested")
    result, error = _outcome(entry.get("result"))
    if status in ("error", "refused"):
        error = error or (entry["resultDisplay"] if isinstance(entry.get("resultDisplay"), str) else None)
    else:
        error = None
    started = entry.get("timestamp")
    return msgspec.structs.replace(
        call,
        status=status,
        result=conversation.structured(result),
        error=error,
        started_at=started if isinstance(started, str) else None,
    )


def _outcome(result: Any) -> tuple[Any, str | None]:
    """The response in the parts of a result."""
    for part in result if isinstance(result, list) else ():
        response = part.get("functionResponse") if isinstance(part, dict) else None
        if isinstance(response, dict):
            return contents.outcome(response.get("response"))
    return result, None


def _output(messages: list[dict[str, Any]]) -> Any:
    last = messages[-1] if messages else {}
    said = last.get("content")
    return said if last.get("type") == "gemini" and not last.get("toolCalls") and isinstance(said, str) else None
