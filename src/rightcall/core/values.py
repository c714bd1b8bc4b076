"""JSON values: equality, differences with their paths, and one-line display (G7)."""

from __future__ import annotations

import functools
import json
import operator
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from rightcall.core.jsontext import check_depth
from rightcall.core.stringify import stringify

MISSING: Final[Any] = msgspec.UNSET
"""Stands for a value that is not there; equal to nothing but itself, and left out where findings are written."""

_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$-]*")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_JSON_TYPES = (str, int, float, bool, list, tuple, dict, type(None))
SCALARS: Final = frozenset({str, int, float, bool, type(None)})
"""The classes of JSON values that hold no others."""

_ARRAYS: Final = (list, tuple)
_CONSTANT: Final = object()
_PLAIN_KEYS: Final = frozenset({str, int, float})


def equal(expected: Any, actual: Any) -> bool:
    """JSON equality: `true` is not 1, 5 is 5.0, integers are exact, key order is irrelevant.

    Python's `==` differs from it only where a boolean meets 0 or 1, so a walk is needed only there.
    An expected value of no JSON type decides by its own `__eq__` (G14).
    """
    return bool(expected == actual) and (is_plain(expected) or _same_booleans(expected, actual))


def comparer(expected: Any) -> Callable[[Any], bool]:
    """`equal` with the expected value looked at once, for many comparisons."""
    if type(expected) is bool:
        return functools.partial(operator.is_, expected)
    if is_plain(expected):
        return functools.partial(operator.eq, expected)
    return functools.partial(_equal_number if type(expected) in (int, float) else _equal_and_same, expected)


def _equal_number(expected: float, actual: Any) -> bool:
    return expected == actual and type(actual) is not bool


def _equal_and_same(expected: Any, actual: Any) -> bool:
    return bool(expected == actual) and _same_booleans(expected, actual)


def is_plain(value: Any) -> bool:
    """Whether Python's `==` decides as JSON does: a JSON value without booleans, and numbers other than 0 and 1."""
    kind = type(value)
    if kind is str or kind is int or kind is float:
        return kind is str or (value != 0 and value != 1)
    waiting = [value]
    for item in waiting:
        kind = type(item)
        if kind is dict or kind is list or kind is tuple:
            waiting += item.values() if kind is dict else item
        elif kind is int or kind is float:
            if item == 0 or item == 1:
                return False
        elif kind is not str and item is not None:
            return False
    return True


def _same_booleans(expected: Any, actual: Any) -> bool:
    """Of two values that Python calls equal: are booleans equal to booleans only?"""
    stack = [(expected, actual)]
    while stack:
        left, right = stack.pop()
        if isinstance(left, dict):
            stack.extend((value, right[key]) for key, value in left.items())
        elif isinstance(left, list | tuple):
            stack.extend(zip(left, right, strict=True))
        elif isinstance(left, _JSON_TYPES) and isinstance(left, bool) is not isinstance(right, bool):
            return False
    return True


def is_json(value: Any) -> bool:
    """Whether the value is made of JSON types all through, so that `freeze` can stand for it."""
    if value.__class__ in SCALARS:
        return True
    waiting = [value]
    for item in waiting:
        if isinstance(item, dict):
            inner: Any = item.values()
        elif isinstance(item, _ARRAYS):
            inner = item
        elif isinstance(item, _JSON_TYPES):
            continue
        else:
            return False
        if not SCALARS.issuperset(map(type, inner)):
            waiting += [each for each in inner if each.__class__ not in SCALARS]
    return True


