"""What a value offers to be written with: the dump of its library, or its fields.

A dump is asked for as it is written to JSON (times as text, bytes in base64 or UTF-8 as the library has it). Values
are written by their own class, not by the one that a field declares: a list declared to hold messages in general
still shows the calls of those in it.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, Final

import msgspec

from rightcall.errors import TraceError, Where
from rightcall.traces.objects import refusals


def members(value: Any, path: str) -> Any:
    """What the value writes itself as; the value itself if it is a scalar, a container, or nothing known."""
    if isinstance(value, dict | list | str | int | float | bytes | None | type):
        return value
    for offers, dump in _DUMPS:
        if offers(value):
            return _made(dump, value, path)
    return value


def _made(dump: Callable[[Any], Any], value: Any, path: str) -> Any:
    try:
        return dump(value)
    except Exception as error:
        cause = str(error) or type(error).__name__
        raise TraceError(f"`{type(value).__name__}` cannot be written as JSON: {cause}", Where(path=path)) from error


def _can(method: str) -> Callable[[Any], bool]:
    """Whether the class has that method: an instance that answers to every name does not count."""
    return lambda value: callable(getattr(type(value), method, None))


def _has(name: str) -> Callable[[Any], bool]:
    return lambda value: hasattr(type(value), name)


def _pydantic(value: Any) -> Any:
    class_: Any = type(value)
    settings = _settings(class_)
    try:
        return value.model_dump(**settings)
    except Exception:
        if not _is_of(value, "langchain_core") or getattr(value, "artifact", None) is None:
            raise
        # What a tool keeps beside its result is never sent to the model, and may be anything.
        return value.model_copy(update={"artifact": None}).model_dump(**settings)


@functools.lru_cache(maxsize=256)
def _settings(class_: Any) -> dict[str, Any]:
    """The settings of a dump, as far as the class takes them; the one for own classes has two names."""
    if not hasattr(class_, "__pydantic_serializer__"):
        return {"mode": "json"}
    known = inspect.signature(class_.model_dump).parameters
    own = next((name for name in ("polymorphic_serialization", "serialize_as_any") if name in known), None)
    more: dict[str, Any] = {own: True} if own else {}
    return {"mode": "json", "warnings": False} | more | ({"fallback": _inner} if "fallback" in known else {})


def _is_of(value: Any, package: str) -> bool:
    return type(value).__module__.partition(".")[0] == package


def _is_message(value: Any) -> bool:
    """Whether a value is a message of Pydantic AI, which are dataclasses with a dump beside them."""
    return _is_of(value, "pydantic_ai") and type(value).__name__ in ("ModelRequest", "ModelResponse")


def _message(value: Any) -> Any:
    adapter = sys.modules["pydantic_ai.messages"].ModelMessagesTypeAdapter
    return adapter.dump_python([value], mode="json", warnings=False)[0]


def _struct(value: Any) -> Any:
    return msgspec.to_builtins(value, enc_hook=_inner)


def _inner(value: Any) -> Any:
    """A value inside another that the library of the other does not know."""
    opened = members(value, "")
    if opened is value:
        raise TypeError(refusals.reason(value))
    return opened


def _fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in type(value).__dataclass_fields__ if hasattr(value, name)}


def _attrs(value: Any) -> dict[str, Any]:
    return {one.name: getattr(value, one.name) for one in type(value).__attrs_attrs__}


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(type(value), "_fields")


_DUMPS: Final[tuple[tuple[Callable[[Any], bool], Callable[[Any], Any]], ...]] = (
    (_can("model_dump"), _pydantic),
    (_can("to_dict"), lambda value: value.to_dict()),
    (refusals.is_refused, lambda value: value),
    (lambda value: isinstance(value, msgspec.Struct), _struct),
    (_is_message, _message),
    (_has("__dataclass_fields__"), _fields),
    (_has("__attrs_attrs__"), _attrs),
    (_is_named_tuple, lambda value: value._asdict()),
)
"""Each way to write a value, and whether a value offers it; the first that it offers is taken."""
