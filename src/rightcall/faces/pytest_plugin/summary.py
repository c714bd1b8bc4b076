"""The section at the end of pytest's output: how many tests came to what, and what did not block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from rightcall.core.results import Outcome
from rightcall.faces.pytest_plugin.telling import NOTE, OUTCOME


def write(terminalreporter: Any, reports: Sequence[pytest.TestReport]) -> None:
    """Write the section."""
    outcomes = {report.nodeid: value for report in reports for value in _values(report, OUTCOME)}
    counts = Counter(outcomes.values())
    terminalreporter.section("rightcall")
    for nodeid, note in dict.fromkeys((report.nodeid, note) for report in reports for note in _notes(report)):
        terminalreporter.write_line(f"{nodeid}: {note}")
    if not outcomes:
        return
    names = {Outcome.PASS: "passed", Outcome.FAIL: "failed", Outcome.ERROR: "errors"}
    told = ", ".join(f"{names.get(outcome, outcome)} {counts[outcome]}" for outcome in Outcome)
    terminalreporter.write_line(f"{told}, total {len(outcomes)}")


def _notes(report: pytest.TestReport) -> Iterable[object]:
    return _values(report, NOTE)


def _values(report: pytest.TestReport, name: str) -> Iterable[object]:
    return [value for key, value in report.user_properties if key == name]
