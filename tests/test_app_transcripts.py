"""Conversations are kept for reports that show them, whatever way trajectories find their tests, and for no others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from rightcall.app import service
from rightcall.app.sinks import Sink
from rightcall.core.calls import Transcript
from rightcall.core.results import Result
from rightcall.core.summary import RunEnd, RunHead

CALLS: Final = [{"name": "find", "arguments": {"id": 7}}, {"name": "refund", "arguments": {}}]
MESSAGES: Final = [{"role": "user", "content": "Please."}]
KEYS: Final = {"expected_tool_calls": ["find"]}


class Nowhere:
    """A target that keeps nothing."""

    def write(self, data: bytes) -> None: ...

    def finish(self) -> None: ...

    def discard(self) -> None: ...


class Silent:
    """A report that shows nothing and remembers what it was told."""

    def __init__(self) -> None:
        self.results: list[Result] = []

    def start(self, head: RunHead) -> bytes:
        return b""

    def add(self, result: Result) -> bytes:
        self.results.append(result)
        return b""

    def end(self, end: RunEnd) -> bytes:
        return b""


class Showing(Silent):
    """One that shows conversations."""

    shows_transcripts: Final = True


def transcripts(report: Silent, folder: Path, records: list[dict[str, Any]], **how: Any) -> list[Transcript | None]:
    """What the report was told of each conversation, in order."""
    traces = folder / "traces.jsonl"
    traces.write_text("".join(f"{json.dumps(record)}\n" for record in records), "utf-8")
    service.grade(service.GradeRequest(traces=(str(traces),), **how), [Sink(report, Nowhere)])
    return [attempt.transcript for result in report.results for attempt in result.attempts]


def record(identity: str, **more: Any) -> dict[str, Any]:
    return {"id": identity, "tool_calls": CALLS, "messages": MESSAGES, **more}


def told(transcript: Transcript | None) -> tuple[list[str], list[Any] | None]:
    assert transcript is not None
    return [call.name for call in transcript.calls or ()], transcript.messages


@pytest.fixture
def tests(tmp_path: Path) -> str:
    """A test set with one test that passes and one that fails."""
    file = tmp_path / "t.rightcall.json"
    failing = {"id": "b", "forbidden_tools": ["find"]}
    file.write_text(json.dumps({"tests": [{"id": "a", **KEYS}, failing]}), "utf-8")
    return str(file)


@pytest.mark.parametrize("apply_all", [False, True])
def test_test_sets_keep_conversations_that_are_shown(tmp_path: Path, tests: str, apply_all: bool) -> None:
    """Those of tests that passed and that failed, also of several attempts."""
    records = [record("a"), record("a"), record("b")]
    found = transcripts(Showing(), tmp_path, records, tests=(tests,), apply_all=apply_all)
    assert list(map(told, found)) == [(["find", "refund"], MESSAGES)] * (6 if apply_all else 3)


def test_own_expectations_keep_conversations_that_are_shown(tmp_path: Path) -> None:
    """Of an id that occurs once and of one that occurs several times."""
    records = [record("a", **KEYS), record("b", **KEYS), record("a", **KEYS)]
    found = transcripts(Showing(), tmp_path, records)
    assert list(map(told, found)) == [(["find", "refund"], MESSAGES)] * 3


def test_nothing_is_kept_that_nothing_shows(tmp_path: Path, tests: str) -> None:
    """Runs without such a report do not pay for it."""
    assert transcripts(Silent(), tmp_path, [record("a"), record("b")], tests=(tests,)) == [None, None]


def test_not_recorded_is_told(tmp_path: Path, tests: str) -> None:
    """Calls that were not recorded are not an empty list of calls (G3)."""
    (found,) = transcripts(Showing(), tmp_path, [{"id": "a", "tool_calls": None, "output": "x"}], tests=(tests,))
    assert found is not None
    assert found.calls is None
