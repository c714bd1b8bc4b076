"""Expected arguments as the writer meant them: JSON text decoded once, and read wherever they stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from rightcall.core.defaults import DEFAULTS_ARE_VALUES
from rightcall.core.expected import ExpectedCall, Match
from rightcall.core.jsontext import JSONError, check_depth, decode
from rightcall.core.values import is_json
from rightcall.testsets.explain import shorten
from rightcall.testsets.marks import child

ReadArguments = Callable[[Any, str], Any]
"""Gives expected arguments their meaning; `MisplacedError` says what is wrong with them at which path."""


class MisplacedError(Exception):
    """Something that may not stand at a path; `at` says whether the key or the value is to be pointed at."""

    def __init__(self, path: str, message: str, at: Literal["key", "value"] = "value") -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.at = at


def as_data(value: Any, path: str) -> Any:
    """Arguments in which everything is data. A string is JSON text, decoded once (G9)."""
    if value is None:
        raise MisplacedError(path, "expected arguments, found null; leave the key out to accept any")
    if not isinstance(value, str):
        return _shallow(value, path)
    try:
        decoded = decode(value)
    except JSONError as error:
        text = shorten(value)
        raise MisplacedError(path, f"expected arguments or JSON text, found `{text}`: {error.message}") from None
    return as_data(decoded, path) if decoded is None else decoded


def _shallow(value: Any, path: str) -> Any:
    try:
        check_depth(value)
    except JSONError as error:
        raise MisplacedError(path, error.message) from None
    return value


def settle(value: Any, path: str, read: ReadArguments) -> Any:
    """The same struct with the arguments of every expected call and match in it read."""
    if isinstance(value, ExpectedCall):
        return _settle_call(value, path, read)
    if isinstance(value, Match):
        args = value.args if value.args is UNSET else read(value.args, child(path, "args"))
        return msgspec.structs.replace(value, args=args)
    if isinstance(value, tuple):
        return tuple(
            [item if item.__class__ is str else settle(item, child(path, at), read) for at, item in enumerate(value)]
        )
    if not isinstance(value, msgspec.Struct):
        return value
    nested = {
        name: settle(field, child(path, name), read)
        for name in value.__struct_fields__
        if isinstance(field := getattr(value, name), tuple | msgspec.Struct)
    }
    return msgspec.structs.replace(value, **nested) if nested else value


def _settle_call(call: ExpectedCall, path: str, read: ReadArguments) -> ExpectedCall:
    changed: dict[str, Any] = {}
    if call.arguments is not UNSET:
        changed["arguments"] = read(call.arguments, child(path, "arguments"))
    if call.match is not UNSET:
        changed["match"] = settle(call.match, child(path, "match"), read)
    if call.defaults:
        at = child(path, "defaults")
        changed["defaults"] = {
            key: _settle_default(value, child(at, key), read) for key, value in call.defaults.items()
        }
    return msgspec.structs.replace(call, **changed) if changed else call


def _settle_default(value: Any, path: str, read: ReadArguments) -> Any:
    """A default is one argument's value, no operator: null and strings stand for themselves."""
    if value is None or isinstance(value, str):
        return value
    default = read(value, path)
    if not is_json(default):
        raise MisplacedError(path, DEFAULTS_ARE_VALUES)
    return default
