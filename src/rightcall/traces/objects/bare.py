"""Calls that stand alone or in a list, without a record around them."""

from __future__ import annotations

from typing import Any, Final

from rightcall.core.calls import ToolCall
from rightcall.errors import TraceError
from rightcall.traces import shapes

_NOTHING: Final = 'an empty list may be no calls or nothing recorded; if no calls were made, give `{"tool_calls": []}`'
_OWN_FIELDS: Final = frozenset({*ToolCall.__struct_fields__, "type"})
_CALL_PARTS: Final = frozenset({*shapes.ARGUMENT_KEYS, *shapes.WRAPPERS, "custom"})
_OF_OTHERS: Final = frozenset({"role", "tool_calls", "messages", "attributes", "context", "triggers", "interrupts"})


def record(value: Any) -> Any:
    """A record around bare calls; any other value as it is. `TraceError` for a list that holds nothing."""
    if value == []:
        raise TraceError(_NOTHING)
    if isinstance(value, list) and any(map(_is_bare_call, value)) and not any(map(_is_of_a_story, value)):
        return {"tool_calls": [_told(call) for call in value]}
    return {"tool_calls": [_told(value)]} if _is_bare_call(value) else value


def _told(call: Any) -> Any:
    """A call without the fields of an SDK that are not set, which are nothing to warn about."""
    if not isinstance(call, dict):
        return call
    return {key: value for key, value in call.items() if value is not None or key in _OWN_FIELDS | shapes.READ}


def _is_bare_call(value: Any) -> bool:
    """Whether a value is a single call, and not a record, a message, an item, a task or a span that has a name."""
    if isinstance(value, dict) and (_is_item(value) or value.keys() & _OF_OTHERS):
        return False
    if isinstance(value, dict) and not value.keys() & _CALL_PARTS:
        return value.keys() <= _OWN_FIELDS and shapes.is_call(value)
    return shapes.is_call(value)


def _is_of_a_story(value: Any) -> bool:
    """Whether a value stands among the calls of a conversation: a message, an item, a block of a content."""
    if not isinstance(value, dict) or _is_bare_call(value):
        return False
    return "role" in value or isinstance(value.get("type"), str)


def _is_item(value: dict[str, Any]) -> bool:
    """Whether a value is one of the typed items of a conversation, which the formats that have them read."""
    kind = str(value.get("type"))
    return kind.endswith(("_call", "_output", "_use", "_result")) and kind not in ("tool_call", "tool_use")
