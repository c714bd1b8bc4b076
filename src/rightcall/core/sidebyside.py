"""Expected beside made, as lines of text in aligned columns."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from rightcall.core.rows import Row
from rightcall.core.values import cut, display, visible

UNICODE_MARKS: Final = {"match": "=", "differs": "≠", "moved": "~", "missing": "-", "unexpected": "+"}
ASCII_MARKS: Final = {**UNICODE_MARKS, "differs": "!"}

MOST_TEXT: Final = 300
"""Characters of one call that are shown."""

LEAST_COLUMN: Final = 24
_VALUE = 60

SHOWN_ROWS: Final = 200
"""Rows of an alignment that are shown to people."""

_CONTEXT: Final = 3
_MANY_ROWS: Final = 30


class Line(msgspec.Struct, frozen=True):
    """One line of text. `kind` is the row's mark, or `head`, or `note` for a remark on the row above."""

    kind: str
    text: str


Heads = tuple[str, str]
"""What stands above the two columns."""

_HEADS: Final = ("expected", "made")


def side_by_side(
    rows: Sequence[Row], width: int, marks: Mapping[str, str] = UNICODE_MARKS, heads: Heads = _HEADS
) -> Iterator[Line]:
    """Lay the rows out in two columns that together take about `width` cells; nothing if there are none.

    Among many rows, long runs of matches are told by their number; what is more than `SHOWN_ROWS` is left out, with
    how many those are.
    """
    left_out = condensed(rows)[SHOWN_ROWS:]
    if rows:
        yield from _columns(condensed(rows)[:SHOWN_ROWS], width, marks, heads)
    if left_out:
        yield Line("note", f"  and {len(left_out)} more rows")


def condensed(rows: Sequence[Row]) -> Sequence[Row]:
    """The rows with matches that stand far from anything else told by their number, if there are many rows."""
    if len(rows) <= _MANY_ROWS:
        return rows
    result: list[Row] = []
    for is_match, run in itertools.groupby(rows, key=lambda row: row.mark == "match"):
        group = list(run)
        hidden = len(group) - 2 * _CONTEXT
        if is_match and hidden > 1:
            group[_CONTEXT:-_CONTEXT] = [Row(mark="note", note=f"({hidden:,} more that match)")]
        result += group
    return result


def _columns(rows: Sequence[Row], width: int, marks: Mapping[str, str], heads: Heads) -> Iterator[Line]:
    pairs = [(numbered(row.expected_index, row.expected), numbered(row.made_index, row.made)) for row in rows]
    column = max(LEAST_COLUMN, (width - 7) // 2)
    left = min(column, max([cells(heads[0]) + 3, *(cells(expected) for expected, _ in pairs)]))
    right = max(LEAST_COLUMN, width - 7 - left)
    yield Line("head", f"    {pad(heads[0], left)}   {heads[1]}")
    for row, (expected, made) in zip(rows, pairs, strict=True):
        if row.mark != "note":
            yield from _row(row, wrap(expected, left), wrap(made, right), left, marks)
        for remark in (*(difference.message for difference in row.differences), row.note):
            yield from (Line("note", f"      {piece}") for piece in wrap(visible(remark), width - 6) if remark)


def _row(row: Row, expected: Sequence[str], made: Sequence[str], left: int, marks: Mapping[str, str]) -> Iterator[Line]:
    for index in range(max(len(expected), len(made))):
        mark = marks[row.mark] if index == 0 else " "
        here = expected[index] if index < len(expected) else ""
        there = made[index] if index < len(made) else ""
        yield Line(row.mark, f"  {mark} {pad(here, left)}   {there}".rstrip())


def numbered(index: int | None, call: Mapping[str, Any] | None) -> str:
    """Return the call with its number, counted from 1; nothing for no call."""
    if call is None:
        return ""
    number = "" if index is None else f"{index + 1} "
    return number + call_text(call)


def call_text(call: Mapping[str, Any]) -> str:
    """Return the call as a program would write it: `lookup_order(order_id=42)`; `(…)` takes any arguments."""
    name = visible(str(call.get("name", ""))) or '""'
    if "arguments" in call:
        inside = _arguments(call["arguments"])
    else:
        inside = ", ".join(f"{key}: {visible(str(value))}" for key, value in call.items() if key != "name") or "…"
    return cut(f"{name}({inside})", MOST_TEXT)


def _arguments(arguments: Any) -> str:
    if isinstance(arguments, dict):
        return ", ".join(f"{visible(str(key))}={display(value, _VALUE)}" for key, value in arguments.items())
    return display(arguments, _VALUE)


def wrap(text: str, width: int) -> list[str]:
    """Return the text in one or more lines of at most `width` cells, broken after spaces and `(`."""
    lines, current = [], ""
    for word in _words(text, width - 2):
        if current.strip() and cells(current + word.rstrip()) > width:
            lines.append(current.rstrip())
            current = "  "
        current += word
    return [*lines, current.rstrip()]


def _words(text: str, most: int) -> Iterator[str]:
    """Yield the words of a text with the spaces after them, none of them wider than `most` cells."""
    if text.isascii():
        yield from re.findall(rf"[^ (]{{0,{most - 1}}}[ (]|[^ (]{{1,{most}}}", text)
        return
    word, room = "", most
    for character in text:
        size = cells(character)
        if size > room:
            yield word
            word, room = "", most
        word, room = word + character, room - size
        if character in " (":
            yield word
            word, room = "", most
    yield word


def pad(text: str, width: int) -> str:
    """Return the text with spaces after it, up to `width` cells."""
    return text + " " * (width - cells(text))


def cells(text: str) -> int:
    """How many cells of a terminal the text takes: two for a wide character, none for a combining one."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
