"""What a dialect is: pure functions from its tests to native ones and back, and how its arguments are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.testsets.arguments import ReadArguments
from rightcall.testsets.marks import child, steps
from rightcall.testsets.operators import native

if TYPE_CHECKING:
    from rightcall.testsets.foreign import At, Note, Opened
    from rightcall.testsets.model import TestSet


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """A test set in a dialect's words, and what does not mean quite the same there."""

    data: Any
    notes: tuple[Note, ...] = ()


def _as_it_is(test: Any) -> Any:
    return test


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """How one tool writes tests.

    Where a test of the tool looks nearly like a native one, `translate` makes a native test of it, data to data; what
    has not even the shape of a test is given back as it is and refused later. `renames` maps a native key of a test to
    the key it was written under, `holders` are other words for `tests` in a file.

    Where its files look otherwise, `open` makes native keys of a whole file; it refuses what native words cannot say,
    with `TestSetError` at the path.

    `arguments` reads expected arguments. `write` says a test set in the tool's words, and refuses what these cannot.
    """

    name: str
    translate: Callable[[Any], Any] = _as_it_is
    open: Callable[[At], Opened] | None = None
    arguments: ReadArguments = native
    renames: Mapping[str, str] = {}
    holders: tuple[str, ...] = ()
    write: Callable[[TestSet], Written] | None = None


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
