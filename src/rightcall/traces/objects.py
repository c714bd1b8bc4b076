"""Values of Python programs into JSON: what a program holds in memory is read like a file."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from rightcall.core import jsontext
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import shapes


def document(value: Any) -> bytes:
    """A value as the JSON text of a trace. Text is taken as such a text itself; a bare call becomes a record."""
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes | bytearray):
        return _text(bytes(value))
    return jsontext.encode(_as_record(plain(value)))


def _text(text: bytes) -> bytes:
    try:
        value = jsontext.decode(text)
    except jsontext.JSONError:
        return text
    return jsontext.encode(_as_record(value))


def _as_record(value: Any) -> Any:
    """Calls that stand alone or in a list, without a record around them, get one."""
    if value == []:
        return {"tool_calls": []}
    if isinstance(value, list) and any(map(_is_bare_call, value)) and not any(map(_is_of_a_story, value)):
        return {"tool_calls": value}
    return {"tool_calls": [value]} if _is_bare_call(value) else value


def _is_bare_call(value: Any) -> bool:
    """Whether a value is a single call, and not a record, a message, an item or a span that has a name."""
    if isinstance(value, dict) and _is_item(value):
        return False
    if isinstance(value, dict) and value.keys() & {"role", "tool_calls", "messages", "attributes", "context"}:
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


_OWN_FIELDS = frozenset({*ToolCall.__struct_fields__, "type"})
_CALL_PARTS = frozenset({*shapes.ARGUMENT_KEYS, *shapes.WRAPPERS, "custom"})


def only(items: Iterable[Trajectory | TraceError]) -> Trajectory:
    """The one trajectory among the items; `TraceError` if it is broken, or if there is none or more than one."""
    found = list(items)
    for item in found:
        if isinstance(item, TraceError):
            raise item
    made = [item for item in found if isinstance(item, Trajectory)]
    if len(made) != 1:
        count = len(made) or "no"
        raise TraceError(f"expected one trajectory; found {count}; use the reader of traces to read several")
    return made[0]


def plain(value: Any) -> Any:
    """The value in JSON types alone: tuples as lists, objects of SDKs by `model_dump` or `to_dict`.

    `TraceError` with its path for what JSON cannot write or what is nested too deeply. Without recursion.
    """
    root: list[Any] = [None]
    waiting: list[tuple[Any, Any, Any, str, int]] = [(value, root, 0, "", 0)]
    while waiting:
        item, parent, key, path, depth = waiting.pop()
        item = _dumped(item, path)
        if isinstance(item, dict):
            copy: Any = dict.fromkeys(item)
            waiting += [(child, copy, name, _member(name, path), depth + 1) for name, child in item.items()]
        elif isinstance(item, list | tuple):
            copy = [None] * len(item)
            waiting += [(child, copy, at, f"{path}[{at}]", depth + 1) for at, child in enumerate(item)]
        else:
            copy = _scalar(item, path)
        if depth >= jsontext.MAX_DEPTH and isinstance(copy, dict | list):
            raise TraceError(f"nested deeper than the limit of {jsontext.MAX_DEPTH}", Where(path=path[:200]))
        parent[key] = copy
    return root[0]


def _dumped(item: Any, path: str) -> Any:
    """An object of an SDK as the dictionary it offers; anything else as it is."""
    if isinstance(item, dict | list | tuple | str | int | float | None):
        return item
    for method, settings in (("model_dump", {"mode": "json"}), ("to_dict", {})):
        dump = getattr(item, method, None)
        if callable(dump) and not isinstance(item, type):
            try:
                return dump(**settings)
            except Exception as error:
                raise TraceError(f"`{method}` failed: {error}", Where(path=path)) from error
    return item


def _member(name: Any, path: str) -> str:
    if not isinstance(name, str):
        raise TraceError(f"expected a string as key; found one of type `{type(name).__name__}`", Where(path=path))
    return f"{path}.{name}" if path else name


def _integer(item: int, path: str) -> int:
    """The number, if it can be written: Python writes integers up to a number of digits (G7)."""
    try:
        str(item)
    except ValueError:
        raise TraceError("an integer with too many digits is out of range", Where(path=path)) from None
    return item


def _scalar(item: Any, path: str) -> Any:
    if item is None or isinstance(item, bool):
        return item
    if isinstance(item, str):
        return str(item)
    if isinstance(item, int):
        return _integer(int(item), path)
    if isinstance(item, float) and math.isfinite(item):
        return float(item)
    what = repr(item) if isinstance(item, float) else f"an object of type `{type(item).__name__}`"
    raise TraceError(f"expected a JSON value; found {what}", Where(path=path))
