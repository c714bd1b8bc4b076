"""The results as a table: CSV for spreadsheets, Parquet for runs of any size."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Sequence
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from rightcall.core.results import Result
from rightcall.core.values import visible
from rightcall.errors import MissingExtraError
from rightcall.reports import REPORTS
from rightcall.reports.table import COLUMNS, rows
from rightcall.reports.table.csv import CSVReport
from rightcall.reports.table.parquet import ROW_GROUP, ParquetReport
from support.reporting import (
    FAILED,
    FLAKY,
    HOSTILE,
    PASSED,
    RUN,
    UNJUDGED,
    attempt,
    heavy,
    report,
    result,
    results,
    verdict,
)

NAMES = [column.name for column in COLUMNS]


def from_csv(data: bytes) -> list[dict[str, Any]]:
    """The rows as the documentation says they are read: numbers, and texts without the apostrophe before formulas."""
    lines = csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True)
    header = next(lines)
    types = {column.name: column.type for column in COLUMNS}
    return [{name: _cell(cell, types[name]) for name, cell in zip(header, line, strict=True)} for line in lines]


def _cell(cell: str, kind: str) -> Any:
    if kind == "text":
        return cell.removeprefix("'")
    return float(cell) if cell else None


def from_parquet(data: bytes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parquet.read_table(pyarrow.BufferReader(data)).to_pylist()
    return found


def as_table(made: Sequence[Result]) -> list[dict[str, Any]]:
    numbered = [row for number, one in enumerate(made, 1) for row in rows(one, number)]
    return [dict(zip(NAMES, row, strict=True)) for row in numbered]


def test_columns_are_stable() -> None:
    """Names, order and types of columns are a promise; new ones come at the end."""
    assert ", ".join(NAMES) == (
        "result, test, name, place, outcome, reason, attempts, attempt, trajectory, trajectory_place, trajectory_hash, "
        "attempt_outcome, attempt_reason, calls, verdict, verdict_name, kind, status, severity, score, precision, "
        "recall, code, verdict_reason, findings, labels"
    )
    numbers = {column.name: column.type for column in COLUMNS if column.type != "text"}
    whole = dict.fromkeys(("result", "attempts", "attempt", "calls", "findings"), "integer")
    assert numbers == {**whole, **dict.fromkeys(("score", "precision", "recall"), "number")}


def test_each_verdict_is_a_row() -> None:
    """A row for each verdict of each attempt, and one for a result that has none."""
    found = [(row["result"], row["test"], row["attempt"], row["verdict"], row["status"]) for row in as_table(RUN)]
    assert found == [
        (1, "late-order", 1, "tool_sequence", "pass"),
        (2, "damaged", 1, "tool_sequence", "fail"),
        (2, "damaged", 1, "no_unexpected_tool", "pass"),
        (3, "gone", None, None, None),
        (4, "empty", 1, "tool_sequence", "not_applicable"),
        (5, "flaky", 1, "tool_sequence", "pass"),
        (5, "flaky", 2, "tool_sequence", "fail"),
    ]


def test_attempt_without_verdicts_is_a_row() -> None:
    """A record that could not be read is an attempt with a reason and no verdict."""
    (row,) = as_table([result("a", attempt(outcome="error", reason="No JSON."))])
    assert (row["attempt_outcome"], row["attempt_reason"], row["verdict"]) == ("error", "No JSON.", None)


def test_csv_of_a_result() -> None:
    """RFC 4180: a header, CRLF, texts in quotes with quotes doubled, numbers bare, nothing for nothing."""
    made = result('a "b"', attempt(verdict("x", "fail", "No, b."), calls=None), labels={"tags": ["é"]})
    header, line, end = report(CSVReport(), [made]).decode("utf-8").split("\r\n")
    assert header == ",".join(f'"{name}"' for name in NAMES)
    assert line == (
        '1,"a ""b""","","","fail","",1,1,"t-1","","","fail","",,"x","x","fake","fail","block",,,,"missing","No, b.",1,'
        '"{""tags"":[""é""]}"'
    )
    assert end == ""


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("  =1", "'  =1"),
        ("＝1", "'＝1"),
        ("'quoted", "''quoted"),
        ("''=1", "'''=1"),
        ("a=1", "a=1"),
        ("12", "12"),
        ("\t=1", "\\t=1"),
        ("\r=1", "\\r=1"),
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
    ],
)
def test_formulas_are_text(text: str, written: str) -> None:
    """A cell that a spreadsheet would compute has an apostrophe before it, and taking one away gives the text back."""
    data = report(CSVReport(), [result(text, attempt(verdict("x", "pass")))])
    raw = list(csv.reader(io.StringIO(data.decode(), newline="")))[1][1]
    assert raw == written
    assert from_csv(data)[0]["test"] == visible(text)


