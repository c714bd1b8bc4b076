"""Grounding as brute force has it, and of whatever is recorded (G5, G21)."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rightcall import match
from rightcall.assertions import Grounding
from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core.calls import ToolCall, ToolSpec
from rightcall.core.patterns import ExpectedCall
from support.grading import call, judge, trajectory
from support.json_values import json_values
from support.messages import in_messages, shuffled_in_messages

MADE = [call("look", result={"id": number}, status="ok") for number in (1, 2)] + [
    call("use", {"x": number}, result={}, status="ok") for number in (1, 2)
]
OWN = Grounding(sources=("results",))


def is_grounded(made: tuple[ToolCall, ...]) -> bool:
    """The definition read literally: some look in an earlier message gave each value used."""
    return all(
        any(
            other.name == "look" and other.result["id"] == one.arguments["x"] and other.message != one.message
            for other in made[:index]
        )
        for index, one in enumerate(made)
        if one.name == "use"
    )


@given(
    st.lists(st.sampled_from(MADE), max_size=5),
    st.lists(st.booleans(), min_size=5, max_size=5),
    st.randoms(use_true_random=False),
)
def test_laws_of_grounding(calls: list[ToolCall], starts: list[bool], random: Any) -> None:
    """As brute force has it; an earlier source more never breaks it, nor does the order of parallel calls (G21)."""
    made = in_messages(calls, starts)
    status = judge(OWN, made).status
    assert status == ("pass" if is_grounded(made) else "fail")
    if status == "pass":
        assert judge(OWN, (call("look", result={"id": 9}, status="ok", message=99), *made)).status == "pass"
    assert judge(OWN, shuffled_in_messages(made, random)).status == status


words = st.sampled_from(["role", "type", "content", "parts", "text", "kind", "user", "tool_result", "data", "request"])
odd = st.recursive(
    json_values() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=8,
)


@given(st.lists(odd, max_size=3), json_values(), json_values(), json_values())
def test_grading_never_raises_on_recorded_data(messages: list[Any], result: Any, value: Any, schema: Any) -> None:
    """Whatever stands in messages, results, arguments and schemas (G5)."""
    made = trajectory(
        call("look", result=result, status="ok", message=0),
        call("use", {"x": value}, message=1),
        messages=messages,
        available_tools=(ToolSpec(name="use", parameters=schema),),
    )
    assert judge(Grounding(sources=("user", "results", "system")), made).status in ("pass", "fail", "error")
    wanted = ExpectedCall(name="use", arguments={"x": match.from_("look.result[*].a")})
    assert judge(ToolCallTrajectory(expected_tool_calls=(wanted,)), made).status in ("pass", "fail", "error")
