"""An agent that failed by its own account, and a conversation that could not be held, for every kind (G38)."""

from __future__ import annotations

from typing import Any

import pytest

import rightcall
from rightcall.app import runner
from rightcall.app.regex import compile_regex
from rightcall.app.schemas import compile_schema
from rightcall.assertions import KINDS
from rightcall.core.calls import Trajectory
from rightcall.core.results import Attempt, Outcome
from rightcall.testsets import compile_test, from_keys
from support.grading import call

# What is expected, then its status where the agent failed without a call, after `lookup`, and after `drop_table`.
TABLE: list[tuple[dict[str, Any], str, str, str]] = [
    ({"expected_tool_calls": []}, "error", "fail", "fail"),
    ({"expected_tool_calls": ["lookup"]}, "error", "pass", "error"),
    ({"expected_tool_calls": ["lookup"], "match": "exact"}, "error", "error", "fail"),
    ({"expected_tool_calls": ["lookup"], "match": "any_order"}, "error", "error", "fail"),
    ({"expected_tool_calls": ["lookup"], "match": "subset"}, "error", "error", "fail"),
    ({"expected_tool_calls": ["lookup"], "match": "superset"}, "error", "pass", "error"),
    ({"required_tools": ["lookup"]}, "error", "pass", "error"),
    ({"allowed_tools": ["lookup"]}, "error", "error", "fail"),
    ({"forbidden_tools": ["drop_table"]}, "error", "error", "fail"),
    (
        {"tool_call_args": [{"tool": "drop_table", "match": {"mode": "exact", "args": {}}, "negate": True}]},
        "error",
        "error",
        "fail",
    ),
    ({"expected_tool_sequence": [{"tool": "lookup"}]}, "error", "pass", "error"),
    ({"expected_tools": ["lookup"]}, "error", "error", "fail"),
    ({"budget": {"max_calls": 0}}, "error", "fail", "fail"),
    ({"budget": {"max_calls": 1}}, "error", "error", "error"),
    ({"rules": [{"absence": "drop_table"}]}, "error", "error", "fail"),
    ({"rules": [{"existence": "lookup"}]}, "error", "pass", "error"),
    ({"text": {"must_not_include": ["sorry"]}}, "error", "error", "error"),
]


def graded(keys: dict[str, Any], trajectory: Trajectory) -> Attempt:
    test = from_keys(keys, KINDS)
    return runner.attempt(trajectory, compile_test(test, compile_regex, compile_schema), "runs.jsonl")


@pytest.mark.parametrize(("keys", "at_once", "after_lookup", "after_drop"), TABLE, ids=[str(row[0]) for row in TABLE])
def test_failed_agent_fails_and_calls_it_did_not_make_prove_nothing(
    keys: dict[str, Any], at_once: str, after_lookup: str, after_drop: str
) -> None:
    """What an agent that failed was not seen to do passes no ban and breaks no expectation (G12, G38)."""
    for calls, status in (((), at_once), (("lookup",), after_lookup), (("drop_table",), after_drop)):
        made = Trajectory(tool_calls=tuple(map(call, calls)), failure="ValueError: no stock")
        attempt = graded(keys, made)
        assert [(verdict.id, str(verdict.status)) for verdict in attempt.verdicts] == [
            ("agent_failed", "fail"),
            (attempt.verdicts[1].id, status),
        ]
        assert (attempt.outcome, attempt.verdicts[0].reason) == (
            Outcome.FAIL,
            "The agent failed: ValueError: no stock",
        )


def test_failed_agent_without_recorded_calls_is_a_failure() -> None:
    """What it called is not known, that it failed is (G3, G38)."""
    attempt = graded({"required_tools": ["lookup"]}, Trajectory(failure=""))
    statuses = [(verdict.id, str(verdict.status)) for verdict in attempt.verdicts]
    assert statuses == [("agent_failed", "fail"), ("tool_called:lookup", "error")]
    assert attempt.verdicts[0].reason == "The agent failed: it does not say how"
    assert attempt.outcome == Outcome.FAIL


def test_no_rate_over_assertions_softens_a_failure_of_the_agent() -> None:
    """One assertion of two would do, yet the agent failed (G36, G38)."""
    keys = {"required_tools": ["lookup"], "min_assertion_rate": "1/2"}
    attempt = graded(keys, Trajectory(tool_calls=(call("lookup"),), failure="out of memory"))
    assert attempt.outcome == Outcome.FAIL


def test_failure_is_told_apart_from_an_assertion_of_its_name() -> None:
    """Ids of verdicts are unique in a test (G6)."""
    named = {"assertions": [{"kind": "required_tool", "tool": "lookup", "name": "agent_failed"}]}
    attempt = graded(named, Trajectory(tool_calls=(), failure="x"))
    assert [verdict.id for verdict in attempt.verdicts] == ["agent_failed[2]", "agent_failed"]


@pytest.mark.parametrize("keys", [row[0] for row in TABLE], ids=[str(row[0]) for row in TABLE])
def test_conversation_that_could_not_be_held_is_an_error(keys: dict[str, Any]) -> None:
    """Trouble on the way says nothing of the agent, whatever calls were seen (G38)."""
    made = Trajectory(tool_calls=(call("lookup"), call("drop_table")), trouble="status 503, tried 3 times")
    attempt = graded(keys, made)
    assert (attempt.outcome, attempt.reason, attempt.verdicts) == (Outcome.ERROR, "status 503, tried 3 times", ())
    statuses = {(str(verdict.status), verdict.reason) for verdict in rightcall.grade(made, keys)}
    assert statuses == {("error", "status 503, tried 3 times")}


def test_check_raises_what_the_agent_failed_of() -> None:
    """In Python, too, a failure of the agent comes first."""
    record = {"tool_calls": [{"name": "lookup"}], "failure": "ValueError: no stock"}
    with pytest.raises(AssertionError, match="agent_failed: The agent failed: ValueError: no stock"):
        rightcall.check(record, required_tools=["lookup"])
