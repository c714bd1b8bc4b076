"""What a dialect is: a pure function from its tests to native ones, and how its arguments are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from rightcall.testsets.arguments import ReadArguments
from rightcall.testsets.marks import child, steps


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """How one tool writes tests.

    `translate` makes a native test of one of its tests, data to data; what has not even the shape of a test is
    given back as it is and refused later. `renames` maps a native key of a test to the key it was written under.
    `holders` are other words for `tests` in a file. `arguments` reads expected arguments.
    """

    name: str
    translate: Callable[[Any], Any]
    arguments: ReadArguments
    renames: Mapping[str, str] = {}
    holders: tuple[str, ...] = ()


def renamed(path: str, renames: Mapping[str, str]) -> str:
    """The path as it was written: the first key, and the key after `tests[…]`, under their own names."""
    keys = steps(path)
    at = 2 if keys[:1] == ["tests"] else 0
    written = ""
    for index, key in enumerate(keys):
        own = renames.get(key, key) if isinstance(key, str) and index in (0, at) else key
        written = child(written, own)
    return written


def with_keys_renamed(test: Any, renames: Mapping[str, str]) -> Any:
    """A test with each key of `renames`' values under its native name."""
    if not isinstance(test, dict):
        return test
    native = {written: name for name, written in renames.items()}
    return {native.get(key, key): value for key, value in test.items()}
