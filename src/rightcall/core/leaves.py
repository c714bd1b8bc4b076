"""The values inside a JSON value, one by one, and the same value with one of them changed or left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from rightcall.core.values import member

nothing_changed: Final[Any] = object()
"""Stands for a change that would change nothing."""

removed: Final[Any] = object()
"""Stands for a value that is left out."""

Steps = tuple[str | int, ...]


class Leaf(msgspec.Struct, frozen=True):
    """A value that is no object or array with something in it, the keys and indices that lead to it, and its path."""

    steps: Steps
    value: Any
    path: str

    def put(self, whole: Any, value: Any) -> Any:
        """The whole value with another one in the place of this leaf; nothing else is copied than leads to it."""
        if not self.steps:
            return value
        copied = inner = _copy(whole)
        for step in self.steps[:-1]:
            inner[step] = _copy(inner[step])
            inner = inner[step]
        if value is removed:
            del inner[self.steps[-1]]
        else:
            inner[self.steps[-1]] = value
        return copied


def _copy(container: Any) -> Any:
    return dict(container) if isinstance(container, dict) else list(container)


def leaves(value: Any) -> Iterator[Leaf]:
    """Every leaf, in order. A value with nothing inside is its own leaf, but for an empty object of arguments."""
    stack = [Leaf((), value, "")]
    while stack:
        here = stack.pop()
        if isinstance(here.value, dict) and (here.value or not here.steps):
            inner = [Leaf((*here.steps, key), item, member(here.path, str(key))) for key, item in here.value.items()]
            stack.extend(reversed(inner))
        elif isinstance(here.value, list | tuple) and here.value:
            items = enumerate(here.value)
            inner = [Leaf((*here.steps, index), item, f"{here.path}[{index}]") for index, item in items]
            stack.extend(reversed(inner))
        else:
            yield here


def changed(value: Any) -> Any:
    """A value of the same type that is another one; of null, which has no other, a string."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value + 1 if value + 1 != value else -value
    if isinstance(value, str):
        return f"{value}~"
    if isinstance(value, dict):
        return {"unknown_key": 1}
    return "~" if value is None else [1]
