"""`parallel: unordered` acts on everything that it may stand beside, or is refused (G18, G24)."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rightcall
from rightcall import testsets
from rightcall.app.kit import all_kinds
from rightcall.assertions import ToolCallTrajectory, ToolSequence
from rightcall.assertions.sequence import Step
from rightcall.core.calls import ToolCall
from rightcall.core.lining import messages
from rightcall.core.patterns import ExpectedCall, Match
from rightcall.errors import TestSetError
from rightcall.testsets.dumping import to_json
from rightcall.testsets.writing import native_keys
from support.grading import call, hidden, judge, trajectory

NAMES = st.sampled_from("abc")
PLACES = st.sampled_from([None, 0, 1, 2])
MADE = st.one_of(
    st.builds(call, NAMES, st.sampled_from([{}, {"x": 1}]), message=PLACES), st.builds(hidden, NAMES, message=PLACES)
)
ARGUMENTS = st.sampled_from([None, {"x": 1}])


@given(st.lists(st.tuples(NAMES, ARGUMENTS), min_size=1, max_size=4), st.lists(MADE, max_size=5), st.booleans())
def test_steps_are_the_expected_calls_in_order(
    wanted: list[tuple[str, Any]], made: list[ToolCall], has_gap: bool
) -> None:
    """A list of single steps is decided as the same calls expected in order (G18, G24)."""
    steps = [
        Step(tool=name, match=Match(mode="partial", args=args)) if args else Step(tool=name) for name, args in wanted
    ]
    expected = [ExpectedCall(name=name, arguments=args) if args else ExpectedCall(name=name) for name, args in wanted]
    known = trajectory(*made, gaps=("a gap",) if has_gap else ())
    sequence = judge(ToolSequence(steps=tuple(steps)), known, parallel_unordered=True)
    in_order = judge(ToolCallTrajectory(expected_tool_calls=tuple(expected)), known, parallel_unordered=True)
    assert sequence.status == in_order.status


@given(st.lists(NAMES, min_size=1, max_size=4), st.lists(st.builds(call, NAMES, message=PLACES), max_size=5))
def test_some_order_of_each_message_has_the_steps(wanted: list[str], made: list[ToolCall]) -> None:
    """The sequence passes exactly if the calls of each message can be put so that it passes without the key."""
    sequence = ToolSequence(steps=tuple(Step(tool=name) for name in wanted))
    orders = itertools.product(*(itertools.permutations(run) for run in messages(made)))
    possible = any(judge(sequence, itertools.chain.from_iterable(order)).status == "pass" for order in orders)
    assert judge(sequence, made, parallel_unordered=True).status == ("pass" if possible else "fail")


def test_the_reason_counts_the_calls_of_a_message() -> None:
    """How far the steps were found is told of the message that they were found in."""
    made = [call("b", message=0), call("a", message=0), call("b", message=1)]
    verdict = judge(ToolSequence(steps=tuple(Step(tool=name) for name in "abab")), made, parallel_unordered=True)
    assert verdict.reason == "matched 2 of 4 steps; step 3 `a` was not called after call 2."


@pytest.mark.parametrize(
    "sequence",
    [{"steps": [{"tool": "a"}], "strict": True}, [{"optional": {"tool": "a"}}, {"tool": "b"}]],
    ids=["strict", "composed"],
)
def test_sequences_on_which_it_cannot_act_refuse_it(sequence: Any) -> None:
    """What would be accepted without effect is refused, with what to write instead (G27)."""
    with pytest.raises(TestSetError, match=r"expected_tool_sequence: .* cannot act on a sequence"):
        rightcall.grade([], {"expected_tool_sequence": sequence, "parallel": "unordered"})


def test_a_turn_with_steps_is_something_to_act_on() -> None:
    """The key may stand on a test of which only the turns expect something in order."""
    made = [{"name": "b", "message": 0, "turn": 0}, {"name": "a", "message": 0, "turn": 0}]
    test = {"turns": [{"expected_tool_sequence": [{"tool": "a"}, {"tool": "b"}]}], "parallel": "unordered"}
    (verdict,) = rightcall.grade({"tool_calls": made}, test)
    assert (verdict.name, verdict.status) == ("tool_sequence@turn:1", "pass")


def test_a_test_without_order_is_written_without_it() -> None:
    """What a test set says for all is not written on a test where it would be refused."""
    tests = [{"id": "a", "allowed_tools": ["a"]}, {"id": "b", "expected_tool_sequence": [{"tool": "a"}]}]
    data = json.dumps({"parallel": "unordered", "tests": tests}).encode()
    keys = native_keys(testsets.read(data, all_kinds(), file="t.json"))
    assert [test.get("parallel") for test in keys["tests"]] == [None, "unordered"]
    assert len(testsets.read(to_json(keys), all_kinds(), file="t.json").tests) == 2
