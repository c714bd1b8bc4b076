"""What the first bytes of a file say about it: binary containers, and the shape of the first JSON value."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Set
from typing import Any, Final

import msgspec

from rightcall.core import jsontext
from rightcall.traces import documents

MAGIC: Final = {
    b"PK\x03\x04": "a zip archive",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"SQLite format 3\x00": "an SQLite database",
    b"ARROW1": "Arrow",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
}

_DEEPEST: Final = jsontext.MAX_DEPTH + 1

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+("|\\?\Z)|[][{},]', re.DOTALL)

_REPORTS: Final = (
    {"rightcall", "schema"},
    {"id", "outcome", "attempts", "positional"},
    {"result", "test", "outcome", "attempts"},
)
"""Keys that only reports of ours have together: JSON, a line of JSON Lines, a row of a table."""


def is_report(keys: Set[str]) -> bool:
    """Whether a first value with these keys is of a report of ours."""
    return any(of_ours <= keys for of_ours in _REPORTS)


def binary(head: bytes) -> str:
    """The name of the binary container or encoding that the bytes begin like, else the empty string."""
    for magic, name in MAGIC.items():
        if head.startswith(magic):
            return name
    return "binary data that is no OTLP request" if _is_binary(head) else ""


def _is_binary(head: bytes) -> bool:
    """Whether the bytes hold control characters that no text has."""
    return any(byte < 9 or 13 < byte < 32 for byte in head[:256])


@functools.lru_cache(maxsize=2)
def sketch(head: bytes) -> Any:
    """The first JSON value, as far as it goes: a value that is cut off is closed after its last whole member.

    `msgspec.UNSET` if the bytes do not begin with a JSON object or array.
    """
    text = head.lstrip()
    if text[:1] not in (b"{", b"["):
        return msgspec.UNSET
    try:
        return json.JSONDecoder().raw_decode(_closed(text).decode("utf-8", "replace"))[0]
    except (ValueError, RecursionError):
        return msgspec.UNSET


def settled(head: bytes) -> Any:
    """The first JSON value without what may be cut off: of a head that is full, the last element there is."""
    value = sketch(head)
    return _pruned(value) if len(head) >= documents.HEAD else value


def _pruned(value: Any) -> Any:
    """A value without the last element of the outermost list, on the way to its end, that has several."""
    if isinstance(value, list) and value:
        return value[:-1] if len(value) > 1 else [_pruned(value[0])]
    if isinstance(value, dict) and value:
        last = next(reversed(value))
        return {**value, last: _pruned(value[last])}
    return value


@functools.lru_cache(maxsize=2)
def sketches(head: bytes) -> list[Any]:
    """The first JSON value as far as it goes, and those on the lines after it that are whole.

    Where a file holds one value a line, the first may be one that several formats have.
    """
    first = sketch(head)
    found = [] if first is msgspec.UNSET else [first]
    for line in head.split(b"\n")[1:-1]:
        if line[:1] == b"{":
            try:
                found.append(json.loads(line))
            except (ValueError, RecursionError):
                continue
    return found


def elements(head: bytes) -> list[Any]:
    """The values of `sketches`, and instead of an array the elements of it."""
    found = sketches(head)
    return [one for value in found for one in (value if isinstance(value, list) else [value])]


def _closed(text: bytes) -> bytes:
    """The first value of the text, cut after its last whole member and closed where it does not end.

    What is nested deeper than the limit is left out: containers there are empty.
    """
    open_: list[bytes] = []
    kept: list[bytes] = []
    start, cut = 0, 1
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if token[1] not in (None, b'"'):
            break
        if mark in (b"{", b"["):
            open_.append(b"}" if mark == b"{" else b"]")
            if len(open_) == _DEEPEST:
                kept.append(text[start : token.end()])
        elif mark in (b"}", b"]") and open_:
            if len(open_) == _DEEPEST:
                start = token.start()
            open_.pop()
        if len(open_) < _DEEPEST and mark[:1] != b'"':
            cut = token.start() if mark == b"," else token.end()
            if not open_:
                break
    if len(open_) >= _DEEPEST:
        start = cut = len(text)
    return b"".join([*kept, text[start:cut], *reversed(open_[:_DEEPEST])])


def expectations(head: bytes) -> str:
    """What a file is that holds only the calls a benchmark expects, else the empty string."""
    value = sketch(head)
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, dict):
        return ""
    if {"id", "ground_truth"} <= value.keys() and not {"messages", "tool_calls", "result"} & value.keys():
        return "the expected answers of BFCL"
    return "the expected tool uses of ADK" if {"query", "expected_tool_use"} <= value.keys() else ""


def describe(head: bytes) -> str:
    """What an unknown file looks like, for the message that refuses it."""
    value = sketch(head)
    if value is msgspec.UNSET:
        start = head.lstrip()[:40].decode("utf-8", "replace")
        return f"text that is no JSON object or array and begins with {start!r}"
    if isinstance(value, list):
        told = f"a JSON array of {_shape(value[0])}" if value else "an empty JSON array"
    elif not value and b'"' in head:
        told = (
            "a JSON object whose first field is so long that no other is seen; name the format, as in `--format native`"
        )
    else:
        told = _shape(value)
    return f"{told}, {too_deep}" if (too_deep := _too_deep(value)) else told


def _too_deep(value: Any) -> str:
    try:
        jsontext.check_depth(value)
    except jsontext.JSONError as error:
        return error.message
    return ""


def _shape(value: Any) -> str:
    if not isinstance(value, dict):
        return {str: "strings", bool: "booleans", list: "arrays"}.get(type(value), "numbers or nulls")
    keys = ", ".join(f"`{key[:40]}`" for key in list(value)[:8])
    return f"a JSON object with the keys {keys}" if keys else "an empty JSON object"
