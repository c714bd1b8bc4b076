"""Public bug reports about what a run comes to: counts, rates, the gate, exit codes, written reports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import rightcall
from rightcall.errors import TestSetError
from support.bug_reports import Case, report
from support.command_line import Ran, run_here
from support.runs import lines, record, write_tests

A = {"required_tools": ["a"]}
Capture = pytest.CaptureFixture[bytes]


pytestmark = pytest.mark.usefixtures("in_tmp")


def _run(capture: Capture, outcomes: Mapping[str, int], *options: str) -> Ran:
    """Grade records of which so many pass, fail and cannot be judged."""
    made = {"pass": ["a"], "fail": ["b"]}
    records = [
        {**record(f"{outcome}-{number}", *made.get(outcome, ()), **A), **_unrecorded(outcome)}
        for outcome, count in outcomes.items()
        for number in range(count)
    ]
    return run_here(capture, "grade", lines(Path("records.jsonl"), *records), *options)


def _unrecorded(outcome: str) -> dict[str, Any]:
    return {"tool_calls": None} if outcome == "error" else {}


def _counted(results: list[str]) -> dict[str, int]:
    return {outcome: results.count(outcome) for outcome in ("pass", "fail")}


@report("B136", "B137")
def test_ci_gating_on_failures(case: Case, capfdbinary: Capture) -> None:
    """A failed test fails the command, whatever is printed and where (G36, G39)."""
    outcomes = _counted(case["input"]["results"])
    codes = {_run(capfdbinary, outcomes, *options).code for options in ([], ["--json"], ["-o", "r.xml"], ["--quiet"])}
    assert codes == {case["expect"].get("exit_code", 1)}


@report("B138")
def test_ci_gating_with_a_rate(case: Case, capfdbinary: Capture) -> None:
    """A lower rate allows failures, exactly so many; other troubles have other codes (G36, G39)."""
    outcomes = _counted(case["input"]["results"])
    rate = str(case["input"]["config"]["min_pass_rate"])
    assert case["expect"]["exit_code"] == _run(capfdbinary, outcomes, "--min-pass-rate", rate).code
    assert _run(capfdbinary, outcomes, "--min-pass-rate", "0.51").code == 1
    assert _run(capfdbinary, {"error": 1}, "--min-pass-rate", rate).code == 3
    assert _run(capfdbinary, outcomes, "--min-pass-rate", "half").code == 2


@report("B139")
def test_ci_gating_without_results(case: Case, capfdbinary: Capture) -> None:
    """Nothing graded never passes, whatever is allowed (G36)."""
    errors = case["input"]["errors"]
    ran = _run(capfdbinary, {"error": errors}, "--min-pass-rate", "0", "--allow-errors", str(errors))
    assert (case["expect"]["exit_nonzero"], ran.code) == (True, 3)
    assert f"graded 0 of {errors}" in ran.out


@report("B141")
def test_ci_gating_on_few_samples(case: Case, capfdbinary: Capture) -> None:
    """A gate can ask for a number of graded tests; without that two are enough, and counted (G36)."""
    outcomes = _counted(case["input"]["results"])
    least = case["input"]["config"]["min_graded"]
    blocked = _run(capfdbinary, outcomes, "--min-graded", str(least))
    assert (case["expect"]["gate"], blocked.code) == ("fail", 3)
    assert f"graded 2 of 2, at least {least} needed" in blocked.out
    passed = _run(capfdbinary, outcomes)
    assert (passed.code, "passed 2" in passed.out, "total 2" in passed.out) == (0, True, True)


@report("B142")
def test_ci_gating_on_a_name_without_verdicts(case: Case, capfdbinary: Capture) -> None:
    """A threshold for verdicts that there are none of blocks (G36)."""
    ((name, rate),) = case["input"]["config"]["thresholds"].items()
    ran = _run(capfdbinary, {"pass": 1}, "--threshold", f"{name}={rate}")
    assert (case["expect"]["gate"], ran.code) == ("fail", 3)
    assert f"`{name}`: no results" in ran.out


@report("B143")
def test_ci_gating_on_a_run_that_did_not_happen(case: Case, capfdbinary: Capture) -> None:
    """What must not have happened is not judged on nothing: an error that blocks, never a pass (G3, G38)."""
    bans = {
        "forbidden_tools": ["a"],
        "tool_call_args": [{"tool": "a", "negate": True, "match": {"mode": "ignore"}}],
    }
    ran = run_here(capfdbinary, "grade", lines(Path("t.jsonl"), {"id": "one", "tool_calls": None, **bans}), "--json")
    report_ = json.loads(ran.out)
    ((attempt,),) = (result["attempts"] for result in report_["results"])
    assert {case["expect"]["verdict"]} == {verdict["status"] for verdict in attempt["verdicts"]}
    assert (ran.code, report_["decision"]["passed"]) == (3, False)


@report("B144")
def test_ci_gating_on_another_scale(case: Case, capfdbinary: Capture) -> None:
    """A threshold outside the range of its score is refused; a score equal to its threshold passes (G27, G34)."""
    threshold = case["input"]["threshold"]
    ran = _run(capfdbinary, {"pass": 1}, "--threshold", f"tool_called:a={threshold}")
    assert (ran.code, "a rate is from 0 to 1" in ran.err) == (2, True)
    with pytest.raises(TestSetError, match="threshold: expected a number from 0 to 100"):
        rightcall.grade([], {"expected_tools": ["a"], "threshold": 100 * threshold})
    (verdict,) = rightcall.grade([{"name": "a"}], {"expected_tools": ["a", "a", "a"], "threshold": 50})
    assert (verdict.score, verdict.status) == (50, "pass")


@report("B145")
def test_ci_gating_on_reports_that_cannot_be_written(case: Case, capfdbinary: Capture) -> None:
    """A report that was asked for and cannot be written fails the job; the others are written (G39)."""
    missing = str(Path("no", "such", "folder", "junit.xml"))
    ran = _run(capfdbinary, _counted(case["input"]["results"]), "-o", missing, "-o", "r.json")
    assert (case["expect"]["exit_nonzero"], ran.code) == (True, 3)
    assert missing in ran.err
    assert json.loads(Path("r.json").read_text(encoding="utf-8"))["counts"]["passed"] == 1


@report("B119", "B120")
def test_error_handling_in_rates(case: Case, capfdbinary: Capture) -> None:
    """Errors are in no rate; coverage and their number stand beside it, and they block (G35, G36)."""
    statuses = [check["status"] for check in case["input"]["checks"]]
    outcomes = {"pass": statuses.count("pass"), "error": statuses.count("error")}
    ran = _run(capfdbinary, outcomes, "--json")
    report_ = json.loads(ran.out)
    counts = report_["counts"]
    assert case["expect"].get("mean", 1.0) == counts["pass_rate"]
    assert case["expect"].get("errors", 2) == counts["errors"]
    assert (counts["graded"], counts["total"]) == (1, len(statuses))
    assert (case["expect"]["gate"], report_["decision"]["passed"], ran.code) == ("not_pass", False, 3)
    assert _run(capfdbinary, outcomes, "--allow-errors", str(outcomes["error"])).code == 0


@report("B130")
def test_reporting_of_each_check(case: Case, capfdbinary: Capture) -> None:
    """A failed check fails its test and leaves the others what they are."""
    keys = {
        "expected_tool_sequence": [{"tool": "a"}],
        "expected_tool_calls": ["a", "b"],
        "assertions": [],
    }
    ran = run_here(capfdbinary, "grade", lines(Path("t.jsonl"), {**record("one", "a"), **keys}), "--json")
    (result,) = json.loads(ran.out)["results"]
    statuses = {verdict["name"]: verdict["status"] for verdict in result["attempts"][0]["verdicts"]}
    assert (case["expect"]["case"], ran.code) == (result["outcome"], 1)
    assert case["expect"]["check_statuses"] == [statuses["tool_sequence"], statuses["tool_call_trajectory"]]


@report("B131")
def test_reporting_of_nothing_recorded(case: Case, capfdbinary: Capture) -> None:
    """Lists are lists in machine output, and whether calls were recorded stands beside them."""
    expected = {"expected_tool_calls": case["input"]["result"]["expected_calls"]}
    traces = lines(Path("t.jsonl"), {"id": "one", "tool_calls": case["input"]["result"]["actual_calls"], **expected})
    (result,) = json.loads(run_here(capfdbinary, "grade", traces, "--json").out)["results"]
    (attempt,) = result["attempts"]
    assert case["expect"]["actual_calls_type"] == type(attempt["warnings"]).__name__
    assert (attempt["recorded"], attempt["calls"], type(attempt["verdicts"])) == (False, None, list)
    assert "no calls recorded" in run_here(capfdbinary, "grade", traces).out


@report("B135")
def test_reporting_of_all_counts(case: Case, capfdbinary: Capture) -> None:
    """The counts add up to the whole suite, and coverage stands beside them (G35)."""
    given = case["input"]
    failed, errors = given["graded"] - given["passed"], given["total"] - given["graded"]
    ran = _run(capfdbinary, {"pass": given["passed"], "fail": failed, "error": errors}, "--quiet")
    summary = "passed 120, failed 68, errors 12, inconclusive 0, total 200, coverage 94 %"
    assert [text for text in case["expect"]["report_contains"] if text not in summary] == []
    assert summary in ran.out


@report("B101")
def test_numbers_of_two_runs_are_compared_exactly(case: Case, capfdbinary: Capture) -> None:
    """Equal shares of attempts, differently spread over the tests, are equal: they are counts, never averages (G35)."""
    given = case["input"]
    tests = {f"t{number}": {**A, "min_pass_rate": "1/2"} for number in range(len(given["baseline_scores_thirds"]))}
    suite = write_tests(Path("tests.json"), **tests)
    for name, scores in (("then", given["baseline_scores_thirds"]), ("now", given["candidate_scores_thirds"])):
        attempts = [
            record(f"t{number}", "a" if attempt < score else "b")
            for number, score in enumerate(scores)
            for attempt in range(3)
        ]
        lines(Path(f"{name}.jsonl"), *attempts)
    run_here(capfdbinary, "grade", "then.jsonl", "-t", suite, "-o", "then.json")
    options = ["--baseline", "then.json", "--fail-on", "regression", "-o", "now.json"]
    ran = run_here(capfdbinary, "grade", "now.jsonl", "-t", suite, *options)
    compared = json.loads(Path("now.json").read_text())["comparison"]
    assert ("pass" if ran.code == 0 else "fail") == case["expect"]["gate"]
    assert compared["counts"]["regression"] == 0
    assert compared["attempt_rate"]["before"] == compared["attempt_rate"]["after"]
    assert "attempts that passed: 3/15 = 0.2000" in ran.out
