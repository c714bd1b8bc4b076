"""From production to a test that guards what was good: stories of users, told through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.command_line import Ran, run_apart
from support.openinference import model, request, tool
from support.stories import grade, write

ASKED = {"role": "user", "content": "Order ord_42 came broken, I want my money back."}
EVALS = "refund.rightcall.yaml"


def promote(folder: Path, *arguments: str) -> Ran:
    """Run `rightcall promote` in the folder."""
    return run_apart("promote", *arguments, cwd=folder)


def exported(*calls: dict[str, Any], trace: str = "t1") -> dict[str, Any]:
    """A production trace as an exporter writes it: a model span with what was asked, and a span for each tool."""
    asked: dict[str, Any] = {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": ASKED["content"],
    }
    numbered = [{**call, "id": f"c{number}"} for number, call in enumerate(calls)]
    spans = [
        tool(f"s{number}", call["name"], call["arguments"], parent="m", start=number + 2, trace=trace)
        for number, call in enumerate(numbered)
    ]
    return request(model("m", numbered, start=1, trace=trace, **asked), *spans)


LOOKUP = {"name": "lookup_account", "arguments": {"customer_id": "cus_1"}}
CHECK = {"name": "check_refund_eligibility", "arguments": {"order_id": "ord_42"}}
REFUND = {"name": "issue_refund", "arguments": {"order_id": "ord_42", "amount_cents": 5000}}


def refused(folder: Path, *calls: dict[str, Any]) -> str:
    """Why another run of the agent fails the promoted test."""
    write(folder, {"later.json": exported(*calls, trace="t1")})
    (verdict,) = grade(folder, "later.json", "--tests", EVALS).verdicts
    return f"{verdict['status']}: {verdict['reason']}"


def test_a_production_trace_becomes_an_eval_row(tmp_path: Path) -> None:
    """A real conversation is promoted; the agent that goes on so passes, one that does not is told where it left."""
    write(tmp_path, {"production.json": exported(LOOKUP, CHECK, REFUND)})
    assert promote(tmp_path, "production.json", "-o", EVALS).out == f"wrote {EVALS}: 1 test\n"
    assert f"    prompt: {ASKED['content']}\n" in (tmp_path / EVALS).read_text()
    assert grade(tmp_path, "production.json", "--tests", EVALS).code == 0
    assert [
        refused(tmp_path, LOOKUP, REFUND),
        refused(tmp_path, LOOKUP, CHECK, REFUND, REFUND),
        refused(tmp_path, CHECK, LOOKUP, REFUND),
        refused(tmp_path, LOOKUP, CHECK, {**REFUND, "arguments": {"order_id": "ord_42", "amount_cents": 9000}}),
    ] == [
        "fail: Expected check_refund_eligibility; it was never called.",
        "fail: Call 4, issue_refund, was not expected.",
        "fail: Expected check_refund_eligibility after lookup_account; it was call 1, before call 2.",
        "fail: Expected issue_refund with amount_cents = 5000; call 3 had amount_cents = 9000.",
    ]


def test_one_bad_conversation_of_many_becomes_the_regression_test_of_its_mending(tmp_path: Path) -> None:
    """What production did against the policy is found and kept as a test, which the mended agent passes."""
    policy = "tests: [{id: policy, rules: [{precedence: [check_refund_eligibility, issue_refund]}]}]"
    good = {"id": "c1", "messages": [ASKED], "tool_calls": [CHECK, REFUND]}
    bad = {"id": "c2", "messages": [ASKED], "tool_calls": [LOOKUP, REFUND]}
    write(tmp_path, {"today.jsonl": [good, bad], "policy.yaml": policy})
    promote(tmp_path, "today.jsonl", "--tests", "policy.yaml", "--apply-all", "--only-failed", "-o", EVALS)
    assert grade(tmp_path, "today.jsonl", "--tests", EVALS).outcomes == {"c2": "fail"}
    write(tmp_path, {"mended.jsonl": [{**bad, "tool_calls": [LOOKUP, CHECK, REFUND]}]})
    assert grade(tmp_path, "mended.jsonl", "--tests", EVALS).outcomes == {"c2": "pass"}


def test_three_good_runs_say_what_may_vary_and_what_may_not(tmp_path: Path) -> None:
    """Learned from runs of one prompt, the test takes a fourth that varies as they did, and no other."""
    logged = {"name": "log_event", "arguments": {"event": "viewed"}}
    runs = [[LOOKUP, CHECK, REFUND], [CHECK, LOOKUP, REFUND], [LOOKUP, CHECK, logged, REFUND]]
    records = [{"test_id": "refund", "messages": [ASKED], "tool_calls": calls} for calls in runs]
    write(tmp_path, {"good.jsonl": records})
    assert promote(tmp_path, "good.jsonl", "--learn", "-o", EVALS).code == 0
    later = [
        [CHECK, LOOKUP, logged, REFUND],
        [LOOKUP, REFUND],
        [LOOKUP, CHECK, logged, logged, REFUND],
        [LOOKUP, CHECK, REFUND, {"name": "transfer_to_human"}],
    ]
    statuses = []
    for calls in later:
        write(tmp_path, {"later.jsonl": [{"test_id": "refund", "tool_calls": calls}]})
        statuses.append(grade(tmp_path, "later.jsonl", "--tests", EVALS).outcomes["refund"])
    assert statuses == ["pass", "fail", "fail", "fail"]


def test_an_agent_that_was_changed_on_purpose_brings_its_tests_along(tmp_path: Path) -> None:
    """The new behaviour is reviewed as a difference of two lines, and the team's comments are still there."""
    tests = f"""
# The refund flow. Ask the payments team before you change this.
tests:
  - id: refund      # since the complaint of May
    prompt: {ASKED["content"]}
    expected_tool_calls:
      - {{name: issue_refund, arguments: {{amount_cents: 5000}}}}  # in cents
    forbidden_tools: [delete_account]
"""
    changed = {"name": "issue_refund", "arguments": {"amount_cents": 4500, "fee_cents": 500}}
    write(tmp_path, {EVALS: tests, "t.jsonl": [{"id": "refund", "tool_calls": [changed]}]})
    ran = promote(tmp_path, "t.jsonl", "--update", EVALS)
    lines = [line for line in ran.out.split("\n") if line[:1] in "+-" and line[1:2] not in ("+", "-", "")]
    assert lines == [
        "-      - {name: issue_refund, arguments: {amount_cents: 5000}}  # in cents",
        "+      - {name: issue_refund, arguments: {amount_cents: 4500}}  # in cents",
    ]
    assert (tmp_path / EVALS).read_text() == tests.replace("5000", "4500")


def test_what_was_promoted_lets_no_mutant_live(tmp_path: Path) -> None:
    """Lint finds nothing against a promoted test, and kills every mutant of its trace."""
    write(tmp_path, {"production.json": exported(LOOKUP, CHECK, REFUND)})
    promote(tmp_path, "production.json", "-o", EVALS)
    ran = run_apart("lint", EVALS, "--traces", "production.json", "--json", cwd=tmp_path)
    linted = json.loads(ran.out)
    assert (ran.code, linted["remarks"], linted["mutation"]["survived"]) == (0, [], 0)
