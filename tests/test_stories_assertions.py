"""What the page about trajectory assertions promises: its JSON snippets as rows, from files to the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.stories import Told, grade, write

REFUND_ARGS = """
{
  "tool_call_args": [
    {
      "tool": "issue_refund",
      "match": {
        "mode": "subset",
        "args": { "order_id": "ord_42", "amount_cents": 5000 }
      }
    }
  ]
}
"""
SECOND_QUERY = """
{
  "tool_call_args": [
    {
      "tool": "kb_query",
      "call_index": 2,
      "match": {
        "mode": "regex",
        "pattern": "refund policy",
        "flags": "i"
      }
    }
  ]
}
"""
ORDER = """
{
  "expected_tool_sequence": [
    { "tool": "lookup_account" },
    { "tool": "check_refund_eligibility" },
    { "tool": "issue_refund" }
  ]
}
"""
ORDER_WITH_ARGS = """
{
  "expected_tool_sequence": [
    { "tool": "lookup_account" },
    {
      "tool": "issue_refund",
      "match": { "mode": "subset", "args": { "amount_cents": 5000 } }
    }
  ]
}
"""
ALLOWED = """
{
  "allowed_tools": ["lookup_account", "check_refund_eligibility", "issue_refund"]
}
"""
SUPPORT = """
{
  "allowed_tools": [
    "lookup_account",
    "run_diagnostics",
    "create_ticket",
    "kb_query"
  ]
}
"""
HANDOFF = """
{
  "expected_tool_sequence": [
    { "tool": "identify_customer" },
    { "tool": "fetch_case_context" },
    { "tool": "transfer_to_agent" }
  ]
}
"""
INTERLEAVED = """
[
  { "tool": "lookup_account", "input": { "customer_id": "cus_1" } },
  { "tool": "log_event", "input": { "event": "account_viewed" } },
  { "tool": "kb_query", "input": { "q": "refund policy" } },
  { "tool": "issue_refund", "input": { "order_id": "ord_42" } }
]
"""
RESULT = """
{
  "name": "tool_call_args:issue_refund",
  "status": "pass",
  "reason": ""
}
"""


def _call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "input": arguments}


def _grade(folder: Path, row: dict[str, Any], calls: list[dict[str, Any]]) -> Told:
    """Grade a row of a dataset on a recorded conversation."""
    write(folder, {"rows.json": {"rows": [{"id": "r", **row}]}, "traces.jsonl": [{"id": "r", "tool_calls": calls}]})
    return grade(folder, "traces.jsonl", "-t", "rows.json", "--dialect", "orbit")


def _fields(verdicts: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Verdicts by the fields that the page documents."""
    return [{field: verdict[field] for field in ("name", "status", "reason")} for verdict in verdicts]


REFUND = _call("issue_refund", order_id="ord_42", amount_cents=5000, currency="EUR")
CHEAP = _call("issue_refund", order_id="ord_42", amount_cents=4000)


PASSES: dict[str, tuple[str, list[dict[str, Any]], str]] = {
    "right amount": (REFUND_ARGS, [REFUND], "tool_call_args:issue_refund"),
    "second refund": (REFUND_ARGS, [CHEAP, REFUND], "tool_call_args:issue_refund"),
    "second query": (
        SECOND_QUERY,
        [_call("kb_query", q="hours"), _call("kb_query", q="Refund Policy")],
        "tool_call_args:kb_query#2",
    ),
    "right order": (ORDER, [_call("lookup_account"), _call("check_refund_eligibility"), REFUND], "tool_sequence"),
    "step with arguments": (ORDER_WITH_ARGS, [_call("lookup_account"), CHEAP, REFUND], "tool_sequence"),
    "repeated calls": (ALLOWED, [REFUND, _call("lookup_account"), REFUND], "no_unexpected_tool"),
    "no calls": (ALLOWED, [], "no_unexpected_tool"),
    "no escalation": (SUPPORT, [_call("run_diagnostics"), _call("create_ticket")], "no_unexpected_tool"),
    "right handoff": (
        HANDOFF,
        [_call("identify_customer"), _call("fetch_case_context"), _call("transfer_to_agent")],
        "tool_sequence",
    ),
}
FAILS: dict[str, tuple[str, list[dict[str, Any]], str, str]] = {
    "wrong amount": (
        REFUND_ARGS,
        [CHEAP],
        "tool_call_args:issue_refund",
        "no call to `issue_refund` matched the expected arguments. "
        "Expected issue_refund with amount_cents = 5000; call 1 had amount_cents = 4000.",
    ),
    "no refund": (
        REFUND_ARGS,
        [_call("lookup_account")],
        "tool_call_args:issue_refund",
        "no call to `issue_refund`: it was never called.",
    ),
    "one query": (
        SECOND_QUERY,
        [_call("kb_query", q="refund policy")],
        "tool_call_args:kb_query#2",
        "no call 2 to `kb_query`: it was called 1 time.",
    ),
    "another query": (
        SECOND_QUERY,
        [_call("kb_query", q="refund policy"), _call("kb_query", q="hours")],
        "tool_call_args:kb_query#2",
        "call 2 to `kb_query` did not match the expected arguments. "
        'Expected kb_query with arguments matching /refund policy/i; call 2 had {"q":"hours"}.',
    ),
    "refund too early": (
        ORDER,
        [REFUND, _call("lookup_account"), _call("check_refund_eligibility")],
        "tool_sequence",
        "matched 2 of 3 steps; step 3 `issue_refund` was not called after call 3.",
    ),
    "step with wrong amount": (
        ORDER_WITH_ARGS,
        [_call("lookup_account"), CHEAP],
        "tool_sequence",
        "matched 1 of 2 steps; step 2 `issue_refund` was not called after call 1 "
        "with amount_cents = 5000; call 2 had amount_cents = 4000.",
    ),
    "admin tool": (
        ALLOWED,
        [_call("lookup_account"), _call("delete_account")],
        "no_unexpected_tool",
        "`delete_account` (call 2) was called but is not allowed.",
    ),
    "escalation": (
        SUPPORT,
        [_call("transfer_to_human"), _call("run_diagnostics")],
        "no_unexpected_tool",
        "`transfer_to_human` (call 1) was called but is not allowed.",
    ),
    "transfer before context": (
        HANDOFF,
        [_call("identify_customer"), _call("transfer_to_agent"), _call("fetch_case_context")],
        "tool_sequence",
        "matched 2 of 3 steps; step 3 `transfer_to_agent` was not called after call 3.",
    ),
    "no context": (
        HANDOFF,
        [_call("identify_customer"), _call("transfer_to_agent")],
        "tool_sequence",
        "matched 1 of 3 steps; step 2 `fetch_case_context` was never called.",
    ),
}


