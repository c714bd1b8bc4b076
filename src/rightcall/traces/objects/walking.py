"""Any value in JSON types alone, walked without recursion: what has members by them, what is JSON as it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rightcall.core import jsontext
from rightcall.errors import TraceError, Where
from rightcall.traces.objects import dumps, holders, refusals

MAX_VALUES: Final = 5_000_000
"""Values in one object, at most: what is held once and named often is written often."""

_Ancestors = tuple[Any, Any] | None
"""The objects that a value stands in, innermost first."""


def plain(value: Any) -> Any:
    """The value in JSON types alone: tuples as lists, objects of SDKs as they write themselves.

    `TraceError` with its path for what JSON cannot write, what contains itself, what is too large or nested too
    deeply. Without recursion.
    """
    root: list[Any] = [None]
    waiting: list[tuple[Any, Any, Any, str, int, _Ancestors]] = [(value, root, 0, "", 0, None)]
    count = 0
    while waiting:
        item, parent, key, path, depth, ancestors = waiting.pop()
        count += 1
        found, ancestors = _opened(item, path, depth, ancestors)
        copy, members = _split(found, path)
        if depth >= jsontext.MAX_DEPTH and isinstance(copy, dict | list):
            raise _too_deep(path)
        if count + len(waiting) > MAX_VALUES:
            raise TraceError(f"more than {MAX_VALUES:,} values; give the part of it that holds the conversation")
        waiting += [(child, copy, name, at, depth + 1, ancestors) for child, name, at in members]
        parent[key] = copy
    return root[0]


def _opened(item: Any, path: str, depth: int, ancestors: _Ancestors) -> tuple[Any, _Ancestors]:
    """A value as a mapping, a sequence or a scalar, whatever objects it is wrapped in."""
    for _ in range(jsontext.MAX_DEPTH - min(depth, jsontext.MAX_DEPTH) + 1):
        if item is None or isinstance(item, str | int | float):
            return item, ancestors
        ancestors = _inside(item, path, ancestors)
        if type(item) is dict:
            return item, ancestors
        opened = holders.held(item, path)
        if opened is item:
            opened = dumps.members(item, path)
        if opened is item:
            return item, ancestors
        item = opened
    raise _too_deep(path)


def _inside(item: Any, path: str, ancestors: _Ancestors) -> _Ancestors:
    above = ancestors
    while above is not None:
        if above[0] is item:
            raise TraceError(f"an object of type `{type(item).__name__}` contains itself", Where(path=path[:200]))
        above = above[1]
    return (item, ancestors)


def _too_deep(path: str) -> TraceError:
    return TraceError(f"nested deeper than the limit of {jsontext.MAX_DEPTH}", Where(path=path[:200]))


def _split(item: Any, path: str) -> tuple[Any, list[tuple[Any, Any, str]]]:
    """An empty copy of a container with its members, each with its key and path; a scalar has none."""
    if isinstance(item, Mapping):
        names = [(child, _name(name, path)) for name, child in item.items()]
        return dict.fromkeys(name for _, name in names), [
            (child, name, f"{path}.{name}" if path else name) for child, name in names
        ]
    if isinstance(item, Sequence) and not isinstance(item, str | bytes | bytearray | memoryview):
        return [None] * len(item), [(child, at, f"{path}[{at}]") for at, child in enumerate(item)]
    return _scalar(item, path), []


def _name(name: Any, path: str) -> str:
    if not isinstance(name, str):
        raise TraceError(f"expected a string as key; found one of type `{type(name).__name__}`", Where(path=path))
    return str.__str__(name)


def _integer(item: int, path: str) -> int:
    """The number, if it can be written: Python writes integers up to a number of digits (G7)."""
    try:
        str(item)
    except ValueError:
        raise TraceError("an integer with too many digits is out of range", Where(path=path)) from None
    return item


def _scalar(item: Any, path: str) -> Any:
    """A scalar without what a subclass adds: a member of an enumeration of texts is its text."""
    if item is None or isinstance(item, bool):
        return item
    if isinstance(item, str):
        return str.__str__(item)
    if isinstance(item, int):
        return _integer(int.__int__(item), path)
    if isinstance(item, float) and math.isfinite(item):
        return float.__float__(item)
    raise refusals.refused(item, path)