@heavy
@given(st.lists(results(), max_size=4))
def test_csv_is_read_back(made: list[Result]) -> None:
    """A strict reader finds each row on a line of its own with every text, control characters shown as escapes."""
    data = report(CSVReport(), made)
    expected = [
        {name: visible(cell) if isinstance(cell, str) else cell for name, cell in row.items()} for row in as_table(made)
    ]
    found = from_csv(data)
    assert found == [
        {name: "" if _is_empty_text(name, cell) else cell for name, cell in row.items()} for row in expected
    ]
    assert data.count(b"\r\n") == data.count(b"\n") == len(expected) + 1


def _is_empty_text(name: str, cell: Any) -> bool:
    return cell is None and next(column.type for column in COLUMNS if column.name == name) == "text"


@heavy
@given(st.lists(results(), max_size=4))
def test_parquet_is_read_back(made: list[Result]) -> None:
    """Texts come back as they were recorded; only lone surrogates are escapes."""
    expected = [
        {name: cell.encode("utf-8", "backslashreplace").decode() if isinstance(cell, str) else cell
         for name, cell in row.items()}
        for row in as_table(made)
    ]  # fmt: skip
    assert expected == from_parquet(report(ParquetReport(), made))


def test_parquet_has_types_and_the_run() -> None:
    """Columns have their types, also in a run without results, and the metadata has counts and decision."""
    for made in ((), RUN):
        file = parquet.ParquetFile(pyarrow.BufferReader(report(ParquetReport(), made)))
        types = {"text": "string", "integer": "int64", "number": "double"}
        assert [(field.name, str(field.type)) for field in file.schema_arrow] == [
            (column.name, types[column.type]) for column in COLUMNS
        ]
    run = json.loads(file.metadata.metadata[b"rightcall"])
    assert run["counts"] == {"passed": 1, "failed": 2, "errors": 1, "inconclusive": 1, "total": 5}
    assert (run["decision"]["exit_code"], run["test_set"]) == (1, {"name": "Refund flow", "hash": "abc"})


def test_parquet_streams_in_row_groups() -> None:
    """What was written is given away group by group, so that a run of any size is held in parts only."""
    many = result("many", *[FAILED.attempts[0]] * (ROW_GROUP // 4))
    file = parquet.ParquetFile(pyarrow.BufferReader(report(ParquetReport(), [many, many, PASSED, many])))
    groups = [file.metadata.row_group(index).num_rows for index in range(file.num_row_groups)]
    assert groups == [ROW_GROUP, ROW_GROUP // 2 + 1]


def test_parquet_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library, one sentence says what to install."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        MissingExtraError, match=r"the Parquet report needs the extra `bulk`: pip install 'rightcall\[bulk\]'"
    ):
        REPORTS["parquet"].make()


def test_huge_text_stays_whole() -> None:
    """Tables cut nothing."""
    huge = "é" * 1_000_000
    made = [result("a", attempt(verdict("x", "fail", huge)), name=HOSTILE), UNJUDGED, FLAKY]
    before = csv.field_size_limit(2_000_000)
    try:
        assert from_csv(report(CSVReport(), made))[0]["verdict_reason"] == huge
    finally:
        csv.field_size_limit(before)
    assert from_parquet(report(ParquetReport(), made))[0]["verdict_reason"] == huge
