"""Stories of policies: severities, code and schemas, as users write and run them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rightcall
from rightcall.core.calls import Trajectory
from rightcall.core.verdicts import Finding
from rightcall.errors import TestSetError
from support.command_line import run_apart
from support.stories import grade, write

MADE: list[dict[str, Any]] = [{"id": "one", "tool_calls": [{"name": "a"}]}, {"id": "two", "tool_calls": []}]


def severities(folder: Path, text: str) -> dict[str, str]:
    """The severity of each verdict of a test set on one trajectory."""
    write(folder, {"t.yaml": text, "r.jsonl": [{**MADE[0], "tool_calls": [{"name": "a", "turn": 0}]}]})
    return {verdict["id"]: verdict["severity"] for verdict in grade(folder, "r.jsonl", "--tests", "t.yaml").verdicts}


def test_the_nearest_severity_holds(tmp_path: Path) -> None:
    """That of the assertion, else of its turn, its test, its test set; `block` without any."""
    text = """
severity: warn
assertions: [{kind: required_tool, tool: of-the-set}]
tests:
  - id: one
    severity: shadow
    required_tools: [of-the-test]
    tool_call_args: [{tool: own, match: {mode: ignore}, severity: block}]
    assertions: [{kind: required_tool, tool: general}, {kind: required_tool, tool: general-own, severity: warn}]
    turns: [{required_tools: [of-the-turn], severity: block}, {allowed_tools: []}]
"""
    assert severities(tmp_path, text) == {
        "tool_called:of-the-set": "warn",
        "tool_called:of-the-test": "shadow",
        "tool_call_args:own": "block",
        "tool_called:general": "shadow",
        "tool_called:general-own": "warn",
        "tool_called:of-the-turn@turn:1": "block",
        "no_unexpected_tool@turn:2": "shadow",
    }
    assert severities(tmp_path, "tests: [{id: one, allowed_tools: []}]") == {"no_unexpected_tool": "block"}


SHADOW = "severity: shadow\ntests: [{id: policy, allowed_tools: [], budget: {max_errors: 0}}]"


def test_a_policy_in_the_shadow_says_what_it_would_have_failed(tmp_path: Path) -> None:
    """Nothing decides, so nothing was graded: not green, and every report has the count (G2, G36)."""
    write(tmp_path, {"t.yaml": SHADOW, "r.jsonl": MADE})
    told = grade(tmp_path, "r.jsonl", "--tests", "t.yaml", "--apply-all", "-o", "j.xml")
    assert told.code == 3
    assert told.report["shadow"] == {"failed": 1, "errors": 0, "total": 2}
    assert set(told.outcomes.values()) == {"inconclusive"}
    ran = run_apart("grade", "r.jsonl", "--tests", "t.yaml", "--apply-all", cwd=tmp_path)
    assert "shadow: 1 of 2 trajectories would have failed\n" in ran.out
    property_ = 'name="rightcall.shadow" value="1 of 2 trajectories would have failed"'
    assert property_ in (tmp_path / "j.xml").read_text("utf-8")


def test_a_policy_in_the_shadow_changes_nothing_beside_one_that_blocks(tmp_path: Path) -> None:
    """With another test set in the same run, the exit code is that of the other."""
    blocking = "tests: [{id: rule, forbidden_tools: [z]}]"
    write(tmp_path, {"t.yaml": SHADOW, "b.yaml": blocking, "r.jsonl": MADE})
    told = grade(tmp_path, "r.jsonl", "--tests", "t.yaml", "--tests", "b.yaml", "--apply-all")
    assert (told.code, told.report["shadow"]["failed"]) == (0, 1)


def test_what_a_shadow_could_not_judge_is_counted_apart(tmp_path: Path) -> None:
    """An error in the shadow is no failure and no pass (G1)."""
    write(tmp_path, {"t.yaml": "tests: [{id: p, severity: shadow, budget: {max_errors: 0}}]", "r.jsonl": MADE[:1]})
    ran = run_apart("grade", "r.jsonl", "--tests", "t.yaml", "--apply-all", cwd=tmp_path)
    assert "shadow: 0 of 1 trajectory would have failed, 1 could not be judged\n" in ran.out


@pytest.mark.parametrize(
    "keys",
    [
        {"budget": {"max_calls": 0}},
        {"check_schemas": True, "tool_schemas": {"a": {"required": ["x"]}}},
        {"allowed_tools": []},
        {"assertions": [{"kind": "allowed_tools", "tools": [], "agent": "x"}]},
    ],
)
def test_no_rate_softens_what_forbids(tmp_path: Path, keys: dict[str, Any]) -> None:
    """A failed budget, schema or ban fails its test, however small a share of its assertions must pass (G25, G36)."""
    test = {"id": "one", "min_assertion_rate": 0.1, "required_tools": ["a"], **keys}
    write(
        tmp_path, {"t.json": {"tests": [test]}, "r.jsonl": [{"id": "one", "tool_calls": [{"name": "a", "agent": "x"}]}]}
    )
    assert grade(tmp_path, "r.jsonl", "--tests", "t.json").outcomes == {"one": "fail"}


CHECKS = """
import dataclasses

