"""False results that shipped tools were seen to give, each of which is right here, from a file to the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

import rightcall
from support.command_line import run_here

LOOK: Final = {"name": "look", "arguments": {"id": 1}}
PAY: Final = {"name": "pay", "arguments": {"id": 1}}
SHELL: Final = {"name": "shell", "arguments": {"command": "rm -r data"}}


def function(call: dict[str, Any], id: str, arguments: str | None = None) -> dict[str, Any]:
    text = json.dumps(call["arguments"]) if arguments is None else arguments
    return {"id": id, "type": "function", "function": {"name": call["name"], "arguments": text}}


def chat(*messages: list[dict[str, Any]]) -> dict[str, Any]:
    """A conversation in which each message of the model has these calls, in the order in which they are given."""
    told: list[Any] = [{"role": "user", "content": "hello"}]
    for number, calls in enumerate(messages):
        entries = [function(call, f"{number}-{at}") for at, call in enumerate(calls)]
        told += [{"role": "assistant", "content": None, "tool_calls": entries}]
        told += [{"role": "tool", "tool_call_id": entry["id"], "content": "ok"} for entry in entries]
    return {"messages": [*told, {"role": "assistant", "content": "Done."}]}


def llm(number: int, *calls: dict[str, Any]) -> dict[str, Any]:
    entries = [
        {"tool_call.function.name": call["name"], "tool_call.function.arguments": json.dumps(call["arguments"])}
        for call in calls
    ]
    output = [{"message.role": "assistant", "message.tool_calls": entries}]
    return _span(number, {"openinference.span.kind": "LLM", "llm.output_messages": output})


def tool(number: int, call: dict[str, Any], parent: int = 0) -> dict[str, Any]:
    value = json.dumps(call["arguments"])
    return _span(number, {"openinference.span.kind": "TOOL", "tool.name": call["name"], "input.value": value}, parent)


def _span(number: int, attributes: dict[str, Any], parent: int = 0) -> dict[str, Any]:
    time = f"2026-01-01T00:00:{number:02}Z"
    context = {"trace_id": "t", "span_id": f"s{number}"}
    return {
        "name": "step",
        "context": context,
        "parent_id": f"s{parent}" if parent else None,
        "start_time": time,
        "end_time": time,
        "attributes": attributes,
    }


FALSE_PASSES: Final[dict[str, tuple[Any, dict[str, Any]]]] = {
    "a forbidden shell": (chat([SHELL]), {"forbidden_tools": ["shell"]}),
    "a forbidden shell in spans": ([llm(1, SHELL), tool(2, SHELL)], {"forbidden_tools": ["shell"]}),
    "a forbidden tool that is the second of parallel calls": (chat([LOOK, SHELL]), {"forbidden_tools": ["shell"]}),
    "a forbidden tool called by a nested agent": (
        [llm(1, LOOK), tool(2, LOOK), llm(3, SHELL) | {"parent_id": "s2"}, tool(4, SHELL, 2)],
        {"forbidden_tools": ["shell"]},
    ),
    "half of the turns wrong": (
        chat([LOOK], [PAY]),
        {"expected_tool_calls": [LOOK, LOOK], "match": "exact"},
    ),
    "an extra tool": (chat([LOOK, PAY]), {"expected_tool_calls": [LOOK], "match": "exact"}),
    "a wrong value": (
        chat([LOOK]),
        {"expected_tool_calls": [{"name": "look", "arguments": {"id": 2}}]},
    ),
    "a reversed order": (chat([PAY], [LOOK]), {"expected_tool_calls": [LOOK, PAY]}),
    "extra arguments under exact": (
        chat([{"name": "look", "arguments": {"id": 1, "force": True}}]),
        {"expected_tool_calls": [LOOK], "arguments": "exact"},
    ),
    "a number for its text": (
        chat([LOOK]),
        {"expected_tool_calls": [{"name": "look", "arguments": {"id": "1"}}]},
    ),
    "true for its text": (
        chat([{"name": "look", "arguments": {"id": True}}]),
        {"expected_tool_calls": [{"name": "look", "arguments": {"id": "True"}}]},
    ),
    "null for its text": (
        chat([{"name": "look", "arguments": {"id": None}}]),
        {"expected_tool_calls": [{"name": "look", "arguments": {"id": "None"}}]},
    ),
    "one doubled for another": (
        chat([LOOK], [PAY], [PAY]),
        {"expected_tool_calls": [LOOK, LOOK, PAY], "match": "any_order"},
    ),
    "arguments of one call where another leaves them out": (
        chat([LOOK], [PAY]),
        {"expected_tool_calls": [{"name": "look"}, {"name": "pay", "arguments": {"id": 2}}]},
    ),
    "a call that was not made": (chat([LOOK]), {"required_tools": ["look", "pay"]}),
}

FALSE_FAILURES: Final[dict[str, tuple[Any, dict[str, Any]]]] = {
    "a call that model and tool spans both show": (
        [llm(1, LOOK), tool(2, LOOK)],
        {"expected_tool_calls": [LOOK], "match": "exact"},
    ),
    "delete called no time where nothing was called": (chat(), {"forbidden_tools": ["delete"]}),
    "no call where none was expected": (chat(), {"expected_tool_calls": []}),
    "an assignment that taking the first would miss": (
        chat([LOOK, {"name": "look", "arguments": {"id": 2}}]),
        {
            "expected_tool_calls": [{"name": "look"}, {"name": "look", "arguments": {"id": 1}}],
            "match": "any_order",
        },
    ),
    "more arguments than were listed, in any order": (
        chat([{"name": "pay", "arguments": {"id": 1, "note": "x"}}, LOOK]),
        {"expected_tool_calls": [LOOK, PAY], "match": "any_order"},
    ),
    "text of the model between calls": (
        chat([LOOK], [], [PAY]),
        {"expected_tool_calls": [LOOK, PAY], "match": "exact"},
    ),
}


def graded(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], trace: Any, test: dict[str, Any]) -> int:
    """The exit code of the command line on one trace and one test."""
    (tmp_path / "trace.json").write_text(json.dumps(trace))
    (tmp_path / "tests.json").write_text(json.dumps({"tests": [{"id": "t", **test}]}))
    return run_here(capfdbinary, "grade", tmp_path / "trace.json", "--tests", tmp_path / "tests.json").code


@pytest.mark.parametrize(("trace", "test"), FALSE_PASSES.values(), ids=FALSE_PASSES)
def test_what_other_tools_pass_fails(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], trace: Any, test: dict[str, Any]
) -> None:
    """On the command line and in Python (G36, G39)."""
    assert graded(tmp_path, capfdbinary, trace, test) == 1
    with pytest.raises(AssertionError):
        rightcall.check(trace, **test)


@pytest.mark.parametrize(("trace", "test"), FALSE_FAILURES.values(), ids=FALSE_FAILURES)
def test_what_other_tools_fail_passes(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], trace: Any, test: dict[str, Any]
) -> None:
    """On the command line and in Python (G36, G39)."""
    assert graded(tmp_path, capfdbinary, trace, test) == 0
    rightcall.check(trace, **test)


@pytest.mark.parametrize("tests", [{"tests": []}, None], ids=["an empty test set", "no test set"])
def test_nothing_to_grade_with_is_not_green(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], tests: dict[str, Any] | None
) -> None:
    """Without an expectation nothing was judged (G36, G39)."""
    (tmp_path / "trace.json").write_text(json.dumps(chat([LOOK])))
    (tmp_path / "tests.json").write_text(json.dumps(tests))
    named: list[str | Path] = ["--tests", tmp_path / "tests.json"] if tests is not None else []
    assert run_here(capfdbinary, "grade", tmp_path / "trace.json", *named).code in (2, 3)


@pytest.mark.parametrize(
    "test",
    [
        {"expected_tool_calls": [LOOK], "ignore_argument": ["id"]},
        {"expected_tool_calls": [{"name": "look", "argument": {"id": 2}}]},
        {"forbiden_tools": ["look"]},
    ],
    ids=["of a test", "of a call", "of a ban"],
)
def test_a_misspelt_key_is_refused(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], test: dict[str, Any]
) -> None:
    """It is never read as an expectation that always holds (G27, G39)."""
    assert graded(tmp_path, capfdbinary, chat([LOOK]), test) == 2


def test_malformed_arguments_are_a_verdict_and_no_crash(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The call counts by its name, and no arguments are made up for it (G9)."""
    trace = chat([LOOK])
    trace["messages"][1]["tool_calls"] = [function(LOOK, "0-0", '{"id": 1')]
    assert graded(tmp_path, capfdbinary, trace, {"expected_tool_calls": [LOOK]}) == 1
    assert graded(tmp_path, capfdbinary, trace, {"expected_tool_calls": [{"name": "look"}]}) == 0


def test_a_call_counts_once_however_many_requests_repeat_it(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A log of exchanges holds the history again with each request."""
    told = chat([LOOK], [PAY])["messages"]
    log = [
        {"request": {"messages": told[:at]}, "response": {"choices": [{"index": 0, "message": told[at]}]}}
        for at in (1, 3, 5)
    ]
    assert graded(tmp_path, capfdbinary, log, {"expected_tool_calls": [LOOK, PAY], "match": "exact"}) == 0
