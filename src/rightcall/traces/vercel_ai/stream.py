"""Parts of a stream, of the SDK itself or of the protocol for user interfaces, into messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from rightcall.traces.vercel_ai import parts

_TOOLS: Final = frozenset(
    {
        "tool-call",
        "tool-result",
        "tool-error",
        "tool-output-denied",
        "tool-approval-request",
        "tool-input-start",
        "tool-input-delta",
        "tool-input-end",
        "tool-input-available",
        "tool-input-error",
        "tool-output-available",
        "tool-output-error",
        "tool-call-streaming-start",
        "tool-call-delta",
    }
)
_OTHERS: Final = frozenset({"start", "finish", "start-step", "finish-step", "step-start", "step-finish", "abort"})
_ENDS: Final = frozenset({"finish", "abort", "error"})
_BEGINS: Final = frozenset({"start", "start-step", "step-start"})
_TEXTS: Final = frozenset({"text-delta", "reasoning", "data"})


def is_part(value: Any) -> bool:
    """Whether a value is a part of a stream that says something of calls, steps, or its end."""
    if not isinstance(value, dict) or {"role", "content", "message"} & value.keys():
        return False
    kind = str(value.get("type"))
    return (kind in _TOOLS and bool({"toolCallId", "id"} & value.keys())) or kind in _OTHERS


def is_silent(value: Any) -> bool:
    """Whether a value is a part that says nothing of calls."""
    return isinstance(value, dict) and isinstance(value.get("type"), str) and "role" not in value


def is_text(value: Any) -> bool:
    """Whether a value is a part of text, with which a stream of version 4 may begin."""
    return isinstance(value, dict) and str(value.get("type")) in _TEXTS and len(value) == 2


def is_first(value: dict[str, Any]) -> bool:
    """Whether a part begins a stream or a step."""
    return str(value.get("type")) in _BEGINS


def is_last(value: dict[str, Any]) -> bool:
    """Whether a part ends a stream."""
    return str(value.get("type")) in _ENDS


def messages(values: Iterable[dict[str, Any]]) -> tuple[list[Any], tuple[str, ...]]:
    """One message of the model a step, with its results, and what is missing."""
    told = _Stream()
    ended = False
    for value in values:
        told.add(value)
        ended = is_last(value)
    return told.messages(), () if ended else ("the stream ends without its last part",)


class _Stream:
    """Steps that grow by parts; a call counts when its whole input has come."""

    def __init__(self) -> None:
        self._steps: list[list[dict[str, Any]]] = [[]]
        self._begun: dict[str, list[str]] = {}

    def add(self, value: dict[str, Any]) -> None:
        kind = str(value["type"])
        identity = str(value.get("toolCallId", value.get("id")))
        if kind in ("start-step", "step-start") and self._steps[-1]:
            self._steps.append([])
        elif kind in ("tool-input-start", "tool-call-streaming-start"):
            self._begun[identity] = [str(value.get("toolName", ""))]
        elif kind in ("tool-input-delta", "tool-call-delta"):
            piece = next((value[key] for key in ("delta", "inputTextDelta", "argsTextDelta") if key in value), "")
            self._begun.setdefault(identity, [""]).append(str(piece))
        elif kind in _WRITTEN:
            self._begun.pop(identity, None)
            self._steps[-1] += _WRITTEN[kind](value)

    def messages(self) -> list[Any]:
        left = [parts.cut_call(name, key, "".join(text)) for key, (name, *text) in self._begun.items()]
        self._steps[-1] += left
        return [{"role": "assistant", "content": step} for step in self._steps if step]


def _as_it_is(value: dict[str, Any]) -> list[dict[str, Any]]:
    return [value]


def _available(value: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**value, "type": "tool-call"}]


def _input_error(value: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**value, "type": "tool-call"}, *_output_error(value)]


def _output_available(value: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**value, "type": "tool-result", "input": None}]


def _output_error(value: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "tool-error", "toolCallId": value.get("toolCallId"), "error": value.get("errorText")}]


_WRITTEN: Final = {
    "tool-call": _as_it_is,
    "tool-result": _as_it_is,
    "tool-error": _as_it_is,
    "tool-output-denied": _as_it_is,
    "tool-approval-request": _as_it_is,
    "tool-input-available": _available,
    "tool-input-error": _input_error,
    "tool-output-available": _output_available,
    "tool-output-error": _output_error,
}
"""The parts of a message that each part of a stream stands for."""
