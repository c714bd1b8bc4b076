"""Tables that were saved as CSV or Parquet, as JSON lines: a row is a span, a record, or has a column with a trace.

Phoenix saves dataframes of spans with a column an attribute; the tables of MLflow, LangSmith and Langfuse, and
datasets of conversations, have columns that hold JSON (or, in CSV, what Python prints).
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from rightcall.core import jsontext
from rightcall.errors import MissingExtraError, TraceError
from rightcall.traces import documents

PARQUET: Final = b"PAR1"

ROWS: Final = (
    "tool_calls",
    "messages",
    "spans",
    "run_type",
    "parentObservationId",
    "span_name",
    "contents",
    "request",
    "choices",
    "context.span_id",
)
"""Columns of tables whose rows are what a format knows as it stands."""

CELLS: Final = ("trace", "trajectory", "conversation", "response", "record")
"""Columns that hold the trace of a row; what else the row says is then beside the point."""

_NAME: Final = rb'(?:"[^"\r\n{}\[\]]*"|[^",:\r\n{}\[\]]*)'
_HEADER = re.compile(_NAME + rb"(?:," + _NAME + rb")*\r?")
_CELL = re.compile(r'(?:"((?:[^"]|"")*+)"|([^",\r\n]*+))(,|\r?\n|\r|\Z)')
_TEXTS: Final = frozenset({"attributes.input.value", "attributes.output.value", "name", "status_message"})
_LITERAL_LIMIT: Final = 10_000_000
_BATCH: Final = 1_000
_SHOWN: Final = 20


def claims(head: bytes) -> bool:
    """Whether bytes begin Parquet, or a line of names and a row with as many cells."""
    return head.startswith(PARQUET) or _is_csv(head.lstrip())


def _is_csv(text: bytes) -> bool:
    first, _, rest = text.partition(b"\n")
    if not first or not rest or not _HEADER.fullmatch(first):
        return False
    names = next(_lines(first.decode("utf-8", "replace")))
    known = bool(_known(names))
    try:
        cells = len(next(_lines(rest.decode("utf-8", "replace"))))
    except TraceError:
        return known
    return known if len(names) == 1 else known or cells == len(names)


def lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The rows, a line each; `TraceError` with the names of the columns if none of them holds a trace."""
    head, chunks = documents.peek(chunks)
    data = documents.whole(chunks)
    if not head.startswith(PARQUET):
        yield b"\n"  # where the header stood
    for row in parquet_rows(data) if head.startswith(PARQUET) else csv_rows(data):
        yield jsontext.encode(_record(row)) + b"\n"


def _record(row: dict[str, Any]) -> Any:
    """What a row holds: the row itself, or the one cell that holds all of it."""
    cells = [row[name] for name in CELLS if isinstance(row.get(name), dict | list)]
    return row if not cells or _holds(row, "tool_calls") or _holds(row, "messages") else cells[0]


def _holds(row: dict[str, Any], name: str) -> bool:
    return isinstance(row.get(name), list | dict)


def _known(names: Iterable[str]) -> list[str]:
    return [name for name in names if name in ROWS or name in CELLS or name.startswith("attributes.")]


def _check_columns(names: list[str]) -> None:
    if not _known(names):
        shown = ", ".join(f"`{name[:40]}`" for name in names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
        wanted = ", ".join(f"`{name}`" for name in (*ROWS, *CELLS))
        raise TraceError(f"the table has no column that holds a trace; its columns are {shown}; known are {wanted}")


def _is_of_spans(names: Iterable[str]) -> bool:
    """Whether a table has a column an attribute, so that texts in it are texts."""
    return any(name == "context.span_id" or name.startswith("attributes.") for name in names)


def csv_rows(data: bytes) -> Iterator[dict[str, Any]]:
    """The rows of CSV. Cells of lists and objects were written as Python; an empty cell is null."""
    lines = _lines(data.decode("utf-8", "replace").lstrip("\ufeff"))
    header = next(lines)
    _check_columns(header)
    for number, line in enumerate(lines, 2):
        if line == [""]:
            continue
        if len(line) != len(header):
            raise TraceError(f"row {number} has {len(line)} cells; the header has {len(header)}")
        yield {key: _cell(key, cell) for key, cell in zip(header, line, strict=True) if key and cell != ""}


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
    try:
        return jsontext.decode(cell)
    except jsontext.JSONError:
        return _printed(cell)


def _printed(cell: str) -> Any:
    """A cell that was written as Python prints it. What is JSON but refused, with a key twice, stays text."""
    import ast

    with contextlib.suppress(ValueError, RecursionError):
        json.loads(cell)
        return cell
    try:
        return _jsonable(ast.literal_eval(cell))
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
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
        table = parquet.ParquetFile(pyarrow.BufferReader(data))
        names = table.schema_arrow.names
        _check_columns(names)
        make = _plain if _is_of_spans(names) else _structured
        for batch in table.iter_batches(batch_size=_BATCH):
            for row in batch.to_pylist():
                yield {key: cell for key, value in row.items() if (cell := make(value)) is not None}
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise TraceError(f"the Parquet file cannot be read: {error}") from None


def _structured(cell: Any) -> Any:
    """A cell as JSON, from text that is JSON too. Members that are null are those of other rows' structs."""
    if isinstance(cell, str) and cell[:1] in ("{", "["):
        try:
            return jsontext.decode(cell)
        except jsontext.JSONError:
            return cell
    return _without_nulls(_plain(cell))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _plain(cell: Any) -> Any:
    """A cell as JSON: times as RFC 3339, pairs of a map as an object."""
    if isinstance(cell, dict):
        return {str(key): _plain(item) for key, item in cell.items()}
    if isinstance(cell, list | tuple):
        return [_plain(item) for item in cell]
    if cell is None or isinstance(cell, str | int | float | bool):
        return cell
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)
