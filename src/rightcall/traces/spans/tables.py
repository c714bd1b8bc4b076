"""Dataframes of spans that were saved as CSV or Parquet: each row as an object."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from rightcall.errors import MissingExtraError, TraceError

_HEADER = re.compile(rb'[^\n]*\b(?:context\.span_id|attributes\.[\w.]+)"?,[^\n]*')
_CELL = re.compile(r'(?:"((?:[^"]|"")*+)"|([^",\r\n]*+))(,|\r?\n|\r|\Z)')
_TEXTS: Final = frozenset({"attributes.input.value", "attributes.output.value", "name", "status_message"})
_LITERAL_LIMIT: Final = 10_000_000
PARQUET: Final = b"PAR1"


def is_csv(head: bytes) -> bool:
    """Whether the first line is the header of a table of spans."""
    first = head.lstrip().partition(b"\n")[0]
    return first[:1] not in (b"{", b"[") and b"context.span_id" in first and _HEADER.match(first) is not None


def csv_rows(data: bytes) -> Iterator[dict[str, Any]]:
    """The rows of CSV. Cells of lists and objects were written as Python; an empty cell is null."""
    lines = _lines(data.decode("utf-8", "replace").lstrip("\ufeff"))
    header = next(lines)
    for number, line in enumerate(lines, 2):
        if line == [""]:
            continue
        if len(line) != len(header):
            raise TraceError(f"row {number} has {len(line)} cells; the header has {len(header)}")
        yield {key: _cell(key, cell) for key, cell in zip(header, line, strict=True) if cell != ""}


def _lines(text: str) -> Iterator[list[str]]:
    at, line = 0, list[str]()
    while at < len(text):
        found = _CELL.match(text, at)
        if found is None:
            raise TraceError(f"the table is broken at character {at}: a quote is not closed, or text follows it")
        quoted, bare, end = found.groups()
        line.append(bare if quoted is None else quoted.replace('""', '"'))
        at = found.end()
        if end != ",":
            yield line
            line = []
        elif at == len(text):
            line.append("")
    if line:
        yield line


def _cell(key: str, cell: str) -> Any:
    """A cell as data where it is a list or an object; the text of inputs and outputs stays text."""
    if key in _TEXTS or cell[:1] not in ("{", "[") or len(cell) > _LITERAL_LIMIT:
        return cell
    import ast

    for read in (json.loads, ast.literal_eval):
        try:
            return _jsonable(read(cell))
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
    return cell


def _jsonable(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


def parquet_rows(data: bytes) -> Iterator[dict[str, Any]]:
    """The rows of Parquet; `MissingExtraError` without the library for it."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("Parquet", "bulk") from None
    try:
        table = parquet.read_table(pyarrow.BufferReader(data))
        rows = table.to_pylist()
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise TraceError(f"the Parquet file cannot be read: {error}") from None
    index = table.column_names
    if "context.span_id" not in index and not any(name.startswith("attributes.") for name in index):
        raise TraceError("the Parquet file is no table of spans: it has no column `context.span_id`")
    for row in rows:
        yield {key: _plain(cell) for key, cell in row.items()}


def _plain(cell: Any) -> Any:
    """A cell as JSON: times as RFC 3339, pairs of a map as an object."""
    if isinstance(cell, dict):
        return {str(key): _plain(item) for key, item in cell.items()}
    if isinstance(cell, list | tuple):
        return [_plain(item) for item in cell]
    if cell is None or isinstance(cell, str | int | float | bool):
        return cell
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)
