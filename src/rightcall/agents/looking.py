"""Where in a JSON value something looks like tool calls that were made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from rightcall.agents import reported
from rightcall.testsets.marks import child
from rightcall.traces import shapes

_DEEP: Final = 40
_TELLING: Final = (*shapes.ARGUMENT_KEYS, *shapes.WRAPPERS, "tool_calls")


class Place(msgspec.Struct, frozen=True):
    """A place in a value, as a JSON path without `$`, and what stands there."""

    path: str
    value: Any


def calls(value: Any) -> list[Place]:
    """The places of what looks like calls, in order; a list of calls is one place. Never definitions of tools."""
    return list(_calls(value, "", 0))


def _calls(value: Any, path: str, depth: int) -> Iterator[Place]:
    if depth > _DEEP:
        return
    if isinstance(value, list):
        if value and all(map(looks_like_call, value)):
            yield Place(path, value)
            return
        for index, item in enumerate(value):
            yield from _calls(item, child(path, index), depth + 1)
    elif isinstance(value, Mapping):
        if looks_like_call(value):
            yield Place(path, value)
            return
        for key, item in value.items():
            yield from _calls(item, child(path, str(key)), depth + 1)


def looks_like_call(value: Any) -> bool:
    """Whether a value is a call with arguments in a known shape, and no definition of a tool."""
    if not isinstance(value, Mapping) or reported.is_definition(value) or not shapes.is_call(value):
        return False
    return any(key in value for key in _TELLING) and "role" not in value
