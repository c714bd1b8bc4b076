"""Events of a Cohere stream into the responses that they add up to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from rightcall.traces import shapes

_EVENTS: Final = frozenset({"message-start", "tool-call-start", "tool-call-delta", "tool-call-end", "message-end"})
_SILENT: Final = frozenset(
    {"tool-plan-delta", "content-start", "content-delta", "content-end", "citation-start", "citation-end", "debug"}
)


def is_event(value: Any) -> bool:
    """Whether a value is an event that says something of calls, or of where a message begins and ends."""
    return isinstance(value, dict) and str(value.get("type")) in _EVENTS and "role" not in value


def is_silent(value: Any) -> bool:
    """Whether a value is an event that says nothing of calls."""
    return isinstance(value, dict) and str(value.get("type")) in _SILENT


def responses(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The responses in order; the finish reason is null where it never came."""
    made: list[_Response] = []
    for event in events:
        if event["type"] == "message-start" or not made:
            made.append(_Response())
        made[-1].add(event)
    return [response.whole() for response in made]


class _Response:
    """A response that grows by events; calls are told apart by their index."""

    def __init__(self) -> None:
        self._id: Any = None
        self._finish: Any = None
        self._calls: dict[str, dict[str, Any]] = {}

    def add(self, event: dict[str, Any]) -> None:
        delta = event.get("delta")
        if event["type"] == "message-start":
            self._id = event.get("id")
        elif event["type"] == "message-end":
            self._finish = delta.get("finish_reason") if isinstance(delta, dict) else None
        elif isinstance(part := _calls(delta), dict):
            call = self._calls.setdefault(str(event.get("index")), {"function": {"name": "", "arguments": ""}})
            _extend(call, part)

    def whole(self) -> dict[str, Any]:
        calls = list(self._calls.values())
        if self._finish is None and calls and not calls[-1]["function"]["arguments"]:
            calls[-1] = {**calls[-1], shapes.AWAITED: True}
        message = {"role": "assistant", "tool_calls": calls}
        return {"id": self._id, "message": message, "finish_reason": self._finish}


def _calls(delta: Any) -> Any:
    message = delta.get("message") if isinstance(delta, dict) else None
    return message.get("tool_calls") if isinstance(message, dict) else None


def _extend(call: dict[str, Any], part: dict[str, Any]) -> None:
    function = part.get("function")
    call |= {key: part[key] for key in ("id", "type") if part.get(key)}
    if isinstance(function, dict):
        whole = call["function"]
        whole["name"] = whole["name"] or function.get("name") or ""
        whole["arguments"] += function["arguments"] if isinstance(function.get("arguments"), str) else ""
