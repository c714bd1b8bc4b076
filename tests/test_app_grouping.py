"""Grouping as users call for it: the option, several files, and what does not fit into memory."""

from __future__ import annotations

import errno
import functools
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest

from rightcall.app import reading
from rightcall.app.spool import Spools, Storage
from rightcall.errors import StoreError
from support.command_line import run_here
from support.runs import grade, lines, record, write_tests
from support.spanning import asked, span

Capture = pytest.CaptureFixture[bytes]


def of_trace(trace: str, number: int, *calls: str, **attributes: Any) -> dict[str, Any]:
    """A model span of a trace that asks for calls."""
    return span(number, asked(*((name, {}) for name in calls), **attributes), traceId=trace * 32)


def otlp(path: Path, *spans: dict[str, Any]) -> Path:
    """Write JSON lines of spans."""
    return lines(path, *spans)


@pytest.mark.parametrize(
    ("group_by", "shown"),
    [
        ([], ["s  2 calls", f"{'c' * 32}  1 call"]),
        (["--group-by", "trace"], [f"{'a' * 32}  1 call", f"{'b' * 32}  1 call", f"{'c' * 32}  1 call"]),
        (["--group-by", "file"], ["s  3 calls"]),
        (["--group-by", "attribute:team"], ["x  2 calls", f"{'a' * 32}  1 call"]),
    ],
)
def test_show_groups_as_it_is_told(tmp_path: Path, capfdbinary: Capture, group_by: list[str], shown: list[str]) -> None:
    """What of a file is one trajectory is an option of every command that reads traces."""
    session = {"session.id": "s"}
    file = otlp(
        tmp_path / "t.jsonl",
        of_trace("a", 3, "one", **session),
        of_trace("b", 1, "two", **session, team="x"),
        of_trace("c", 2, "three", team="x"),
    )
    code, out, _ = run_here(capfdbinary, "show", file, *group_by)
    found = re.findall(r"^(\S+  \d calls?)  ", out, re.MULTILINE)
    assert (0, sorted(shown)) == (code, sorted(found))


def test_grade_takes_a_file_for_one_trajectory(tmp_path: Path) -> None:
    """Calls of several records count together; what a broken one held may be missing."""
    tests = write_tests(tmp_path / "x.rightcall.json", t={"expected_tool_calls": ["a", "b"], "match": "exact"})
    good = lines(tmp_path / "good.jsonl", record("1", "a"), record("2", "b"))
    bad = lines(tmp_path / "bad.jsonl", record("1", "a"), "{", record("2", "b"))
    assert grade(good, tests=[tests], group_by="file").outcomes == {"t": "pass"}
    assert grade(bad, tests=[tests], group_by="file").outcomes == {"t": "error"}


def test_records_put_together_are_one_attempt(tmp_path: Path) -> None:
    """The expectations that one of them carries are held against all."""
    parts = record("1", "a", conversation_id="s"), record("2", "b", conversation_id="s", required_tools=["a", "b"])
    file = lines(tmp_path / "t.jsonl", *parts)
    assert grade(file).outcomes == {"2": "fail"}
    assert grade(file, group_by="conversation").outcomes == {"s": "pass"}


def test_an_unknown_group_is_a_usage_error(tmp_path: Path, capfdbinary: Capture) -> None:
    """Exit code 2, before anything is read."""
    file = lines(tmp_path / "t.jsonl", record("1", "a"))
    code, _, err = run_here(capfdbinary, "grade", file, "--group-by", "session")
    assert code == 2
    assert "`session` is nothing to group by" in err


BAN = {"t": {"forbidden_tools": ["drop"]}}


@pytest.mark.parametrize("group_by", [None, "conversation", "trace", "file"])
def test_a_trace_in_two_files_cannot_pass(tmp_path: Path, group_by: str | None) -> None:
    """Each file holds half of what happened, so a verdict on one of them would be one on half a trace."""
    tests = write_tests(tmp_path / "x.rightcall.json", **BAN)
    one = otlp(tmp_path / "1.jsonl", of_trace("a", 1, "look"))
    two = otlp(tmp_path / "2.jsonl", of_trace("a", 2, "look"))
    kept = grade(one, two, tests=[tests], apply_all=True, group_by=group_by)
    assert list(kept.outcomes.values()) == ["pass", "error"]
    assert kept.results[1].reason == (
        f"The record cannot be read: the trace `{'a' * 32}` is also in `{one}`: a part of it cannot be judged alone; "
        "give both as one file, as with `cat`"
    )
    assert kept.end_note.decision.exit_code == 3


