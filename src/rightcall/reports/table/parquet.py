"""The results as Parquet, for runs of any size: the columns of the table with their types, written in row groups.

The text is as it was recorded, but for lone surrogates, which no UTF-8 can hold: they are written as escapes. The
metadata of the file has, under `rightcall`, what the run was made with and what it came to, as JSON.
"""

from __future__ import annotations

from typing import Any, Final

from rightcall.core.jsontext import encode
from rightcall.core.results import Result
from rightcall.core.summary import RunEnd, RunHead
from rightcall.errors import MissingExtraError
from rightcall.reports.table import COLUMNS, Cell, ColumnType, rows

ROW_GROUP: Final = 10_000
"""Rows that are held before they are written as one group."""

_TYPES: Final[dict[ColumnType, str]] = {"text": "string", "integer": "int64", "number": "float64"}


class _Pieces:
    """A file that is written from the beginning to the end, and gives away what it holds."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, data: Any) -> int:
        """Take some bytes."""
        piece = bytes(data)
        self._pieces.append(piece)
        self._size += len(piece)
        return len(piece)

    def tell(self) -> int:
        """How many bytes have been written, those that were taken included."""
        return self._size

    def flush(self) -> None:
        """Do nothing: nothing is held back."""

    def close(self) -> None:
        """Do nothing: what is held is still to be taken."""

    def take(self) -> bytes:
        """Give away what was written since the last time."""
        data, self._pieces = b"".join(self._pieces), []
        return data


class ParquetReport:
    """Holds the rows of one group; `MissingExtraError` without pyarrow."""

    def __init__(self) -> None:
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError:
            raise MissingExtraError("the Parquet report", "bulk") from None
        self._arrow, self._parquet = pyarrow, parquet
        self._schema = pyarrow.schema([(column.name, _TYPES[column.type]) for column in COLUMNS])
        self._number = 0
        self._rows: list[tuple[Cell, ...]] = []

    def start(self, head: RunHead) -> bytes:
        """Open the file."""
        self._head, self._number, self._rows = head, 0, []
        self._file = _Pieces()
        self._writer = self._parquet.ParquetWriter(self._file, self._schema, compression="zstd")
        return self._file.take()

    def add(self, result: Result) -> bytes:
        """Keep the rows of one result, and write a group of them when there are enough."""
        self._number += 1
        self._rows.extend(rows(result, self._number))
        if len(self._rows) >= ROW_GROUP:
            self._write()
        return self._file.take()

    def end(self, end: RunEnd) -> bytes:
        """Write what is left, and close the file with what the run came to."""
        if self._rows:
            self._write()
        summary, decision = end.summary, end.decision
        counts = {name: getattr(summary, name) for name in ("passed", "failed", "errors", "inconclusive", "total")}
        run = {
            "version": self._head.product,
            "rules": self._head.rules,
            "test_set": {"name": self._head.test_set, "hash": self._head.test_set_hash},
            "counts": counts,
            "decision": decision,
        }
        self._writer.add_key_value_metadata({"rightcall": encode(run)})
        self._writer.close()
        return self._file.take()

    def _write(self) -> None:
        columns = zip(*self._rows, strict=True)
        arrays = [
            self._arrow.array([_unicode(cell) for cell in cells], type=field.type)
            for cells, field in zip(columns, self._schema, strict=True)
        ]
        self._writer.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))
        self._rows = []


def _unicode(cell: Cell) -> Cell:
    if isinstance(cell, str) and not cell.isascii():
        return cell.encode("utf-8", "backslashreplace").decode("utf-8")
    return cell
