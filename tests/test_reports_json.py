"""The JSON reports keep their shape whatever happened."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rightcall.core.results import Result
from rightcall.core.summary import Gate
from rightcall.reports.json import JSONLinesReport, JSONReport
from support.reporting import (
    EMPTY,
    FAILED,
    FLAKY,
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


def document(*made: Result, **options: Any) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(report(JSONReport(), made, **options))
    return parsed


def shape(value: Any) -> Any:
    """The keys and types of a value; of a list, those of its elements."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return list if isinstance(value, list) else type(value)


def test_document_says_what_it_is() -> None:
    """The document has the version of the product, of its own shape and of the rules."""
    found = document(*RUN)
    assert (found["rightcall"], found["schema"], found["rules"]) == ("0.0", 1, "1")
    assert found["test_set"] == {"name": "Refund flow", "hash": "abc"}


def test_gate_is_exact() -> None:
    """G35: rates are written as the fractions that decide."""
    gate = Gate(min_pass_rate=Fraction(2, 3), thresholds={"a": Fraction(4, 5)})
    expected = {"min_pass_rate": "2/3", "min_graded": 1, "allow_errors": 0, "thresholds": {"a": "4/5"}}
    assert expected == document(gate=gate)["gate"]


def test_counts_have_a_coverage() -> None:
    """G35: coverage stands beside every rate."""
    expected = {
        "passed": 1,
        "failed": 2,
        "errors": 1,
        "inconclusive": 1,
        "graded": 3,
        "total": 5,
        "pass_rate": 1 / 3,
        "coverage": 3 / 5,
    }
    assert expected == document(*RUN)["counts"]


def test_rates_of_nothing_are_null() -> None:
    """G19: what has an empty denominator is null, never 0."""
    counts = document()["counts"]
    assert (counts["pass_rate"], counts["coverage"]) == (None, None)


def test_verdict_table_counts_each_name() -> None:
    """Each verdict name has its counts, all of them and those that gate."""
    warned = result("w", attempt(verdict("tool_sequence", "fail", "No.", severity="warn"), verdict("x", "pass")))
    table = {row["name"]: row for row in document(PASSED, warned)["verdicts"]}
    assert table["tool_sequence"]["all"] == {"passed": 1, "failed": 1, "errors": 0, "not_applicable": 0}
    assert table["tool_sequence"]["blocking"] == {"passed": 1, "failed": 0, "errors": 0, "not_applicable": 0}


def test_decision_says_why() -> None:
    """G36: the decision is in the document with its reasons."""
    decision = document(FAILED, UNJUDGED)["decision"]
    assert (decision["passed"], decision["exit_code"], decision["incomplete"]) == (False, 1, True)
    assert decision["reasons"] == ["pass rate 0/1 = 0.0000 < 1.0000", "1 test could not be judged"]


def test_recorded_stands_beside_the_number_of_calls() -> None:
    """G3: no calls and no recording are told apart without looking at types."""
    found = document(result("a", attempt(calls=0)), result("b", attempt(calls=None)))["results"]
    assert [(one["attempts"][0]["recorded"], one["attempts"][0]["calls"]) for one in found] == [
        (True, 0),
        (False, None),
    ]


@heavy
@given(st.lists(results(), min_size=1, max_size=3))
def test_shape_never_depends_on_what_happened(made: list[Result]) -> None:
    """Lists are lists, also when they are empty, and every key is always there."""
    full, found = document(FLAKY, UNJUDGED), document(*made)
    assert shape(full["decision"]) == shape(found["decision"])
    assert full.keys() == found.keys()
    for one in found["results"]:
        assert full["results"][0].keys() == one.keys()
        assert isinstance(one["attempts"], list)
        for each in one["attempts"]:
            assert full["results"][0]["attempts"][0].keys() == each.keys()
            assert isinstance(each["verdicts"], list)
            assert all(isinstance(verdict["findings"], list) for verdict in each["verdicts"])


@heavy
@given(st.lists(results(), max_size=3))
def test_lines_are_the_results_of_the_document(made: list[Result]) -> None:
    """JSON Lines hold the results, one a line, without expected beside made."""
    lines = report(JSONLinesReport(), made).decode().split("\n")
    wanted = document(*made)["results"]
    for part in (part for whole in wanted for part in whole["attempts"]):
        del part["alignments"]
    assert wanted == [json.loads(line) for line in lines if line]


def test_big_integers_and_lone_surrogates_are_written_exactly() -> None:
    """G7: numbers of any size and any string come out as they went in."""
    value = {"n": 2**70, "s": "\ud800"}
    found = document(result("a", attempt(verdict("x", "fail", "No."), output=value)))
    assert value == found["results"][0]["attempts"][0]["output"]


def test_inconclusive_is_an_outcome_of_its_own() -> None:
    """G1: nothing expected is neither pass nor fail in the report."""
    assert document(EMPTY)["results"][0]["outcome"] == "inconclusive"
