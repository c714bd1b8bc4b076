"""What holds no recorded conversation, and what to give instead."""

from __future__ import annotations

import types
from collections.abc import Callable, Set
from typing import Any, Final

from rightcall.errors import TraceError, Where


def _has(*names: str) -> Callable[[Any], bool]:
    return lambda value: any(hasattr(type(value), name) for name in names)


_REFUSALS: Final[tuple[tuple[Callable[[Any], bool], str, str], ...]] = (
    (_has("__await__"), "a result that was not awaited", "give `await …`"),
    (
        _has("__anext__", "__aiter__"),
        "an asynchronous stream that was not collected",
        "give `[part async for part in …]`",
    ),
    (_has("__next__"), "a stream that was not collected", "give `list(…)` of it, before anything else consumes it"),
    (
        lambda value: "Manager" in type(value).__name__ and _has("__enter__", "__aenter__")(value),
        "a context that was not entered",
        "give what comes of it inside `with … as`",
    ),
    (lambda value: isinstance(value, type), "a class", "give an instance"),
    (lambda value: isinstance(value, types.ModuleType), "a module", "give what the agent returned"),
    (lambda value: isinstance(value, types.FunctionType | types.MethodType), "a function", "give what it returns"),
    (lambda value: isinstance(value, Set), "a set", "give a list, which has an order"),
)
"""What cannot be read: how it is told, its name, and what to give instead."""


def is_refused(value: Any) -> bool:
    """Whether a value is one of those that cannot be read, whatever fields it has."""
    return any(holds(value) for holds, _, _ in _REFUSALS)


def refused(value: Any, path: str) -> TraceError:
    """The error for a value that is not JSON and does not offer to be written as it."""
    return TraceError(reason(value, _PART if path else _WHOLE), Where(path=path))


_PART: Final = "write it as JSON, or leave it out"
_WHOLE: Final = "give the messages it holds, or what its library writes as JSON"


def reason(value: Any, advice: str = _PART) -> str:
    """What a value is and what to do about it; `advice` is for those of which nothing more is known."""
    if isinstance(value, float):
        return f"expected a JSON value; found {value!r}"
    name = f"`{type(value).__name__}`"
    for holds, what, instead in _REFUSALS:
        if holds(value):
            return f"expected a JSON value; found {what} ({name}); {instead}"
    return f"expected a JSON value; found an object of type {name}; {advice}"
