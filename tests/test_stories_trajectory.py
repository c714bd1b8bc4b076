"""What the page about expected tool calls promises, from files to the exit code."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import rightcall
from support.command_line import run_apart
from support.stories import Told, grade, write

NATIVE = """\
version: 1
name: Refund flow
tests:
  - id: late-order
    category: Refunds
    topic: Late orders
    requirement: Follows the refund process
    prompt: My order 42 arrived late, I want my money back.
    expected_tool_calls:
      - {name: lookup_order, arguments: {order_id: 42}}
      - {name: issue_refund}
"""
RHESIS = """\
{
  "dialect": "rhesis",
  "name": "Refund flow",
  "tests": [
    {
      "id": "late-order",
      "category": "Refunds",
      "topic": "Late orders",
      "requirement": "Follows the refund process",
      "prompt": {"content": "My order 42 arrived late, I want my money back."},
      "test_configuration": {
        "expected_tool_calls": [
          {"name": "lookup_order", "arguments": {"order_id": 42}},
          {"name": "issue_refund"}
        ]
      }
    }
  ]
}
"""
LOCALLY = """\
from rightcall.metrics import ToolCallTrajectory

metric = ToolCallTrajectory(match="in_order", arguments="partial")
result = metric.evaluate(
    tool_calls=[
        {"name": "lookup_order", "arguments": {"order_id": 42}},
        {"name": "issue_refund", "arguments": {"order_id": 42}},
    ],
    expectations={"tool_calls": [{"name": "lookup_order"}, {"name": "issue_refund"}]},
)
print(result.score, result.details["reason"])
"""
LOOKUP = {"name": "lookup_order", "arguments": {"order_id": 42}}
REFUND = {"name": "issue_refund", "arguments": {"order_id": 42}}
LOG = {"name": "log_event", "arguments": {"event": "seen"}}
EXPECTED = [LOOKUP, {"name": "issue_refund"}]

RUNS = {
    "the same": [LOOKUP, REFUND],
    "another between": [LOOKUP, LOG, REFUND],
    "another order": [REFUND, LOOKUP],
    "one missing": [LOOKUP],
    "none": [],
}
MATCH = {
    "exact": ["pass", "fail", "fail", "fail", "fail"],
    "in_order": ["pass", "pass", "fail", "fail", "fail"],
    "any_order": ["pass", "fail", "pass", "fail", "fail"],
    "subset": ["pass", "fail", "pass", "pass", "pass"],
    "superset": ["pass", "pass", "pass", "fail", "fail"],
}
LOOKUPS: dict[str, dict[str, Any]] = {
    "the same": {"order_id": 42},
    "one more key": {"order_id": 42, "verbose": True},
    "another value": {"order_id": 41},
    "none": {},
}
ARGUMENTS = {
    "partial": ["pass", "pass", "fail", "fail"],
    "exact": ["pass", "fail", "fail", "fail"],
    "ignore": ["pass", "pass", "pass", "pass"],
}


@pytest.mark.parametrize("tests", [pytest.param(NATIVE, id="native"), pytest.param(RHESIS, id="rhesis")])
@pytest.mark.parametrize(
    ("calls", "code", "outcome", "score", "reason"),
    [
        ([LOOKUP, LOG, REFUND], 0, "pass", 1, "All 2 expected calls were made, in order."),
        ([REFUND], 1, "fail", 0, "Expected lookup_order; it was never called."),
        ([REFUND, LOOKUP], 1, "fail", 0, "Expected issue_refund after lookup_order; it was call 1, before call 2."),
    ],
)
def test_test_with_expected_calls(
    tmp_path: Path, tests: str, calls: list[Any], code: int, outcome: str, score: int, reason: str
) -> None:
    """A test lists the calls it expects, in our words or the seed's: score, first difference and exit code."""
    write(tmp_path, {"tests.yaml": tests, "traces.jsonl": [{"id": "late-order", "tool_calls": calls}]})
    told = grade(tmp_path, "traces.jsonl", "-t", "tests.yaml")
    (verdict,) = told.verdicts
    assert (told.code, told.outcomes) == (code, {"late-order": outcome})
    assert (verdict["name"], verdict["score"], verdict["details"]["reason"]) == ("tool_call_trajectory", score, reason)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """One run of every mode over every recorded run, and of the empty list over some calls and none."""
    folder = tmp_path_factory.mktemp("tables")
    made = {**{f"match {name}": calls for name, calls in RUNS.items()}, "busy": [LOG], "quiet": []}
    made |= {f"arguments {name}": [{**LOOKUP, "arguments": given}, REFUND] for name, given in LOOKUPS.items()}
    tests: list[dict[str, Any]] = [
        *({"id": f"{mode}: match {name}", "match": mode, "expected_tool_calls": EXPECTED} for mode, name in _of(RUNS)),
        *(
            {"id": f"{mode}: arguments {name}", "arguments": mode, "expected_tool_calls": EXPECTED}
            for mode in ARGUMENTS
            for name in LOOKUPS
        ),
        *({"id": f"{mode}: {run}", "match": mode, "expected_tool_calls": []} for mode, run in _of(["busy", "quiet"])),
    ]
    traces = [{"id": test["id"], "tool_calls": made[str(test["id"]).partition(": ")[2]]} for test in tests]
    write(folder, {"tests.json": {"tests": tests}, "traces.jsonl": traces})
    return grade(folder, "traces.jsonl", "-t", "tests.json")