def _all(folder: Path, cases: dict[str, Any]) -> Told:
    """Grade all cases in one run of a dataset."""
    rows = [{"id": name, **json.loads(case[0])} for name, case in cases.items()]
    write(folder, {"rows.json": {"rows": rows}, "t.jsonl": [{"id": n, "tool_calls": c[1]} for n, c in cases.items()]})
    return grade(folder, "t.jsonl", "-t", "rows.json", "--dialect", "orbit")


@pytest.fixture(scope="module")
def passing(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """The run of all rows that are met."""
    return _all(tmp_path_factory.mktemp("passes"), PASSES)


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """The run of all rows that are not met."""
    return _all(tmp_path_factory.mktemp("fails"), FAILS)


@pytest.mark.parametrize("case", PASSES)
def test_snippet_passes(passing: Told, case: str) -> None:
    """A row that is met gives one result of the documented name and an empty reason; the run exits with 0."""
    assert _fields(passing.verdicts_of(case)) == [{"name": PASSES[case][2], "status": "pass", "reason": ""}]
    assert passing.code == 0


@pytest.mark.parametrize("case", FAILS)
def test_snippet_fails(failing: Told, case: str) -> None:
    """A row that is not met says which arguments, order or tool was wrong, and blocks."""
    _, _, name, reason = FAILS[case]
    assert _fields(failing.verdicts_of(case)) == [{"name": name, "status": "fail", "reason": reason}]
    assert failing.code == 1


def test_interleaved_calls_do_not_break_a_sequence(tmp_path: Path) -> None:
    """The trace of the page passes, as the relative order is right; neither adjacency nor number counts."""
    row = {"expected_tool_sequence": [{"tool": "lookup_account"}, {"tool": "issue_refund"}]}
    told = _grade(tmp_path, row, json.loads(INTERLEAVED))
    assert (_fields(told.verdicts), told.code) == ([{"name": "tool_sequence", "status": "pass", "reason": ""}], 0)
    (verdict,) = told.verdicts
    assert (verdict["details"]["matched_steps"], verdict["details"]["steps"]) == (2, 2)


def test_result_has_the_documented_fields(tmp_path: Path) -> None:
    """The result of the page, word for word."""
    assert _fields(_grade(tmp_path, json.loads(REFUND_ARGS), [REFUND]).verdicts) == [json.loads(RESULT)]


def test_modes_of_arguments(tmp_path: Path) -> None:
    """`exact` fails on extra keys, `subset` ignores them, `regex` sees the input as JSON text."""
    args = {"order_id": "ord_42", "amount_cents": 5000}
    matches = [
        {"mode": "exact", "args": args},
        {"mode": "subset", "args": args},
        {"mode": "regex", "pattern": '^\\{"order_id":"ord_42","amount_cents":5000,'},
    ]
    row = {"tool_call_args": [{"tool": "issue_refund", "match": match} for match in matches]}
    told = _grade(tmp_path, row, [REFUND])
    assert [verdict["status"] for verdict in told.verdicts] == ["fail", "pass", "pass"]
    assert [verdict["id"] for verdict in told.verdicts] == [
        "tool_call_args:issue_refund",
        "tool_call_args:issue_refund[2]",
        "tool_call_args:issue_refund[3]",
    ]


def test_types_are_additive_and_optional(tmp_path: Path) -> None:
    """All families of a row are judged, presence first; those left out give no result."""
    row = {
        "expected_tool_calls": ["lookup_account"],
        **json.loads(REFUND_ARGS),
        **json.loads(ORDER_WITH_ARGS),
        **json.loads(ALLOWED),
    }
    told = _grade(tmp_path, row, [_call("lookup_account"), REFUND])
    assert [verdict["name"] for verdict in told.verdicts] == [
        "tool_called:lookup_account",
        "tool_call_args:issue_refund",
        "tool_sequence",
        "no_unexpected_tool",
    ]
    assert told.code == 0


@pytest.mark.parametrize(
    ("rate", "ban", "code"),
    [(1, {}, 1), (0.6, {}, 1), (0.5, {}, 0), (0.3, {"allowed_tools": ["lookup_account"]}, 1)],
)
def test_failures_lower_the_pass_rate(tmp_path: Path, rate: float, ban: dict[str, Any], code: int) -> None:
    """A failed assertion lowers the rate of its row, which `min_pass_rate` gates; no rate softens a ban (G25, G36)."""
    row = {"min_pass_rate": rate, "expected_tool_calls": ["lookup_account"], **json.loads(REFUND_ARGS), **ban}
    assert _grade(tmp_path, row, [_call("lookup_account"), CHEAP]).code == code
