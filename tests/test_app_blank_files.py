"""Files that begin with much white space: nothing of them is lost, and lines keep their numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall import traces
from rightcall.app import service
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from rightcall.traces import documents
from support.runs import grade, lines, write_tests

RECORD = json.dumps({"id": "z", "tool_calls": [{"name": "del"}]})
LEADS = {
    "line feeds": "\n" * 70_000,
    "up to the end of what is looked at": "\n" * (documents.HEAD - 6),
    "windows lines": "\r\n" * 100_000,
    "spaces": " " * 70_000 + "\n",
    "more than is held": "\n" * 1_000_000,
    "a byte order mark": "\ufeff" + "\n" * 70_000,
}


pytestmark = pytest.mark.usefixtures("in_tmp")


@pytest.mark.parametrize("lead", LEADS.values(), ids=LEADS)
def test_record_after_white_space_is_read(lead: str) -> None:
    """A record is read however far down it stands, and what is wrong after it has its line."""
    Path("t.jsonl").write_text(f"{lead}{RECORD}\nnonsense\n", newline="")
    record, broken = [reading.item for reading in service.read_traces(["t.jsonl"])]
    assert isinstance(record, Trajectory)
    assert record.id == "z"
    assert isinstance(broken, TraceError)
    assert broken.where.line == lead.count("\n") + 2


@pytest.mark.parametrize("lead", LEADS.values(), ids=LEADS)
@pytest.mark.parametrize("value", [[json.loads(RECORD)], [{"role": "user", "content": "Hello"}]])
def test_document_after_white_space_is_read(lead: str, value: list[object]) -> None:
    """A document of several lines is told, and read, after white space as without it."""
    text = json.dumps(value, indent=1)
    expected = list(traces.read([text.encode()]))
    assert expected == list(traces.read([f"{lead}{text}".encode()]))
    assert len(expected) == 1


def test_record_after_white_space_is_graded_for_every_test() -> None:
    """A forbidden call far down in a file is found, also when every trajectory is graded for every test."""
    Path("t.jsonl").write_text("\n" * 70_000 + RECORD)
    lines(Path("other.jsonl"), {"id": "y", "tool_calls": []})
    tests = write_tests(Path("x.rightcall.json"), ban={"forbidden_tools": ["del"]})
    kept = grade("other.jsonl", "t.jsonl", tests=[tests], apply_all=True)
    assert kept.outcomes == {"ban[y]": "pass", "ban[z]": "fail"}


def test_repeated_record_after_white_space_is_an_attempt() -> None:
    """Records that share an id are attempts at one test, however far down the second stands."""
    text = json.dumps({"id": "z", "tool_calls": [{"name": "del"}], "required_tools": ["del"]})
    Path("a.jsonl").write_text(text)
    Path("b.jsonl").write_text("\n" * 70_000 + text)
    kept = grade("a.jsonl", "b.jsonl")
    assert [len(result.attempts) for result in kept.results] == [2]


def cut(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    """The data in chunks of these sizes, and the rest."""
    for size in sizes:
        yield data[:size]
        data = data[size:]
    yield data


@given(
    st.text(" \t\r\n", max_size=3000).map(str.encode),
    st.binary(max_size=20),
    st.lists(st.integers(1, 1500), max_size=5),
)
def test_peeking_loses_nothing(lead: bytes, rest: bytes, sizes: list[int]) -> None:
    """What is peeked at is given again, whole, and the head holds whatever there is beside white space."""
    data = lead + rest.removeprefix(b"\xef\xbb\xbf")
    head, chunks = documents.peek(cut(data, sizes))
    again = b"".join(chunks)
    assert data.removeprefix(b"\xef\xbb\xbf") == again
    assert head.strip() == again.strip()
