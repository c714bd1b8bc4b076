"""Public bug reports about runs: errors, reports, gates, regular expressions, threads, hostile input."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

import rightcall
from rightcall import testsets
from rightcall.app import runner
from rightcall.assertions import KINDS
from rightcall.assertions.trajectory import ToolCallTrajectory as TrajectoryAssertion
from rightcall.core.assertion import Compiled
from rightcall.core.calls import Trajectory
from rightcall.core.verdicts import Evidence
from rightcall.errors import TestSetError
from rightcall.metrics import ToolCallTrajectory
from rightcall.testsets import CompiledTest, Test
from support.bug_reports import Case, chat, check, document, expectations, judge, report
from support.command_line import run_here
from support.runs import lines, record, write_tests

Capture = pytest.CaptureFixture[bytes]


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


@report("B112")
def test_regex_of_one_dialect(case: Case) -> None:
    """Patterns are JavaScript's, from loading to grading: what does not compile is refused with its path (G27, G28)."""
    calls = [{"name": "note", "arguments": {"t": case["input"]["value"]}}]
    for number, pattern in enumerate(case["input"]["patterns"]):
        given = {"tool_call_args": [{"tool": "note", "match": {"mode": "regex", "pattern": pattern}}], "actual": calls}
        if number in case["expect"]["load_errors"]:
            with pytest.raises(TestSetError, match=r"^tool_call_args\[0\]\.match\.pattern: not a regular expression"):
                judge(given)
        else:
            assert judge(given).status == "pass"


@report("B115", "B116")
def test_error_handling(case: Case) -> None:
    """Nothing made is a fail, nothing recorded an error (G3)."""
    check(case)


@report("B118")
def test_error_handling_of_a_crash(case: Case) -> None:
    """One verdict for each check, whatever raises; what raises is an error (G2)."""
    checks = [_Fake(name) for name in case["input"]["evaluators"]]
    assertions = tuple(Compiled(check.name, check.name, "fake", "block", check) for check in checks)
    trajectory = Trajectory(id=case["input"]["cases"][0], tool_calls=())
    verdicts = runner.attempt(trajectory, CompiledTest(Test(id="t"), assertions), "t.jsonl").verdicts
    assert case["expect"]["rows"] == len(verdicts)
    assert [verdict.status for verdict in verdicts] == ["pass", "error", "pass"]


class _Fake:
    """A check that passes, or raises if it is called so."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, trajectory: Trajectory) -> Evidence:
        if self.name == "raises":
            raise ZeroDivisionError(self.name)
        return Evidence()


@report("B122")
def test_error_handling_of_unknown_kinds(case: Case, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A kind that does not exist stops the run before anything is graded, with the nearest name (G27, G39)."""
    (kind,) = case["input"]["config"]["metrics"]
    tests = write_tests(tmp_path / "s.json", one={"assertions": [{"kind": kind}]})
    ran = run_here(capfdbinary, "grade", lines(tmp_path / "t.jsonl", record("one", "a")), "-t", tests)
    assert (ran.code, ran.out) == (2, "")
    assert f"unknown kind `{kind}` (did you mean `trajectory`?)" in ran.err


@report("B123")
def test_error_handling_of_unknown_tools(case: Case) -> None:
    """An expected tool that is none of those declared is refused; without a declaration it was not called (G27)."""
    verdict = judge(case["input"])
    assert case["expect"]["verdict"] == verdict.status
    assert all(name in verdict.reason for name in case["expect"]["reason_contains"])
    tools: dict[str, Any] = {name: {} for name in case["input"]["available_tools"]}
    with pytest.raises(TestSetError, match=r"`look_pu` is none of the tools .*did you mean `look_up`"):
        rightcall.grade(document(case["input"]), {**expectations(case["input"]), "tool_schemas": tools})


@report("B124")
def test_error_handling_of_unknown_words(case: Case) -> None:
    """A word that no mode has is refused, with those that there are (G27)."""
    for key, word in case["input"]["config"].items():
        with pytest.raises(TestSetError, match=rf"^{key}: expected .*`exact`.*, found `{word}` \(did you mean"):
            rightcall.grade([], {"expected_tool_calls": ["a"], key: word})


