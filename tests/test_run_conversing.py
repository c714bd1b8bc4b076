"""Conversations with an agent, and the one trajectory that comes of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from rightcall.agents.conversing import Held, Script, converse
from rightcall.agents.exchange import Message, Reply, Turn
from rightcall.agents.joining import Exchange, joined
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.scoping import last_turn
from rightcall.errors import EndpointError
from support.driving import FakeEndpoint
from support.grading import call


def held(lines: list[Any], *replies: Reply | EndpointError) -> tuple[Held, list[Turn]]:
    """A conversation in which the agent answers these one after the other, and the turns that were sent."""
    waiting: Iterator[Reply | EndpointError] = iter(replies)

    def answer(turn: Turn) -> Reply:
        reply = next(waiting)
        if isinstance(reply, EndpointError):
            raise reply
        return reply

    async def hold() -> Held:
        async with agent.conversation() as conversation:
            return await converse(conversation, Script(lines), Turn(input=None, attempt="a1", test="t"))

    agent = FakeEndpoint(answer)
    return asyncio.run(hold()), agent.conversations[0]


def told(*replies: Reply) -> Trajectory:
    """The trajectory of these replies to turns `1`, `2`, …"""
    return joined([Exchange(Turn(input=str(n), number=n), reply) for n, reply in enumerate(replies, 1)])


def test_each_turn_knows_what_was_said_before() -> None:
    """Turns are numbered from 1, and have the history and what the agent called the conversation."""
    made, turns = held(
        ["hi", {"order": 1}], Reply(output="hello", conversation_id=7), Reply(output="bye", tool_calls=(call("a"),))
    )
    assert [(turn.input, turn.number, turn.attempt, turn.test, turn.conversation_id) for turn in turns] == [
        ("hi", 1, "a1", "t", None),
        ({"order": 1}, 2, "a1", "t", 7),
    ]
    assert turns[0].history == ()
    assert turns[1].history == (Message(role="user", content="hi"), Message(role="assistant", content="hello"))
    assert made.trouble is None
    assert (made.trajectory.conversation_id, made.trajectory.output) == ("7", "bye")
    assert made.trajectory.messages == [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
        {"role": "user", "content": {"order": 1}},
        {"role": "assistant", "content": "bye"},
    ]


def test_conversation_ends_where_the_agent_failed() -> None:
    """Nothing more is said to an agent that failed, and what it had called stays (G38)."""
    failed = Reply(error="no stock", tool_calls=(call("b"),))
    made, turns = held(["one", "two", "three"], Reply(output="x", tool_calls=(call("a"),)), failed)
    assert len(turns) == 2
    assert made.trajectory.failure == "in turn 2: no stock"
    assert [(one.name, one.turn) for one in made.trajectory.tool_calls or ()] == [("a", 0), ("b", 1)]
    assert made.trajectory.output is None


def test_trouble_keeps_what_was_said_until_then() -> None:
    """The trouble is beside the conversation as far as it came."""
    made, _ = held(["one", "two"], Reply(output="x", tool_calls=(call("a"),)), EndpointError("reset", is_passing=True))
    assert (made.trouble and made.trouble.message, made.trajectory.output) == ("reset", "x")
    assert [one.name for one in made.trajectory.tool_calls or ()] == ["a"]


@pytest.mark.parametrize("calls", [(), (call("a"),)], ids=["no calls", "calls alone"])
def test_turn_without_words_is_a_turn(calls: tuple[ToolCall, ...]) -> None:
    """A turn in which the agent says nothing counts, with and without calls."""
    made, _ = held(["one", "two"], Reply(tool_calls=calls), Reply(tool_calls=(call("b"),)))
    assert [(one.name, one.turn) for one in made.trajectory.tool_calls or ()] == [
        *((one.name, 0) for one in calls),
        ("b", 1),
    ]
    assert last_turn(made.trajectory) == 2


def test_no_calls_in_any_turn_are_no_calls() -> None:
    """Made none is not the same as recorded none (G3)."""
    assert told(Reply(tool_calls=()), Reply(tool_calls=())).tool_calls == ()


@pytest.mark.parametrize(
    ("replies", "why"),
    [
        ([Reply(output="x")], "the agent's reply says nothing of tool calls"),
        ([Reply(tool_calls=None)], "the agent's reply says that none were recorded"),
        ([Reply(tool_calls=UNSET), Reply(tool_calls=None)], "the agent's reply says that none were recorded"),
        ([Reply(error="boom")], "the agent failed before it told of any"),
        ([Reply(trajectory=Trajectory(warnings=("capture was off",)))], "capture was off"),
        ([Reply(output="x", warnings=("odd",))], "the agent's reply says nothing of tool calls"),
    ],
)
def test_calls_that_no_turn_tells_of_are_not_recorded(replies: list[Reply], why: str) -> None:
    """The first warning says why (G3)."""
    made = told(*replies)
    assert (made.tool_calls, made.warnings[0]) == (None, why)


def test_turn_that_tells_of_no_calls_is_a_gap_beside_others() -> None:
    """What was called in it is not known (G12)."""
    made = told(Reply(tool_calls=(call("a"),)), Reply(output="x"), Reply(tool_calls=None))
    assert [one.name for one in made.tool_calls or ()] == ["a"]
    assert made.gaps == ("the calls of turns 2, 3 were not recorded",)


def test_indices_go_on_counting() -> None:
    """Calls inside calls, and the messages that calls are of, are those of the whole conversation."""
    first = Trajectory(tool_calls=(call("a", message=0), call("b", parent=0, message=1)))
    second = Trajectory(tool_calls=(call("c", message=0), call("d", parent=0), call("e", message=0, turn=5)))
    made = told(Reply(trajectory=first), Reply(trajectory=second), Reply(tool_calls=(call("f", message=2),)))
    assert [(one.name, one.turn, one.parent, one.message) for one in made.tool_calls or ()] == [
        ("a", 0, None, 0),
        ("b", 0, 0, 1),
        ("c", 1, None, 2),
        ("d", 1, 2, None),
        ("e", 1, None, 2),
        ("f", 2, None, 5),
    ]


def test_everything_else_that_was_told_is_kept() -> None:
    """Gaps, tools, metadata, context and warnings of all turns; later metadata comes before earlier."""
    first = Trajectory(tool_calls=(), gaps=("cut",), metadata={"a": 1, "b": 1}, warnings=("w",), output="inner")
    made = told(
        Reply(trajectory=first, warnings=("v",)),
        Reply(tool_calls=(), metadata={"b": 2}, context=["doc"], warnings=("u",)),
    )
    assert made.gaps == ("cut",)
    assert made.metadata == {"a": 1, "b": 2, "context": ["doc"]}
    assert made.warnings == ("turn 1: w", "turn 1: v", "turn 2: u")
    assert told(Reply(trajectory=first)).output == "inner"


def test_messages_of_a_trace_stand_as_they_are() -> None:
    """The user's message is added where the trace does not have it."""
    answer = [{"role": "assistant", "content": "x"}]
    whole = [{"role": "user", "content": "mine"}, *answer]
    assert told(Reply(trajectory=Trajectory(messages=answer))).messages == [{"role": "user", "content": "1"}, *answer]
    assert told(Reply(trajectory=Trajectory(messages=whole))).messages == whole


