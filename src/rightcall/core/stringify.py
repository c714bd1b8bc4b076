"""The text of arguments that patterns see: ECMAScript's `JSON.stringify` (G28)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_ARRAY_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_MAX_ARRAY_INDEX = 4294967294


def stringify(value: Any) -> str:
    """What ECMAScript's `JSON.stringify` writes, but for integers beyond 2^53, which are written exactly (G28)."""
    pieces: list[str] = []
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, _Text):
            pieces.append(item.text)
        elif isinstance(item, dict):
            stack.extend(reversed(list(_object_pieces(item))))
        elif isinstance(item, list | tuple):
            stack.extend(reversed(list(_array_pieces(item))))
        else:
            pieces.append(_scalar(item))
    return "".join(pieces)


class _Text:
    """A finished piece of output among values still to be written."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def _object_pieces(value: Mapping[str, Any]) -> Iterator[Any]:
    opening = "{"
    for key in _ordered_keys(value):
        yield _Text(f"{opening}{_string(key)}:")
        yield value[key]
        opening = ","
    yield _Text("}" if value else "{}")


def _array_pieces(value: Any) -> Iterator[Any]:
    opening = "["
    for item in value:
        yield _Text(opening)
        yield item
        opening = ","
    yield _Text("]" if value else "[]")


def _ordered_keys(value: Mapping[str, Any]) -> list[str]:
    """ECMAScript's own property order: array indices ascending, then the rest as inserted (OrdinaryOwnPropertyKeys)."""
    indices = [key for key in value if _ARRAY_INDEX.fullmatch(key) and int(key) <= _MAX_ARRAY_INDEX]
    if not indices:
        return list(value)
    first = set(indices)
    return sorted(indices, key=int) + [key for key in value if key not in first]


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        return _exact_integer(value)
    if isinstance(value, float):
        return _number(value)
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def _exact_integer(value: int) -> str:
    return _number(float(value)) if abs(value) <= 2**53 else str(value)


_ESCAPES = re.compile(r'[\x00-\x1f"\\\ud800-\udfff]')
_SHORT_ESCAPES = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def _string(value: str) -> str:
    return '"' + _ESCAPES.sub(_escape, value) + '"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return _SHORT_ESCAPES.get(character) or f"\\u{ord(character):04x}"


def _number(value: float) -> str:
    """`Number::toString` for radix 10 (ECMA-262, 6.1.6.1.20); Python finds the same shortest digits."""
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = fraction if fraction != "0" else ""
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    return sign + _place_point(digits, point)


def _place_point(digits: str, point: int) -> str:
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{'+' if point > 0 else '-'}{abs(point - 1)}"
