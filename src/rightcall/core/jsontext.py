"""Strict JSON in, exactly: no repeated keys, no NaN, integers of any size, a limit on depth (G7, G8).

The fast decoder takes almost everything. What it refuses (lone surrogates, a byte order mark) or cannot see
(repeated keys) is decided by the standard library's, whose hooks see every key.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final, Never

import msgspec

MAX_DEPTH: Final = 200
"""Containers inside one another, at most (G8)."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class JSONError(ValueError):
    """Text that is not JSON as RFC 8259 has it, with unique keys. `line` and `column` count from 1."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


def decode(data: bytes | str, max_depth: int = MAX_DEPTH) -> Any:
    """The value that a JSON text writes. `JSONError` if it is not JSON, repeats a key or is nested too deeply."""
    try:
        value = _decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError, ValueError):
        return _decode_slowly(data, max_depth)
    if not _has_unique_keys(data, value):
        return _decode_slowly(data, max_depth)
    if _brackets(data) > max_depth:
        check_depth(value, max_depth)
    return value


def _has_unique_keys(data: bytes | str, value: Any) -> bool:
    """Whether no key can be repeated, told by counting colons.

    A repeated key is dropped by decoding, and its colon with it: the text then holds more colons than the
    value written back. Only an escaped colon could hide that, so such a text counts as unsure.
    """
    if isinstance(data, str):
        return data.count(":") == _encode(value).count(b":") and "\\u003" not in data
    return data.count(b":") == _encode(value).count(b":") and b"\\u003" not in data


def _brackets(data: bytes | str) -> int:
    if isinstance(data, str):
        return data.count("[") + data.count("{")
    return data.count(b"[") + data.count(b"{")


def check_depth(value: Any, max_depth: int = MAX_DEPTH) -> None:
    """`JSONError` if containers are nested more than `max_depth` deep. Level by level, without recursion."""
    level = [value] if isinstance(value, dict | list | tuple) else []
    for _ in range(max_depth):
        level = [child for item in level for child in _children(item) if isinstance(child, dict | list | tuple)]
        if not level:
            return
    raise JSONError(_too_deep(max_depth))


def _children(container: Any) -> Any:
    return container.values() if isinstance(container, dict) else container


def _too_deep(max_depth: int) -> str:
    return f"nested deeper than the limit of {max_depth}"


def _decode_slowly(data: bytes | str, max_depth: int) -> Any:
    text = _text(data)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_integer,
        )
    except json.JSONDecodeError as error:
        raise JSONError(f"not JSON: {error.msg[0].lower()}{error.msg[1:]}", error.lineno, error.colno) from None
    except RecursionError:
        raise JSONError(_too_deep(max_depth)) from None
    check_depth(value, max_depth)
    return value


def _text(data: bytes | str) -> str:
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    try:
        return bytes(data).decode("utf-8", "surrogatepass").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise JSONError(f"not UTF-8: byte 0x{data[error.start]:02x}", line, column) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise JSONError(f"the key `{key}` is repeated in one object")
        seen.add(key)
    raise AssertionError("unreachable: a shorter mapping has a repeated key")


def _refuse_constant(word: str) -> Never:
    raise JSONError(f"`{word}` is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise JSONError(f"the number `{text[:40]}` is out of range")
    return number


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise JSONError(f"an integer of {len(text)} digits is out of range") from None


def encode(value: Any) -> bytes:
    """One line of compact JSON in UTF-8; lone surrogates are written as escapes.

    Structs are written by their fields. Numbers are finite: every door refuses others. `JSONError` for what is
    nested too deeply to be written.
    """
    try:
        return _encode(value)
    except (UnicodeEncodeError, RecursionError, OverflowError):
        plain = msgspec.to_builtins(value)
        try:
            return json.dumps(plain, separators=(",", ":"), allow_nan=False).encode()
        except (ValueError, RecursionError) as error:
            raise JSONError(str(error)) from None