@report("B125")
def test_error_handling_of_settings_on_disk(case: Case) -> None:
    """Settings are data: what is written to a file is what is read from it, as JSON and as YAML."""
    settings = expectations({"config": case["input"]["config"], "expected": [{"name": "a"}]})
    test = testsets.from_keys(settings, KINDS)
    texts = [json.dumps({"tests": [settings]}), f"tests:\n- {json.dumps(settings)}\n"]
    for text in texts:
        (read,) = testsets.read(text.encode(), KINDS).tests
        assert (read.assertions, read.ignore_arguments) == (test.assertions, ("_auth*",))
    (assertion,) = test.assertions
    stored = msgspec.json.decode(msgspec.json.encode(assertion), type=TrajectoryAssertion)
    assert case["expect"]["roundtrip_equal"] == (stored == assertion)
    assert (stored.match, stored.arguments) == ("any_order", "exact")


@pytest.mark.usefixtures("in_tmp")
@report("B121")
def test_error_handling_of_the_agent_s_own_failure(case: Case, capfdbinary: Capture) -> None:
    """Who broke decides: an agent that failed is a failed test and stays in the rate (G35, G38)."""
    made = {"correct": ["a"], "wrong": ["b"], "subject_failed": []}
    records = [
        {**record(f"{kind}-{number}", *made[kind], required_tools=["a"]), **_failure(kind)}
        for kind, count in case["input"]["results"].items()
        for number in range(count)
    ]
    ran = run_here(capfdbinary, "grade", lines(Path("records.jsonl"), *records), "--quiet")
    assert (ran.code, ran.out.splitlines()[-1]) == (1, f"Blocked: pass rate {case['expect']['rate']} = 0.6000 < 1.0000")


def _failure(kind: str) -> dict[str, Any]:
    return {"failure": "KeyError: 7"} if kind == "subject_failed" else {}


LATER_FIRST = """
import asyncio

async def agent(turn):
    number = int(turn.test)
    for _ in range(100 - number):
        await asyncio.sleep(0)
    return {"output": str(number), "tool_calls": [{"name": "ab"[number % 2]}]}
"""


@pytest.mark.usefixtures("in_tmp")
@report("B149")
def test_concurrency_of_a_run_leaves_no_trace_in_reports(case: Case, capfdbinary: Capture) -> None:
    """However many attempts are under way at once, and in whatever order they end, reports are the same."""
    Path("agent.py").write_text(LATER_FIRST)
    tests = [{"id": str(n), "prompt": "x", "required_tools": ["a"]} for n in range(case["input"]["cases"])]
    whole = {"version": 1, "endpoint": {"python": "agent.py:agent"}, "tests": tests}
    Path("t.rightcall.json").write_text(json.dumps(whole))
    written = set()
    for workers in case["input"]["workers"]:
        names = [f"{workers}.{suffix}" for suffix in ("xml", "json", "jsonl", "csv", "md")]
        outputs = [part for name in names for part in ("-o", name)]
        assert run_here(capfdbinary, "run", "t.rightcall.json", "-j", str(workers), "--quiet", *outputs).code == 1
        written.add(tuple(_without_names(Path(name).read_text()) for name in names))
    assert (len(written) == 1) == case["expect"]["identical"]
    journals = [path.read_text().splitlines() for path in Path().glob(".rightcall/runs/*/attempts.jsonl")]
    ended = [[json.loads(line)["test_id"] for line in journal] for journal in journals]
    assert [len(order) for order in ended] == [case["input"]["cases"]] * 2
    assert ended[0] != ended[1]


def _without_names(text: str) -> str:
    """A report without the name of its run, and without hashes of conversations, which are named after it."""
    return re.sub(r"\b[0-9a-f]{16}\b", "HASH", re.sub(r"runs/[0-9]{8}-[0-9]{6}-[0-9a-f]+", "runs/RUN", text))