def freeze(value: Any) -> Any:
    """A hashable key: two values have equal keys exactly if they are equal as JSON. Depth is limited by readers."""
    if type(value) in _PLAIN_KEYS:
        return value
    if isinstance(value, bool) or value is None:
        return (value, _CONSTANT)
    if isinstance(value, dict):
        return frozenset((key, freeze(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return tuple(freeze(item) for item in value)
    return value


class Difference(msgspec.Struct, frozen=True):
    """One place where two values differ: a JSON path, and the two values there, `MISSING` where one has none."""

    path: str
    expected: Any
    actual: Any


def differences(expected: Any, actual: Any, path: str = "", *, open_objects: bool = False) -> Iterator[Difference]:
    """The leaves at which two values differ, in the order of the expected value.

    With `open_objects`, keys that only the actual object has are no difference, at any depth.
    """
    stack = [(path, expected, actual)]
    while stack:
        here, left, right = stack.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            stack.extend(reversed(list(_members(here, left, right, open_objects))))
        elif isinstance(left, list | tuple) and isinstance(right, list | tuple):
            stack.extend(reversed(list(_items(here, left, right))))
        elif left is MISSING or not equal(left, right):
            yield Difference(here, left, right)


def _members(
    path: str, left: Mapping[str, Any], right: Mapping[str, Any], open_objects: bool
) -> Iterator[tuple[str, Any, Any]]:
    for key, value in left.items():
        yield (member(path, key), value, right.get(key, MISSING))
    if not open_objects:
        for key, value in right.items():
            if key not in left:
                yield (member(path, key), MISSING, value)


def _items(path: str, left: Any, right: Any) -> Iterator[tuple[str, Any, Any]]:
    for index in range(max(len(left), len(right))):
        yield (
            f"{path}[{index}]",
            left[index] if index < len(left) else MISSING,
            right[index] if index < len(right) else MISSING,
        )


def member(path: str, key: str) -> str:
    """The JSON path of a member: `filter.page`, or `filter["page size"]` where the key is no plain word."""
    if _IDENTIFIER.fullmatch(key):
        return f"{path}.{key}" if path else key
    return f"{path}[{json.dumps(key)}]"


def deep_matches(expected: Any, actual: Any) -> bool:
    """The argument mode `deep`: objects may have more keys at every depth, arrays have the same length (G15)."""
    return next(differences(expected, actual, open_objects=True), None) is None


def display(value: Any, limit: int = 80) -> str:
    """The value on one line, as compact JSON with control characters visible, cut with how much was cut."""
    if value is MISSING:
        return "nothing"
    try:
        check_depth(value)
        text = visible(stringify(value))
    except (TypeError, ValueError):
        text = visible(_represented(value))
    return cut(text, limit)


def _represented(value: Any) -> str:
    """The value as Python writes it, if it does: it refuses integers with too many digits."""
    try:
        return anywhere(repr(value))
    except ValueError:
        return f"{type(value).__name__} with an integer of too many digits"


def anywhere(text: str) -> str:
    """How Python writes an object, without where it lies in memory: that differs from one run to the next (G5)."""
    return _ADDRESS.sub("", text)


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, and then how many more there were."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit} more characters)"


def visible(text: str) -> str:
    """The text with everything that a terminal or reader could not show, or would obey, written as escapes."""
    return text if text.isascii() and text.isprintable() else "".join(map(_visible, text))


_ESCAPES: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _visible(character: str) -> str:
    if character.isprintable() or character == "\u200d":
        return character
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def text_note(expected: str, actual: str) -> str:
    """How two different strings are yet alike, for the eye that cannot see it: the empty string if they are not."""
    forms = (unicodedata.normalize("NFC", expected), unicodedata.normalize("NFC", actual))
    if forms[0] == forms[1]:
        return f"equal after Unicode normalisation; {_code_points(expected, actual)}"
    if expected.casefold() == actual.casefold():
        return "different only in letter case"
    if "".join(expected.split()) == "".join(actual.split()):
        return "different only in white space"
    return ""


def _code_points(expected: str, actual: str) -> str:
    index = next(
        (i for i, (a, b) in enumerate(zip(expected, actual, strict=False)) if a != b),
        min(len(expected), len(actual)),
    )
    left, right = (" ".join(f"U+{ord(char):04X}" for char in text[index : index + 2]) for text in (expected, actual))
    return f"{left or 'the end'} against {right or 'the end'}"
