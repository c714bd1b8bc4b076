"""What Python programs call: read, grade, check, and the metric classes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import rightcall
from rightcall.errors import TestSetError, TraceError
from rightcall.metrics import ToolCallTrajectory, ToolSelect

LOOKUP = {"name": "lookup_order", "arguments": {"order_id": 42}}
REFUND = {"name": "issue_refund", "arguments": {"order_id": 42, "amount": 19.5}}


def test_a_trajectory_is_read_as_itself() -> None:
    """Reading what was read changes nothing."""
    trajectory = rightcall.read([LOOKUP])
    assert rightcall.read(trajectory) is trajectory


class Dumpable:
    """An object of some SDK that can write itself as plain data."""

    def model_dump(self, *, mode: str) -> dict[str, Any]:
        """The messages as plain data, in a way that JSON has too."""
        assert mode == "json"
        function = {"name": "lookup_order", "arguments": '{"order_id": 42}'}
        return {"messages": [{"role": "assistant", "tool_calls": [{"function": function}]}]}


@pytest.mark.parametrize(
    "value",
    [
        [LOOKUP],
        {"tool_calls": [LOOKUP]},
        {"tool_calls": [{"function": {"name": "lookup_order", "arguments": '{"order_id": 42}'}}]},
        '{"tool_calls": [{"name": "lookup_order", "arguments": {"order_id": 42}}]}',
        Dumpable(),
    ],
    ids=["calls", "record", "OpenAI's calls", "JSON text", "SDK object"],
)
def test_calls_are_read_from_what_a_program_holds(value: Any) -> None:
    """Each of these is one call of the same name and arguments (G9)."""
    calls = rightcall.read(value).tool_calls
    assert calls is not None
    assert [(call.name, call.arguments) for call in calls] == [("lookup_order", {"order_id": 42})]


@pytest.mark.parametrize(
    "value",
    [object(), 7, {"hello": 1}, "not JSON", [[LOOKUP], [LOOKUP]]],
    ids=["an object", "a number", "a mapping", "text", "lists in a list"],
)
def test_what_holds_no_trajectory_is_refused(value: Any) -> None:
    """Nothing is guessed, and an unknown value is never an empty trajectory (G3)."""
    with pytest.raises(TraceError):
        rightcall.read(value)


def test_a_place_in_a_value_names_no_file() -> None:
    """What a program holds is in no file, so a place is a line, or nothing."""
    with pytest.raises(TraceError, match=r"^line 1, column 2: not JSON"):
        rightcall.read("{not JSON")
    with pytest.raises(TraceError, match=r"^the format is not known: "):
        rightcall.read({"hello": 1})


@pytest.mark.parametrize("keys", [{}, {"match": "exact"}])
def test_calls_where_expectations_belong_are_refused(keys: dict[str, Any]) -> None:
    """`check` and `grade` take a mapping, and say so."""
    wrong: Any = ["lookup_order"]
    with pytest.raises(TestSetError, match=r"^expected a mapping such as .*, found a list$"):
        rightcall.check([LOOKUP], wrong, **keys)
    with pytest.raises(TestSetError, match="found a list"):
        rightcall.grade([LOOKUP], wrong)


def test_several_trajectories_are_not_one() -> None:
    """A value with two records is refused: which of them is meant?"""
    with pytest.raises(TraceError, match="2"):
        rightcall.read([{"id": "a", "tool_calls": []}, {"id": "b", "tool_calls": []}])


def test_nothing_expected_is_refused() -> None:
    """Grading without an expectation is a mistake, not a pass (G27)."""
    for expectations in ({}, {"match": "exact"}, {"prompt": "hello"}):
        with pytest.raises(TestSetError):
            rightcall.grade([LOOKUP], expectations)
        with pytest.raises(TestSetError):
            rightcall.check([LOOKUP], expectations)


def test_a_passing_check_is_silent() -> None:
    """Nothing happens when everything passes."""
    rightcall.check([LOOKUP, REFUND], expected_tool_calls=["lookup_order", "issue_refund"], forbidden_tools=["x"])


@pytest.mark.parametrize(
    ("trajectory", "expectations", "words"),
    [
        ([REFUND], {"required_tools": ["lookup_order"]}, "tool_called:lookup_order: `lookup_order` was never called."),
        ({"tool_calls": None}, {"required_tools": ["a"]}, "tool_called:a: could not be judged: No tool calls were"),
        ([LOOKUP], {"tool_call_args": []}, "Nothing was judged"),
        (
            [LOOKUP],
            {"assertions": [{"kind": "required_tool", "tool": "lookup_order", "severity": "warn"}]},
            "Nothing was judged",
        ),
    ],
    ids=["fail", "not recorded", "nothing expected", "only warnings"],
)
def test_what_does_not_pass_raises(trajectory: Any, expectations: dict[str, Any], words: str) -> None:
    """A failure, what could not be judged and what judged nothing all raise, with the reason (G2, G3)."""
    with pytest.raises(AssertionError) as raised:
        rightcall.check(trajectory, expectations)
    assert words in str(raised.value)


def test_every_failure_is_told_at_once() -> None:
    """The first failure hides nothing (G2)."""
    with pytest.raises(AssertionError) as raised:
        rightcall.check([LOOKUP], required_tools=["a", "b"], allowed_tools=[])
    names = [line.partition(": ")[0] for line in str(raised.value).splitlines() if line]
    assert names == ["tool_called:a", "tool_called:b", "no_unexpected_tool"]


def span(*names: str) -> dict[str, Any]:
    """An LLM span that called these tools."""
    calls = {
        f"llm.output_messages.0.message.tool_calls.{index}.tool_call.function.name": name
        for index, name in enumerate(names)
    }
    return {"attributes": {"llm.input_messages.0.message.role": "user", **calls}}


@pytest.mark.parametrize(
    ("expected", "called", "score"),
    [
        (["a", "b"], ["b", "a"], 100),
        (["a", "a"], ["a"], 66.67),
        (["a"], ["a", "a"], 66.67),
        (["a"], ["A"], 0),
        (["a"], ["a "], 0),
    ],
)
def test_given_names_are_the_truth(expected: list[str], called: list[str], score: float) -> None:
    """Names compare exactly, and how often each is called counts (G30)."""
    assert ToolSelect(expected_tools=expected).evaluate(span=span(*called)).score == score


@pytest.mark.parametrize("expected", [None, []])
def test_without_names_a_judge_would_decide(expected: list[str] | None) -> None:
    """No names and an empty list ask for a judge; without one the evaluation fails (G30)."""
    result = ToolSelect(expected_tools=expected).evaluate(span=span("a"))
    assert (result.is_success, result.score, result.is_gte_threshold) == (False, None, None)


@pytest.mark.parametrize("words", [{"match": "inorder"}, {"arguments": "subset"}])
def test_a_metric_refuses_words_that_it_does_not_know(words: dict[str, Any]) -> None:
    """An unknown mode is refused where it is written, not when something is graded (G27)."""
    with pytest.raises(TestSetError):
        ToolCallTrajectory(**words)


def test_expected_values_of_a_metric_are_data() -> None:
    """Keys that begin with `$` have no meaning there (G14)."""
    metric = ToolCallTrajectory()
    result = metric.evaluate(
        tool_calls=[{"name": "query", "arguments": {"filter": {"$gt": 100}}}],
        expectations={"tool_calls": [{"name": "query", "arguments": {"filter": {"$gt": 100}}}]},
    )
    assert (result.score, result.status) == (1, "pass")


@pytest.mark.parametrize("field", [{"message": 0}, {"agent": "lead"}, {"status": "ok"}, {"kind": "handoff"}, {}])
def test_a_bare_list_of_calls_may_carry_fields_of_the_call_record(field: dict[str, Any]) -> None:
    """A list of calls is read like the list under `tool_calls`, whatever fields of the record they carry."""
    calls = [{"name": "a", **field}]
    assert rightcall.read(calls).tool_calls == rightcall.read({"tool_calls": calls}).tool_calls


@pytest.mark.parametrize(
    ("value", "found"),
    [(Path("log.json"), "the file itself"), (io.StringIO("{}"), "the file itself"), ("log.json", '"log.json"')],
)
def test_a_file_is_not_its_content(value: Any, found: str) -> None:
    """Who gives a name or an open file is told to give what is in it."""
    with pytest.raises(TraceError, match=f"found {found}; to read a file, give `pathlib.Path"):
        rightcall.read(value)


def test_a_verdict_shows_itself_in_one_line() -> None:
    """What a test runner prints is the id, the status and the reason."""
    (verdict,) = rightcall.grade([{"name": "b"}], {"required_tools": ["a"]})
    assert repr(verdict) == "Verdict(id='tool_called:a', status='fail', reason='`a` was never called.')"


def test_a_captured_stream_may_be_text() -> None:
    """It is no more the name of a file than JSON text is."""
    trajectory = rightcall.read('event: message\ndata: {"tool_calls": [{"name": "a", "arguments": {}}]}\n\n')
    assert [call.name for call in trajectory.tool_calls or ()] == ["a"]