def _of(runs: Iterable[str]) -> Iterator[tuple[str, str]]:
    return itertools.product(MATCH, runs)


@pytest.mark.parametrize("mode", MATCH)
def test_table_of_match(tables: Told, mode: str) -> None:
    """Each row of the table of `match`, over five recorded runs."""
    assert [tables.outcomes[f"{mode}: match {name}"] for name in RUNS] == MATCH[mode]
    assert tables.code == 1


@pytest.mark.parametrize("mode", ARGUMENTS)
def test_table_of_arguments(tables: Told, mode: str) -> None:
    """Each row of the table of `arguments`; a call listed without any matches whatever its arguments are."""
    assert [tables.outcomes[f"{mode}: arguments {name}"] for name in LOOKUPS] == ARGUMENTS[mode]


@pytest.mark.parametrize("mode", MATCH)
def test_empty_list_expects_no_calls_at_all(tables: Told, mode: str) -> None:
    """In every mode: no call passes, any call fails (G17)."""
    assert [tables.outcomes[f"{mode}: {name}"] for name in ("quiet", "busy")] == ["pass", "fail"]
    (verdict,) = tables.verdicts_of(f"{mode}: busy")
    assert verdict["reason"] == "Call 1, log_event, was not expected."


def test_precision_and_recall(tables: Told) -> None:
    """The share of calls made that were expected, and of expected calls that were made; null without any."""
    details = {name: tables.verdicts_of(f"in_order: match {name}")[0]["details"] for name in RUNS}
    assert {name: (about["precision"], about["recall"]) for name, about in details.items()} == {
        "the same": (1, 1),
        "another between": (2 / 3, 1),
        "another order": (1, 1),
        "one missing": (1, 0.5),
        "none": (None, 0),
    }


def test_tests_without_expected_calls(tmp_path: Path) -> None:
    """The metric does not judge them: their result comes from the others, and without others is inconclusive."""
    tests: list[dict[str, Any]] = [{"id": "other", "allowed_tools": ["log_event"]}, {"id": "nothing"}]
    traces = [{"id": test["id"], "tool_calls": [LOG]} for test in tests]
    write(tmp_path, {"tests.json": {"tests": tests}, "traces.jsonl": traces})
    told = grade(tmp_path, "traces.jsonl", "-t", "tests.json")
    assert (told.code, told.outcomes) == (0, {"other": "pass", "nothing": "inconclusive"})
    names = [[verdict["name"] for verdict in result["attempts"][0]["verdicts"]] for result in told.report["results"]]
    assert names == [["no_unexpected_tool"], []]
    write(tmp_path, {"tests.json": {"tests": tests[1:]}})
    assert grade(tmp_path, "traces.jsonl", "-t", "tests.json").code == 3


