"""Alignments of steps, of arguments of a tool and of forbidden tools: what they show is what the reason names."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.assertions.arguments import ToolCallArgs
from rightcall.assertions.sequence import Step, ToolSequence
from rightcall.assertions.tools import ForbiddenTool, ForbiddenTools
from rightcall.core.assertion import Compiled, grade
from rightcall.core.calls import ToolCall
from rightcall.core.patterns import Match
from rightcall.core.verdicts import Status
from support.alignments import rows_of
from support.grading import call, compiled, trajectory


def sequence(*steps: str | dict[str, Any]) -> Compiled:
    """A compiled sequence of steps: names, or values of `x` that are expected of the tool `a`."""
    made = [
        Step(tool=each) if isinstance(each, str) else Step(tool="a", match=Match(mode="partial", args=each))
        for each in steps
    ]
    (one,) = compiled(ToolSequence(steps=tuple(made)))
    return one


def test_steps_that_were_matched_keep_their_calls() -> None:
    """G24: the step that the reason names is the first one that is no match, however many others could be."""
    one = sequence("a", "b", "c")
    made = [call("b"), call("c"), call("a")]
    (verdict,) = grade(trajectory(*made), [one])
    rows = [(row.mark, row.expected_index, row.made_index) for row in rows_of(one, made)]
    assert verdict.findings[0].expected_index == 1
    assert rows == [("moved", 1, 0), ("moved", 2, 1), ("match", 0, 2)]


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), st.lists(st.sampled_from("abc"), max_size=5))
def test_steps_never_contradict_their_verdict(steps: list[str], names: list[str]) -> None:
    """G24: the steps before the one that is missing match, it does not, and a pass has nothing but matches."""
    one, made = sequence(*steps), [call(name) for name in names]
    (verdict,) = grade(trajectory(*made), [one])
    marked = {row.expected_index: row.mark for row in rows_of(one, made) if row.expected_index is not None}
    matched = verdict.details["matched_steps"]
    assert [marked[index] for index in range(matched)] == ["match"] * matched
    assert [marked[index] for index in range(matched, matched + 1) if index < len(steps)] != ["match"]


def test_steps_stand_beside_calls_that_differ() -> None:
    """A call of the step's tool with other arguments stands beside it, with what differs."""
    (row,) = rows_of(sequence({"x": 1}), [call("a", {"x": 2})])
    assert (row.mark, [each.path for each in row.differences]) == ("differs", ["x"])


def arguments_of(**fields: Any) -> Compiled:
    """A compiled assertion about the arguments of the tool `a`."""
    (one,) = compiled(ToolCallArgs(tool="a", match=Match(mode="partial", args={"x": 1, "y": 1}), **fields))
    return one


@pytest.mark.parametrize(
    ("fields", "made", "rows"),
    [
        ({}, [call("b"), call("a", {"x": 2}), call("a", {"x": 1})], [("differs", 2)]),
        ({"call_index": 1}, [call("a", {"x": 2}), call("a", {"x": 1})], [("differs", 0)]),
        ({"call_index": 3}, [call("a", {"x": 2})], []),
        ({}, [call("b")], []),
        ({"negate": True}, [call("a"), call("a", {"x": 1, "y": 1})], [("unexpected", 1)]),
    ],
    ids=["the closest call", "the call of that number", "too few calls", "never called", "forbidden"],
)
def test_arguments_stand_beside_the_call_that_is_meant(
    fields: dict[str, Any], made: list[ToolCall], rows: list[tuple[str, int]]
) -> None:
    """G23: what a failure about arguments shows is the call that its reason names."""
    one = arguments_of(**fields)
    (verdict,) = grade(trajectory(*made), [one])
    assert verdict.status == Status.FAIL
    assert [(row.mark, row.made_index) for row in rows_of(one, made)] == rows
    assert {at for _, at in rows} == {each.made_index for each in verdict.findings if each.made_index is not None}


def test_calls_that_their_arguments_forbid_are_shown() -> None:
    """G25: a ban of arguments shows the calls that have them; a ban of a tool needs no more than its reason."""
    entries = (ForbiddenTool(tool="a", match=Match(mode="partial", args={"x": 1})), "b")
    (one,) = compiled(ForbiddenTools(tools=entries))
    rows = rows_of(one, [call("a", {"x": 2}), call("b"), call("a", {"x": 1})])
    assert [(row.mark, row.made_index) for row in rows] == [("unexpected", 2)]
