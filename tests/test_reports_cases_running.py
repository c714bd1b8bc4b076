"""Public bug reports about runs: errors, reports, gates, regular expressions, threads, hostile input."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from rightcall.metrics import ToolCallTrajectory
from support.bug_reports import Case, chat, check, expectations, judge, report
from support.command_line import run_here


@report("B148")
def test_concurrency_of_one_metric(case: Case) -> None:
    """A metric can be shared by threads: it holds its settings and nothing else."""
    given = case["input"]
    metric = ToolCallTrajectory(match="any_order")
    runs = [[{"name": f"tool{number}"}] for number in range(given["runs_each"])]
    serial = [metric.evaluate(calls, {"tool_calls": ["tool1"]}) for calls in runs]
    threaded: dict[int, list[Any]] = {}

    def work(thread: int) -> None:
        threaded[thread] = [metric.evaluate(calls, {"tool_calls": ["tool1"]}) for calls in runs]

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(given["threads"])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert case["expect"]["equal_to_serial"] == all(found == serial for found in threaded.values())
    assert len(threaded) == given["threads"]


@report("B150")
def test_security_of_names(case: Case, tmp_path: Path) -> None:
    """A name is data: it is compared and shown, and nothing is run, imported or opened because of it."""
    target = tmp_path / "owned"
    (call,) = case["input"]["actual"]
    hostile = {**call, "arguments": {"x": f"touch {target}"}}
    verdict = judge({**case["input"], "actual": [hostile]})
    assert case["expect"]["verdict"] == verdict.status
    assert not target.exists()
    (_, unexpected) = verdict.findings
    assert unexpected.message == f"Call 1, {call['name']}, was not expected."


@report("B109")
def test_regex_is_not_run_over_prose(case: Case) -> None:
    """A forbidden name in the agent's words is no call of it: bans see structured calls alone (G25)."""
    check(case)


@report("B113")
def test_regex_is_not_run_over_names(case: Case) -> None:
    """Names are equal or they are not, case included (G13)."""
    check(case)


@report("B111")
def test_regex_that_runs_out_of_time(case: Case) -> None:
    """A negated pattern that cannot be decided in time is an error, never a pass (G28)."""
    verdict = judge(case["input"])
    assert (verdict.status, verdict.findings[0].code) == ("error", "timeout")


@report("B126", "B128", "B129", "B127")
def test_reporting_in_the_reason(case: Case) -> None:
    """The reason comes from the pairing that decided: complete on a fail, empty on a pass (G4)."""
    check({**case, "expect": {part: want for part, want in case["expect"].items() if part != "reason_order"}})


@report("B126")
def test_reporting_expected_before_made(case: Case) -> None:
    """Sentences name what was expected first, and what was made after it."""
    assert judge(case["input"]).reason == "Call 2, b, was not expected."
    swapped = {**case["input"], "expected": case["input"]["actual"], "actual": case["input"]["expected"]}
    assert judge(swapped).reason == "Expected b; it was never called."


@report("B133")
def test_reporting_the_reply(case: Case, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Where calls are missing, the report shows what the agent said instead."""
    check(case)
    tests = {"version": 1, "tests": [{"id": "one", **expectations(case["input"])}]}
    (tmp_path / "s.json").write_text(json.dumps(tests), encoding="utf-8")
    (tmp_path / "t.json").write_text(json.dumps(chat(case["input"]["messages"])), encoding="utf-8")
    ran = run_here(capfdbinary, "grade", tmp_path / "t.json", "-t", tmp_path / "s.json")
    assert (ran.code, "No tool calls were made." in ran.out) == (1, True)
    assert "The agent replied: Which city do you mean?" in ran.out
