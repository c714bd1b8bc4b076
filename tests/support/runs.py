"""Grading files through the use case, with what was reported kept."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rightcall.app import service
from rightcall.app.sinks import Sink
from rightcall.core.results import Result
from rightcall.core.summary import RunEnd, RunHead


class Kept:
    """A report that keeps what it is told, and a target that keeps nothing."""

    def __init__(self) -> None:
        self.heads: list[RunHead] = []
        self.results: list[Result] = []
        self.ends: list[RunEnd] = []

    def start(self, head: RunHead) -> bytes:
        """Keep the head."""
        self.heads.append(head)
        return b""

    def add(self, result: Result) -> bytes:
        """Keep a result."""
        self.results.append(result)
        return b""

    def end(self, end: RunEnd) -> bytes:
        """Keep the end."""
        self.ends.append(end)
        return b""

    def write(self, data: bytes) -> None:
        """Take bytes."""

    def finish(self) -> None:
        """Do nothing."""

    def discard(self) -> None:
        """Do nothing."""

    @property
    def outcomes(self) -> dict[str, str]:
        """The outcome of each result by its id, in order."""
        return {result.id: str(result.outcome) for result in self.results}

    @property
    def end_note(self) -> RunEnd:
        """What the run came to."""
        return self.ends[0]


def grade(*traces: str | Path, tests: Iterable[str | Path] = (), **options: Any) -> Kept:
    """Grade files and keep what was reported."""
    kept = Kept()
    request = service.GradeRequest(traces=tuple(map(str, traces)), tests=tuple(map(str, tests)), **options)
    service.grade(request, [Sink(kept, lambda: kept)])
    return kept


def record(identity: str | None, *calls: str, **more: Any) -> dict[str, Any]:
    """A native record of calls without arguments."""
    made = {"tool_calls": [{"name": name} for name in calls], **more}
    return made if identity is None else {"id": identity, **made}


def lines(path: Path, *records: Any) -> Path:
    """Write JSON Lines; text is written as it stands."""
    texts = [item if isinstance(item, str) else json.dumps(item) for item in records]
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def write_tests(path: Path, **tests: dict[str, Any]) -> Path:
    """Write a test set of tests by id."""
    content = {"version": 1, "tests": [{"id": identity, **keys} for identity, keys in tests.items()]}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path
