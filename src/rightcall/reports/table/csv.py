"""The results as CSV by RFC 4180: UTF-8, a header, CRLF line ends, texts in quotes and numbers without.

A spreadsheet takes text for a formula that begins with `=`, `+`, `-` or `@`, also after spaces. Such a cell, and one
that begins with an apostrophe, has one apostrophe put before it: who reads the file takes one away and has the text.
Control characters, changes of direction and lone surrogates are written as escapes, so a row is one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from rightcall.core.results import Result
from rightcall.core.summary import RunEnd, RunHead
from rightcall.core.values import visible
from rightcall.reports.table import COLUMNS, Cell, rows

_FORMULA: Final = re.compile(r" *['=+\-@＝＋－＠]")


class CSVReport:
    """Writes the rows of each result as it comes."""

    def __init__(self) -> None:
        self._number = 0

    def start(self, head: RunHead) -> bytes:
        """Write the names of the columns."""
        self._number = 0
        return _line(column.name for column in COLUMNS)

    def add(self, result: Result) -> bytes:
        """Write the rows of one result."""
        self._number += 1
        return b"".join(map(_line, rows(result, self._number)))

    def end(self, end: RunEnd) -> bytes:
        """Write nothing: every line is a row."""
        return b""


def _line(cells: Iterable[Cell]) -> bytes:
    return (",".join(map(_cell, cells)) + "\r\n").encode("utf-8")


def _cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return str(cell)
    text = visible(cell)
    safe = f"'{text}" if _FORMULA.match(text) else text
    return '"' + safe.replace('"', '""') + '"'