def test_trajectory_of_a_reply_can_tell_of_a_failure_or_trouble() -> None:
    """They are not lost, and the conversation ends at the failure (G38)."""
    made, turns = held(["one", "two"], Reply(trajectory=Trajectory(failure="inner", tool_calls=())))
    assert (made.trajectory.failure, len(turns)) == ("inner", 1)
    assert told(Reply(trajectory=Trajectory(trouble="half"))).trouble == "half"


def test_nothing_said_is_no_conversation() -> None:
    """Without a turn there is an empty trajectory, of which nothing is recorded."""
    made, turns = held([])
    assert (made.trajectory, turns) == (Trajectory(), [])


CALLS = st.lists(
    st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 3), st.none() | st.integers(0, 3)), max_size=4
).map(
    lambda made: tuple(
        call(n, parent=p if p is None or p < at else None, message=m) for at, (n, p, m) in enumerate(made)
    )
)
TURNS = st.lists(st.sampled_from([None, UNSET]) | CALLS, min_size=1, max_size=4)


@given(TURNS)
def test_joining_loses_no_call_and_makes_none_up(turns: list[Any]) -> None:
    """Calls stay in their order and turn, inside the call that they were made in, and parallel to the same ones."""
    made = told(*(Reply(tool_calls=calls) for calls in turns))
    known = [(number, calls) for number, calls in enumerate(turns) if isinstance(calls, tuple)]
    assert (made.tool_calls is None) == (not known)
    assert bool(made.gaps) == (0 < len(known) < len(turns))
    joined_calls = made.tool_calls or ()
    assert [(one.name, one.turn) for one in joined_calls] == [(one.name, n) for n, calls in known for one in calls]
    first = 0
    for _, calls in known:
        part = joined_calls[first : first + len(calls)]
        assert [None if one.parent is None else one.parent - first for one in part] == [one.parent for one in calls]
        others = {one.message for one in joined_calls if one.message is not None and one not in part}
        assert not others & {one.message for one in part}
        assert [part[0].message == one.message for one in part] == [calls[0].message == one.message for one in calls]
        first += len(calls)


def test_turn_in_which_nothing_was_captured_has_no_calls_where_others_have() -> None:
    """Capture that works in one turn works in all; where it caught nothing in any, nothing is known (G3)."""
    nothing = Reply(trajectory=Trajectory(warnings=("nothing was traced",)), is_watched=True)
    caught = Reply(trajectory=Trajectory(tool_calls=(call("a"),)), is_watched=True)
    made = told(nothing, caught, nothing)
    assert ([(one.name, one.turn) for one in made.tool_calls or ()], made.gaps, made.warnings) == ([("a", 1)], (), ())
    unknown = told(nothing, nothing)
    assert (unknown.tool_calls, unknown.warnings) == (
        None,
        ("turn 1: nothing was traced", "turn 2: nothing was traced"),
    )
    beside = told(nothing, Reply(tool_calls=(call("a"),)))
    assert (beside.gaps, len(beside.tool_calls or ())) == (("the calls of turn 1 were not recorded",), 1)