@pytest.mark.parametrize(
    ("group_by", "outcomes"),
    [(None, ["pass", "error"]), ("conversation", ["pass", "error"]), ("trace", ["pass"] * 2), ("file", ["pass"] * 2)],
)
def test_a_conversation_in_two_files_passes_only_in_parts_that_were_asked_for(
    tmp_path: Path, group_by: str | None, outcomes: list[str]
) -> None:
    """A conversation is judged whole; who wants each trace or each file judged says so."""
    tests = write_tests(tmp_path / "x.rightcall.json", **BAN)
    one = otlp(tmp_path / "1.jsonl", of_trace("a", 1, "look", **{"session.id": "s"}))
    two = otlp(tmp_path / "2.jsonl", of_trace("b", 2, "look", **{"session.id": "s"}))
    kept = grade(one, two, tests=[tests], apply_all=True, group_by=group_by)
    assert outcomes == [str(result.outcome) for result in kept.results]


def test_records_of_one_conversation_in_two_files_are_attempts(tmp_path: Path) -> None:
    """A record is a whole trajectory wherever it stands, unless records are to be put together."""
    tests = write_tests(tmp_path / "x.rightcall.json", s={"forbidden_tools": ["drop"]})
    files = [lines(tmp_path / f"{name}.jsonl", record(name, "a", conversation_id="s")) for name in "12"]
    assert grade(*files, tests=[tests]).outcomes == {"s": "pass"}
    assert grade(*files, tests=[tests], group_by="conversation").outcomes == {"s": "error"}


SHARED = [
    (None, "pass"),
    ("trace", "pass"),
    ("file", "pass"),
    ("conversation", "pass"),
    ("attribute:run", "error"),
]


@pytest.mark.parametrize(("group_by", "outcome"), SHARED)
def test_records_are_whole_except_by_what_they_are_put_together(
    tmp_path: Path, group_by: str | None, outcome: str
) -> None:
    """Records may repeat a trace, and may be judged in as many files as one likes, unless a group is in several."""
    tests = write_tests(tmp_path / "x.rightcall.json", **BAN)
    files = [
        lines(tmp_path / f"{name}.jsonl", record(name, "a", trace_ids=["t"], metadata={"run": 5})) for name in "12"
    ]
    results = grade(*files, tests=[tests], apply_all=True, group_by=group_by).results
    assert [str(result.outcome) for result in results] == ["pass", outcome]


class Full:
    """A disk without room."""

    def __init__(self, max_size: int) -> None:
        self.closed = False

    def seek(self, offset: int, whence: int = 0) -> int:
        """The place to write at."""
        return 0

    def write(self, data: bytes) -> int:
        """Refuse to."""
        raise OSError(errno.ENOSPC, "No space left on device")

    def close(self) -> None:
        """Even this may want to write what is left."""
        self.closed = True
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_told_with_what_to_do(
    tmp_path: Path, capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 3 and one sentence; nothing that was cut short is taken for a result."""
    file = otlp(tmp_path / "t.jsonl", of_trace("a", 1, "look"))
    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", Full)
    code, _, err = run_here(capfdbinary, "show", file)
    assert code == 3
    assert "cannot be kept there: no space left on device; name a directory with more room" in err


def test_nothing_is_left_of_what_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The temporary file has no name, so that it is gone when the program is, however it ends."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Storage(0) as storage:
        ticket = storage.add(b"x" * 100_000)
        assert (storage.get(ticket), os.listdir(tmp_path)) == (b"x" * 100_000, [])


def test_spools_share_a_file_and_close_it_together() -> None:
    """What one keeps does not disturb the other; afterwards nothing can be had."""
    with Spools(0) as keep:
        texts, numbers = keep(str), keep(int)
        tickets = [texts.keep("a"), numbers.keep(1), texts.keep("b")]
        assert (texts.fetch(tickets[0]), numbers.fetch(tickets[1]), texts.fetch(tickets[2])) == ("a", 1, "b")
    with pytest.raises((StoreError, ValueError)):
        texts.fetch(tickets[0])


def test_grading_from_a_file_beyond_memory_comes_to_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How much memory there is decides nothing."""
    spans = [of_trace(trace, number, "look", "drop") for number in range(1, 20) for trace in "abcdef"]
    file = otlp(tmp_path / "t.jsonl", *spans)
    tests = write_tests(tmp_path / "x.rightcall.json", t={"required_tools": ["look"]})
    here = grade(file, tests=[tests], apply_all=True)
    monkeypatch.setattr(reading, "Spools", functools.partial(Spools, 0))
    there = grade(file, tests=[tests], apply_all=True)
    assert [json.dumps(str(result)) for result in here.results] == [json.dumps(str(result)) for result in there.results]