@dataclasses.dataclass
class Seen:
    names: list

def odd(trace):
    return Seen([call.name for call in trace.tool_calls]).names == ["a"]
"""


def test_code_is_found_beside_the_test_set(tmp_path: Path) -> None:
    """The path is relative to the file that names it, wherever the command runs."""
    (tmp_path / "sets").mkdir()
    write(
        tmp_path,
        {"sets/t.yaml": "tests: [{id: one, code: checks.py:odd}]", "sets/checks.py": CHECKS, "r.jsonl": MADE[:1]},
    )
    told = grade(tmp_path, "r.jsonl", "--tests", "sets/t.yaml")
    assert [(verdict["id"], verdict["status"]) for verdict in told.verdicts] == [("code:odd", "pass")]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("no.py:odd", "there is no file `no.py`; a path is relative to the test set's file"),
        ("checks.py:od", "`checks.py` has no function `od` (did you mean `odd`?)"),
        ("checks.py:dataclasses", "`dataclasses` of `checks.py` is no function"),
        ("later.py:f", "`f` of `later.py` is asynchronous"),
        ("broken.py:f", "`broken.py` cannot be loaded: ValueError: on purpose (line 2)"),
        ("exits.py:f", "`exits.py` cannot be loaded: SystemExit: 0 (line 1)"),
    ],
)
def test_code_that_cannot_run_is_refused_with_its_place(tmp_path: Path, code: str, message: str) -> None:
    """Already when the test set is validated, with the line of the key (G27)."""
    files = {
        "t.yaml": f"tests:\n  - id: one\n    code: {code}\n",
        "checks.py": CHECKS,
        "later.py": "async def f(trace): return True\n",
        "broken.py": "\nraise ValueError('on purpose')\n",
        "exits.py": "raise SystemExit(0)\n",
    }
    write(tmp_path, files)
    ran = run_apart("validate", "t.yaml", cwd=tmp_path)
    assert ran.code == 2
    assert f"t.yaml:3:11: tests[0].code: {message}" in ran.err


@pytest.mark.parametrize("keys", [{"code": "evil.py:f"}, {"assertions": [{"kind": "code", "function": "evil.py:f"}]}])
def test_code_in_a_record_is_refused_and_never_run(tmp_path: Path, keys: dict[str, Any]) -> None:
    """What was recorded does not decide what runs."""
    evil = "open('was-here', 'w').close()\ndef f(trace): return True\n"
    write(tmp_path, {"r.jsonl": [{**MADE[0], **keys}], "evil.py": evil})
    ran = run_apart("grade", "r.jsonl", cwd=tmp_path)
    assert ran.code == 2
    assert "code is run only where a test set file that you name says so" in ran.err
    assert not (tmp_path / "was-here").exists()


class Odd:
    """Something that no function should return."""


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (True, ("pass", "")),
        ([], ("pass", "")),
        ([True, {"passed": True}], ("pass", "")),
        ({"score": 1}, ("pass", "")),
        ({"passed": True, "score": 0.2}, ("pass", "")),
        (False, ("fail", "`code:check` returned False.")),
        ("too late", ("fail", "too late")),
        (Finding(code="late", message="Too late."), ("fail", "Too late.")),
        ({"score": 0, "reason": "why"}, ("fail", "why")),
        ({"pass": False}, ("fail", "`code:check` did not pass.")),
        ([True, "too late"], ("fail", "too late")),
    ],
)
def test_what_a_function_may_return(returned: Any, expected: tuple[str, str]) -> None:
    """Truth, reasons, findings and scores decide; findings come first (G4)."""

    def check(trace: Trajectory) -> Any:
        return returned

    (verdict,) = rightcall.grade([{"name": "a"}], {"code": check})
    assert (verdict.name, (verdict.status, verdict.reason)) == ("code:check", expected)


@pytest.mark.parametrize(
    "returned", [None, 1, 0, "", 0.5, Odd(), {}, {"score": 0.5}, {"score": 7}, {"passed": 1}, [None]]
)
def test_no_other_value_is_a_pass_or_a_fail(returned: Any) -> None:
    """A function that forgets to answer has judged nothing (G1)."""
    (verdict,) = rightcall.grade([{"name": "a"}], {"code": lambda trace: returned})
    assert (verdict.status, verdict.findings[0].code) == ("error", "code_result")


def test_what_a_function_raises_is_an_error_with_its_traceback() -> None:
    """Also a failed `assert`: it may be of the function itself."""

    def check(trace: Trajectory) -> bool:
        assert trace.tool_calls == (), "on purpose"
        return True

    (verdict,) = rightcall.grade([{"name": "a"}], {"code": check})
    assert verdict.status == "error"
    assert verdict.reason.startswith("`code:check` raised AssertionError: on purpose")
    assert "trace.tool_calls ==" in verdict.details["traceback"]


def test_a_function_changes_nothing_for_others() -> None:
    """It is given a copy (G5)."""

    def meddle(trace: Trajectory) -> bool:
        for call in trace.tool_calls or ():
            call.arguments.clear()
        return True

    made = rightcall.read([{"name": "a", "arguments": {"x": 1}}])
    assert [verdict.status for verdict in rightcall.grade(made, {"code": [meddle, lambda trace: True]})] == ["pass"] * 2
    assert made.tool_calls is not None
    assert made.tool_calls[0].arguments == {"x": 1}


@pytest.mark.parametrize(
    ("look", "status"),
    [
        (lambda call: call.name == "a", "pass"),
        (lambda call: call.arguments_state == "redacted", "pass"),
        (lambda call: call.arguments == {}, "error"),
        (lambda call: "x" not in call.arguments, "error"),
        (lambda call: not call.arguments, "error"),
        (lambda call: call.arguments.get("x") is None, "error"),
        (lambda call: len(call.arguments) == 0, "error"),
        (lambda call: json.dumps(call.arguments) == "{}", "error"),
    ],
)
def test_a_function_that_looks_into_unknown_arguments_has_not_judged(look: Any, status: str) -> None:
    """Names are known, arguments are not (G11)."""
    hidden = {"tool_calls": [{"name": "a", "arguments_state": "redacted"}]}
    (verdict,) = rightcall.grade(hidden, {"code": lambda trace: look(trace.tool_calls[0])})
    assert verdict.status == status


def test_a_function_is_not_asked_where_calls_may_be_missing() -> None:
    """Calls in a gap could change anything that it says (G12)."""
    (verdict,) = rightcall.grade({"tool_calls": [], "gaps": ["a line"]}, {"code": lambda trace: True})
    assert (verdict.status, verdict.findings[0].code) == ("error", "gap")


def test_a_function_of_a_turn_is_given_the_calls_of_that_turn() -> None:
    """What stands in a turn sees nothing else."""
    made = [{"name": "a", "turn": 0}, {"name": "b", "turn": 1}]
    keys = {"turns": [{}, {"code": lambda trace: [call.name for call in trace.tool_calls] == ["b"]}]}
    (verdict,) = rightcall.grade({"tool_calls": made}, keys)
    assert verdict.status == "pass"


@pytest.mark.parametrize("named", ["checks.py:odd", "checks.py", 5])
def test_in_python_the_function_itself_is_given(named: Any) -> None:
    """A name would be relative to no file."""
    with pytest.raises(TestSetError, match="function"):
        rightcall.grade([{"name": "a"}], {"code": named})


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"budget": {}}, "budget: expected one limit of `max_calls`"),
        ({"code": []}, "code: expected a function as `path.py:function`, found []"),
        ({"text": {}}, "text: expected `must_include`, `must_not_include` or `regex`, found none of them"),
        ({"text": {"regex": "("}}, "text.regex: not a regular expression"),
        ({"text": {"must_include": ["a"], "flags": "i"}}, "text.flags: `flags` have no effect without `regex`"),
        ({"text": {"regex": "a", "ignore_case": True}}, "text.ignore_case: `ignore_case` has no effect"),
        ({"turns": [{"text": {"regex": "a"}}]}, "turns[0].text: `text` looks at the final answer"),
        ({"assertions": [{"kind": "budget", "max_calls": 1, "max_errors": 1}]}, "assertions[0]: expected one limit"),
        ({"check_schemas": True, "tool_schemas": {"a b": {"type": 5}}}, 'tool_schemas["a b"].type: not a JSON Schema'),
    ],
)
def test_what_can_never_be_checked_is_refused(keys: dict[str, Any], message: str) -> None:
    """With its path, before anything is graded (G27)."""
    with pytest.raises(TestSetError) as caught:
        rightcall.grade([{"name": "a"}], keys)
    assert str(caught.value).startswith(message)


def test_a_bad_schema_is_told_where_it_stands(tmp_path: Path) -> None:
    """In a list of definitions, in another part of the file than the key that asks for the check (G27)."""
    tools = "tool_schemas:\n  - type: function\n    function:\n      name: a\n      parameters: {type: objekt}\n"
    write(tmp_path, {"t.yaml": f"{tools}tests: [{{check_schemas: true}}]\n"})
    ran = run_apart("validate", "t.yaml", cwd=tmp_path)
    assert ran.code == 2
    assert "t.yaml:5:26: tool_schemas[0].function.parameters.type: not a JSON Schema" in ran.err


def test_a_misspelt_tool_in_a_budget_is_told(tmp_path: Path) -> None:
    """A policy may be wider than one agent, so it is a note and no refusal (G27)."""
    text = "tool_schemas: {refund: {}}\ntests: [{id: one, budget: {max_calls_per_tool: {refnd: 1}}}]"
    write(tmp_path, {"t.yaml": text})
    ran = run_apart("validate", "t.yaml", cwd=tmp_path)
    assert ran.code == 0
    assert "`refnd` is none of the tools in `tool_schemas` (did you mean `refund`?)" in ran.out + ran.err
