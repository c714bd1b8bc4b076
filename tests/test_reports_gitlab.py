"""The code quality report is what GitLab shows in merge requests."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.app.kit import report_for
from rightcall.core.results import Result
from rightcall.errors import Where
from rightcall.reports import REPORTS
from rightcall.reports.gitlab import GitLabReport
from support.reporting import EMPTY, FAILED, FLAKY, PASSED, UNJUDGED, attempt, heavy, report, result, results, verdict

SEVERITIES = {"info", "minor", "major", "critical", "blocker"}


def entries(*made: Result) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(report(GitLabReport(), made))
    return found


def test_failure_stands_at_the_line_of_its_expectation() -> None:
    """An entry has exactly the keys that GitLab documents, with the expectation's line."""
    places = {"x": Where(file="./t.yaml", line=7, column=5)}
    (entry,) = entries(result("late", attempt(verdict("x", "fail", "No b.")), place="t.yaml:3", places=places))
    assert len(entry.pop("fingerprint")) == 64
    assert entry == {
        "description": "late: x: No b.",
        "check_name": "x",
        "severity": "critical",
        "location": {"path": "t.yaml", "lines": {"begin": 7}},
    }


@pytest.mark.parametrize(("severity", "told"), [("block", "critical"), ("warn", "minor"), ("shadow", "info")])
def test_severity_is_told(severity: Any, told: str) -> None:
    """What does not count weighs less."""
    made = result("a", attempt(verdict("y", "pass"), verdict("x", "fail", "No.", severity=severity)))
    assert [told] == [entry["severity"] for entry in entries(made)]


def test_what_could_not_be_judged_is_major() -> None:
    """G1: an error is no failure, and no pass."""
    (entry,) = entries(UNJUDGED)
    assert (entry["severity"], entry["check_name"]) == ("major", "rightcall")


@pytest.mark.parametrize("made", [(), (PASSED,), (EMPTY,)])
def test_nothing_to_tell_is_an_empty_list(made: tuple[Result, ...]) -> None:
    """Without remarks there is an array without entries."""
    assert entries(*made) == []


def test_fingerprints_stay_when_lines_and_reasons_change() -> None:
    """The same test and verdict have the same fingerprint in every run."""
    first = result("a", attempt(verdict("x", "fail", "No b.")), place="t.yaml:3")
    second = result("a", attempt(verdict("x", "fail", "No c.")), place="t.yaml:9")
    assert entries(first)[0]["fingerprint"] == entries(second)[0]["fingerprint"]


@heavy
@given(st.lists(results(), max_size=4))
def test_entries_are_valid_and_their_fingerprints_differ(made: list[Result]) -> None:
    """GitLab drops an entry whose fingerprint it has seen, and a report with an entry that lacks something."""
    found = entries(*made)
    assert len({entry["fingerprint"] for entry in found}) == len(found)
    assert {entry["severity"] for entry in found} <= SEVERITIES
    assert all(entry["location"]["path"] and entry["location"]["lines"]["begin"] >= 1 for entry in found)


@heavy
@given(st.lists(results(), max_size=4))
def test_tests_that_did_not_pass_have_entries(made: list[Result]) -> None:
    """G36: there is an entry that counts if, and only if, a test failed or could not be judged."""
    counts = [entry for entry in entries(*made) if entry["severity"] in ("critical", "major")]
    assert bool(counts) == any(one.outcome in ("fail", "error") for one in made)


@pytest.mark.parametrize(
    ("path", "name"),
    [("gl-code-quality.json", "gitlab"), ("out/x.GL-code-quality-report.json", "gitlab"), ("quality.json", "json")],
)
def test_the_name_of_the_file_decides(path: str, name: str) -> None:
    """Only a name that GitLab uses means this report."""
    assert report_for(path) is REPORTS[name]


def test_attempts_share_an_entry() -> None:
    """G37: attempts at one test are one entry."""
    assert [entry["description"] for entry in entries(FAILED, FLAKY)] == [
        "damaged: tool_sequence: Expected check_policy; it was never called.\\nExpected amount = 19.5.",
        "flaky: tool_sequence: 1 of 2 attempts: No b.",
    ]