def test_production_traces_have_no_expectations(tmp_path: Path) -> None:
    """A trace that no test is for is listed, and never judged; with no test at all nothing is graded."""
    traces = [{"id": "late-order", "tool_calls": [LOOKUP, REFUND]}, {"id": "production", "tool_calls": [LOG]}]
    write(tmp_path, {"tests.yaml": NATIVE, "traces.jsonl": traces})
    told = grade(tmp_path, "traces.jsonl", "-t", "tests.yaml")
    assert (told.code, told.outcomes, told.report["unused"]) == (0, {"late-order": "pass"}, ["production"])
    alone = run_apart("grade", "traces.jsonl", cwd=tmp_path)
    assert (alone.code, alone.out, "there is nothing to grade" in alone.err) == (2, "", True)


@pytest.mark.parametrize("trace", [{}, {"tool_calls": None}])
def test_no_recorded_calls_says_so(tmp_path: Path, trace: dict[str, Any]) -> None:
    """When no tool calls were recorded, the result says so: an error, which is neither pass nor fail (G3)."""
    write(tmp_path, {"tests.yaml": NATIVE, "traces.jsonl": [{"id": "late-order", **trace, "messages": []}]})
    told = grade(tmp_path, "traces.jsonl", "-t", "tests.yaml", "--format", "native")
    (verdict,) = told.verdicts
    assert (told.code, told.outcomes, verdict["score"]) == (3, {"late-order": "error"}, None)
    assert verdict["reason"].startswith("No tool calls were recorded: ")


def test_whole_conversation_is_covered(tmp_path: Path) -> None:
    """The expected calls of a multi-turn test may be made in any of its turns."""
    messages = [
        {"role": "user", "content": "My order 42 arrived late."},
        _asking("c1", "lookup_order", '{"order_id": 42}'),
        {"role": "tool", "tool_call_id": "c1", "content": "{}"},
        {"role": "assistant", "content": "What would you like?"},
        {"role": "user", "content": "I want my money back."},
        _asking("c2", "issue_refund", "{}"),
    ]
    write(tmp_path, {"tests.yaml": NATIVE, "trace.json": {"id": "late-order", "messages": messages}})
    told = grade(tmp_path, "trace.json", "-t", "tests.yaml")
    assert (told.code, told.outcomes) == (0, {"late-order": "pass"})


def _asking(identity: str, name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": identity, "type": "function"} | {"function": function}],
    }


def test_report_for_people_names_the_first_difference(tmp_path: Path) -> None:
    """Without options the same is told in words, with the same exit code."""
    write(tmp_path, {"tests.yaml": NATIVE, "traces.jsonl": [{"id": "late-order", "tool_calls": [REFUND]}]})
    ran = run_apart("grade", "traces.jsonl", "-t", "tests.yaml", cwd=tmp_path)
    assert (ran.code, ran.err) == (1, "")
    assert "tool_call_trajectory: Expected lookup_order; it was never called." in ran.out


def test_running_it_locally(tmp_path: Path) -> None:
    """The snippet of the page runs as it stands, with our module in place of theirs."""
    write(tmp_path, {"trajectory.py": LOCALLY})
    ran = subprocess.run(
        [sys.executable, "trajectory.py"], cwd=tmp_path, capture_output=True, check=True, encoding="utf-8"
    )
    assert (ran.stdout, ran.stderr) == ("1 All 2 expected calls were made, in order.\n", "")


def test_code_can_read_the_calls() -> None:
    """For a check that the modes cannot express, a program reads `tool_calls`."""
    trace = rightcall.read([LOOKUP, REFUND])
    orders = [call.arguments["order_id"] for call in trace.tool_calls or ()]
    assert orders == [42, 42]
