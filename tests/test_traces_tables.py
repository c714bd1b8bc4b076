"""Tables as CSV and Parquet: rows that a format knows, columns that hold a trace, and tables that hold none."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from support import corpus
from support.spanning import read_bytes, told

Row = dict[str, Any]


def as_csv(rows: list[Row], write: Callable[[Any], str] = json.dumps) -> bytes:
    """Rows as CSV, lists and objects as JSON or as Python prints them."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(
        {key: write(cell) if isinstance(cell, dict | list) else cell for key, cell in row.items()} for row in rows
    )
    return out.getvalue().encode()


def as_printed(rows: list[Row]) -> bytes:
    return as_csv(rows, repr)


def as_parquet(rows: list[Row]) -> bytes:
    """Rows as Parquet, lists and objects as JSON text."""
    return as_structs(
        [
            {key: json.dumps(cell) if isinstance(cell, dict | list) else cell for key, cell in row.items()}
            for row in rows
        ]
    )


def as_structs(rows: list[Row]) -> bytes:
    """Rows as Parquet, lists and objects as columns of structs, whose members every row has."""
    out = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows), out)
    return out.getvalue()


LAYOUTS = [as_csv, as_printed, as_parquet, as_structs]
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}
ANSWER = {"role": "assistant", "content": None, "tool_calls": [CALL]}
MESSAGES: list[Any] = [{"role": "user", "content": 'Weather, in "Paris"?\nNow'}, ANSWER]
RESPONSE = {"id": "r1", "choices": [{"index": 0, "message": ANSWER, "finish_reason": "tool_calls"}]}
RUN = {
    "id": "1",
    "trace_id": "t",
    "run_type": "tool",
    "name": "weather",
    "dotted_order": "20261130T000000000000Z1",
    "inputs": {"city": "Paris"},
    "outputs": {"output": "20"},
}
OBSERVATION = {
    "id": "1",
    "traceId": "t",
    "parentObservationId": "0",
    "type": "TOOL",
    "name": "weather",
    "startTime": "2026-11-30T00:00:00Z",
    "input": {"city": "Paris"},
    "output": "20",
}
SPAN = {
    "name": "weather",
    "span_id": "s",
    "attributes": {"mlflow.spanType": '"TOOL"', "mlflow.spanInputs": '{"city": "Paris"}'},
}
TABLES: dict[str, tuple[str, Row]] = {
    "a dataset of conversations": ("openai-chat", {"split": "test", "messages": MESSAGES}),
    "native records": ("native", {"id": "r", "tool_calls": [{"name": "weather", "arguments": {"city": "Paris"}}]}),
    "MLflow's traces": ("mlflow", {"trace_id": "t", "trace": {"info": {"trace_id": "t"}, "data": {"spans": [SPAN]}}}),
    "MLflow's spans": ("mlflow", {"trace_id": "t", "state": "OK", "spans": [SPAN]}),
    "runs of LangSmith": ("langsmith", RUN),
    "observations of Langfuse": ("langfuse", OBSERVATION),
    "a log of requests and responses": (
        "openai-chat",
        {"url": "/v1/chat/completions", "request": {"model": "m", "messages": MESSAGES[:1]}, "response": RESPONSE},
    ),
    "responses": ("openai-chat", {"prompt": "Weather?", "response": RESPONSE}),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", TABLES)
def test_tables_that_tools_export_are_read(name: str, layout: Callable[[list[Row]], bytes]) -> None:
    """Rows that a format knows, and columns that hold a whole trace; detected, and by name."""
    format_, row = TABLES[name]
    data = layout([row])
    (made,) = read_bytes(data)
    assert told(made) == [("weather", {"city": "Paris"})]
    assert made.gaps == ()
    assert traces.detect(data) == format_
    assert read_bytes(data, format_) == [made]


def test_each_row_is_a_trajectory() -> None:
    """In order, and the row's own id is the trajectory's."""
    rows = [{"id": f"r{number}", "messages": MESSAGES} for number in range(3)]
    for layout in LAYOUTS:
        assert [made.id for made in read_bytes(layout(rows))] == ["r0", "r1", "r2"]


def test_members_that_other_rows_brought_into_a_struct_are_absent() -> None:
    """Parquet gives every struct of a column the members of all of them."""
    arguments = [{"city": "Paris"}, {"order": 42}]
    rows = [{"tool_calls": [{"name": "a", "arguments": one}]} for one in arguments]
    assert [told(made) for made in read_bytes(as_structs(rows))] == [[("a", one)] for one in arguments]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_table_without_a_trace_is_refused_with_its_columns(layout: Callable[[list[Row]], bytes]) -> None:
    """And with the columns that would be read."""
    with pytest.raises(TraceError) as caught:
        read_bytes(layout([{"question": "x", "score": 1}]))
    assert "no column that holds a trace; its columns are `question`, `score`; known are `tool_calls`" in str(
        caught.value
    )


def test_names_of_columns_may_be_in_any_language() -> None:
    """Also in quotes, after a byte order mark, with the index that pandas writes, and with any line ends."""
    data = as_csv([{"": 0, "Größe, cm": 1, "id": "r", "messages": MESSAGES}])
    for text in (data, b"\xef\xbb\xbf" + data, data.replace(b"\r\n", b"\n")):
        assert [(made.id, told(made)) for made in read_bytes(text)] == [("r", [("weather", {"city": "Paris"})])]


def test_a_cell_that_repeats_a_key_stays_text() -> None:
    """It is JSON that says two things; nobody picks one (G7)."""
    data = as_csv([{"id": "r", "tool_calls": "x"}]).replace(b"x", b'"[{""name"": ""a"", ""name"": ""b""}]"')
    with pytest.raises(TraceError, match="expected an array of tool calls; found text"):
        read_bytes(data)


def test_a_row_with_too_few_cells_ends_the_table() -> None:
    """The rows before it are read, with a gap, and the error has its number (G12)."""
    rows = [{"id": "r1", "messages": MESSAGES}, {"id": "r2", "messages": MESSAGES}]
    made, second, error = traces.read([as_csv(rows) + b"r3\n"], file="f")
    assert isinstance(made, Trajectory)
    assert isinstance(second, Trajectory)
    assert isinstance(error, TraceError)
    assert str(error) == "f: row 4 has 1 cells; the header has 2"
    assert any("row 4 has 1 cells" in gap for gap in second.gaps)


def test_a_head_of_parquet_tells_no_format() -> None:
    """It has the names of its columns at the end."""
    data = corpus.OWN.joinpath("phoenix-dataframe", "1.parquet").read_bytes()
    assert traces.detect(data) == "openinference"
    with pytest.raises(TraceError, match="the Parquet file cannot be read"):
        traces.detect(data[:1000])


@pytest.mark.parametrize("data", [b"Dear all, hello\nand so on\n", b"# Title, of a page\n", b"tests: 1, 2\nx: y\n"])
def test_text_with_commas_is_no_table(data: bytes) -> None:
    """Unless every line has as many of them."""
    with pytest.raises(TraceError) as caught:
        read_bytes(data)
    assert "columns" not in str(caught.value)


@given(
    st.text(alphabet='a,"\n\r{[x', max_size=40), st.sampled_from([b"id,messages\n", b"trace\n", b"tool_calls,id\r\n"])
)
def test_any_text_below_a_header_gives_declared_errors_or_trajectories(text: str, header: bytes) -> None:
    """Quotes that do not end, rows of any length (G5)."""
    try:
        assert all(isinstance(item, Trajectory | TraceError) for item in traces.read([header, text.encode()]))
    except TraceError as error:
        assert error.message  # noqa: PT017  # it is the declared error, which any of them may be
