"""Which calls of a block are one conversation: programs without a span around them, agents, sessions."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.context import Context

import rightcall
from rightcall.errors import TraceError
from support.tracing import ask, asking, called, fresh, lookup_order, names, span, user

pytestmark = pytest.mark.usefixtures(fresh.__name__)

LOOKUP = ("lookup_order", {"order_id": 1}, "c1")
REFUND = ("issue_refund", {"order_id": 1})
BOTH = ("lookup_order", "issue_refund")


def system(text: str) -> dict[str, Any]:
    """The instructions of an agent."""
    return {"role": "system", "parts": [{"type": "text", "content": text}]}


def test_a_loop_without_a_span_around_it_is_one_conversation() -> None:
    """Each model call and each tool is a trace of its own; the history tells that they go on."""
    with rightcall.capture() as trajectory:
        ask(LOOKUP, given=[user("Refund order 1")], tools=BOTH)
        lookup_order(1)
        ask(REFUND, given=[user("Refund order 1"), called(*LOOKUP)], tools=BOTH)
        ask(given=[user("Refund order 1"), called(*LOOKUP), called(*REFUND)], tools=BOTH)
    assert names(trajectory) == ["lookup_order", "issue_refund"]
    assert [call.status for call in trajectory.tool_calls] == ["ok", "requested"]
    assert len(trajectory.trace_ids) == 4


def test_two_turns_are_one_conversation() -> None:
    """The second question comes with what was said before."""
    with rightcall.capture() as trajectory:
        ask(LOOKUP, given=[user("Where is order 1?")], tools=BOTH)
        ask(REFUND, given=[user("Where is order 1?"), called(*LOOKUP), user("Refund it")], tools=BOTH)
    assert [(call.name, call.turn) for call in trajectory.tool_calls] == [("lookup_order", 0), ("issue_refund", 1)]


def test_steps_of_a_program_are_one_conversation() -> None:
    """A model that plans and one that acts have other instructions or other tools."""
    with rightcall.capture() as trajectory:
        ask(given=[system("Rewrite the question"), user("order 1?")])
        ask(LOOKUP, given=[system("Look things up"), user("Where is order 1?")], tools=BOTH)
        ask(REFUND, given=[system("Refund"), user("Order 1 was shipped")], tools=BOTH)
    assert names(trajectory) == ["lookup_order", "issue_refund"]


def test_a_model_that_is_begun_again_is_another_conversation() -> None:
    """Nothing is put together that does not belong together, and nothing is lost."""
    with rightcall.capture() as captured:
        for calls in (LOOKUP,), (REFUND,):
            ask(*calls, given=[system("Be kind"), user(f"Call {calls[0][0]}")], tools=BOTH)
    with pytest.raises(TraceError, match=r"the block holds 2 conversations .* `\.trajectories`") as raised:
        rightcall.check(captured, required_tools=["lookup_order"])
    assert "capture(conversation_id=…)" in str(raised.value)
    with pytest.raises(TraceError, match="2 conversations"):
        captured.tool_calls  # noqa: B018 - the access is what raises
    assert [names(one) for one in captured.trajectories] == [["lookup_order"], ["issue_refund"]]


def test_conversations_that_go_on_in_turn_are_told_apart() -> None:
    """Each model call continues the conversation whose words it was given."""
    with rightcall.capture() as captured:
        ask(LOOKUP, given=[user("one")], tools=BOTH)
        ask(REFUND, given=[user("two")], tools=BOTH)
        ask(REFUND, given=[user("one"), called(*LOOKUP)], tools=BOTH)
        ask(LOOKUP, given=[user("two"), called(*REFUND)], tools=BOTH)
    shown = [names(one) for one in captured.trajectories]
    assert shown == [["lookup_order", "issue_refund"], ["issue_refund", "lookup_order"]]


def test_a_tool_that_may_be_of_either_conversation_is_a_gap_of_both() -> None:
    """It is not given to one of them by guessing (G12)."""
    with rightcall.capture() as captured:
        ask(LOOKUP, given=[user("one")], tools=BOTH)
        ask(LOOKUP, given=[user("two")], tools=BOTH)
        lookup_order(1)
    gap = "spans that cannot be given to one of 2 conversations: `execute_tool lookup_order`"
    assert [one.gaps for one in captured.trajectories] == [(gap,), (gap,)]


@pytest.mark.parametrize("around", ["one span", "a name"])
def test_what_is_one_conversation_can_be_said(around: str) -> None:
    """By a span around it, as frameworks write it, or by naming it."""
    identity = "c-1" if around == "a name" else None
    around_all = span("invoke_agent") if around == "one span" else contextlib.nullcontext()
    with rightcall.capture(conversation_id=identity) as trajectory, around_all:
        for question in ("one", "two"):
            ask(LOOKUP, given=[user(question)], tools=BOTH)
    assert names(trajectory) == ["lookup_order", "lookup_order"]
    assert trajectory.conversation_id == identity


def test_a_name_of_the_block_goes_before_the_sessions_of_spans() -> None:
    """Who names the conversation knows what it is."""
    with rightcall.capture(conversation_id="mine") as trajectory:
        for session in ("one", "two"):
            with span("run", {"session.id": session}):
                lookup_order(1)
    assert (trajectory.id, names(trajectory)) == ("mine", ["lookup_order", "lookup_order"])


def test_two_sessions_are_two_conversations() -> None:
    """Spans say which conversation they are of."""
    with rightcall.capture() as captured:
        for session in ("one", "two"):
            with span("run", {"gen_ai.conversation.id": session}):
                lookup_order(1)
    with pytest.raises(TraceError, match=r"2 conversations \(`one`, `two`\)"):
        rightcall.grade(captured, {"required_tools": ["lookup_order"]})


def test_one_session_holds_what_has_none() -> None:
    """Tools outside of the span that names it are of the only conversation there is."""
    with rightcall.capture() as trajectory:
        with span("run", {"session.id": "one"}):
            lookup_order(1)
        lookup_order(2)
    assert (trajectory.conversation_id, len(trajectory.tool_calls)) == ("one", 2)


def test_spans_of_two_agents_below_a_span_around_the_block_stay_apart() -> None:
    """That they share a trace, because the test has a span of its own, says nothing of the agents."""
    with span("test"), rightcall.capture() as captured:
        for question in ("one", "two"):
            with span("invoke_agent", {"gen_ai.operation.name": "invoke_agent"}):
                ask(LOOKUP, given=[user(question)], tools=BOTH)
    assert [names(one) for one in captured.trajectories] == [["lookup_order"], ["lookup_order"]]


def test_a_model_call_that_failed_is_no_beginning() -> None:
    """A program that tries again after an error holds one conversation."""
    with rightcall.capture() as trajectory:
        with (
            pytest.raises(TimeoutError),
            span("chat", {"gen_ai.operation.name": "chat", "gen_ai.input.messages": "[]"}),
        ):
            raise TimeoutError
        ask(LOOKUP, given=[user("one")], tools=BOTH)
    assert names(trajectory) == ["lookup_order"]


def test_calls_made_before_the_block_are_none_of_it() -> None:
    """The second turn is graded for itself, though its model was given the first."""
    with rightcall.capture() as trajectory:
        ask(REFUND, given=[user("Where?"), called(*LOOKUP), user("Refund it")], tools=BOTH)
    assert names(trajectory) == ["issue_refund"]
    assert "calls made before the block, which are left out: 1" in trajectory.warnings
    rightcall.check(trajectory, expected_tool_calls=["issue_refund"], match="exact")


def test_without_content_the_block_is_one_conversation() -> None:
    """Where nothing shows what a model was given, nothing shows that it was begun again."""
    with rightcall.capture() as trajectory:
        ask(LOOKUP, tools=BOTH)
        ask(REFUND, tools=BOTH)
    assert names(trajectory) == ["lookup_order", "issue_refund"]


def test_two_instrumentations_of_one_agent_are_one_conversation() -> None:
    """Neither knows the spans of the other, so each writes a tree of its own at the same time."""
    with rightcall.capture() as trajectory, span("test"):
        first, second = (trace.get_tracer(name) for name in ("first", "second"))
        attributes = asking(LOOKUP, given=[user("one")], tools=BOTH)
        spans = [tracer.start_span("chat", Context(), attributes=attributes) for tracer in (first, second)]
        for one in spans:
            one.end()
    assert names(trajectory) == ["lookup_order"]


def test_a_conversation_that_the_provider_keeps_goes_on() -> None:
    """The model is given the new question alone, and the id of the answer before."""
    with rightcall.capture() as trajectory:
        for before in ({}, {"previous_response_id": "r1"}):
            parameters = {"llm.invocation_parameters": json.dumps(before)}
            with span("chat", {**asking(LOOKUP, given=[user("one")], tools=BOTH), **parameters}):
                pass
    assert names(trajectory) == ["lookup_order", "lookup_order"]


def test_an_agent_that_is_run_twice_is_two_conversations_whatever_it_does() -> None:
    """However many steps each run takes, and though its instructions stand beside the messages."""
    with rightcall.capture() as captured:
        for calls in ([LOOKUP, REFUND], [LOOKUP]):
            with span("invoke_agent"):
                for call in calls:
                    known = asking(call, given=[user("one")], tools=BOTH)
                    with span("chat", {**known, "gen_ai.system_instructions": "Be kind"}):
                        pass
    assert [names(one) for one in captured.trajectories] == [["lookup_order", "issue_refund"], ["lookup_order"]]
