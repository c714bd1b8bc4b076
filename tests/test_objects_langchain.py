"""Objects of LangChain and LangGraph: messages, chunks, states, snapshots, and streams that were collected."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import pydantic
import pytest
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    ToolCall,
    ToolMessage,
    messages_to_dict,
)
from langchain_core.outputs import ChatGeneration, ChatResult, LLMResult
from langchain_core.prompt_values import ChatPromptValue
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt

import rightcall
from rightcall.errors import TraceError
from support.objects import asked, assert_reads_like, became

CALLS = [ToolCall(name="add", args={"to": 1}, id="c1"), ToolCall(name="add", args={"to": 2}, id="c2")]
ASKED = [("add", {"to": 1}), ("add", {"to": 2})]
QUESTION = HumanMessage("Add.", id="m0")


def history(artifact: Any = None) -> list[AnyMessage]:
    """A question, two calls at once, what became of them, and an answer."""
    good = ToolMessage("2", name="add", tool_call_id="c1", artifact=artifact)
    bad = ToolMessage("no", name="add", tool_call_id="c2", status="error")
    return [QUESTION, AIMessage("", tool_calls=CALLS, id="m1"), good, bad, AIMessage("Two.", id="m4")]


@pytest.mark.parametrize(
    "hold",
    [
        list,
        tuple,
        lambda messages: {"messages": messages, "remaining_steps": 3},
        lambda messages: ChatPromptValue(messages=messages),
        lambda messages: [messages[0].model_dump(), *messages[1:]],
        lambda messages: [("user", "Add."), *messages[1:]],
        lambda messages: [{"role": "user", "content": "Add."}, *messages[1:]],
    ],
    ids=["list", "tuple", "state", "prompt value", "dumped among objects", "a pair of texts", "a role"],
)
def test_messages_are_read_however_they_are_held(hold: Any) -> None:
    """Each way to hold the same messages tells the same calls and what became of them (G9, G13)."""
    held = hold(history())
    assert asked(held) == ASKED
    assert became(held) == [("add", "ok"), ("add", "error")]


def test_mappings_of_another_api_among_messages_count_too() -> None:
    """A graph takes messages of OpenAI's form beside its own: the calls of both count (G9, G13)."""
    function = {"name": "add", "arguments": '{"to": 0}'}
    others = [
        {"role": "user", "content": "Add."},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c0", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "c0", "content": "1"},
    ]
    for value in ([*others, *history()], {"messages": [*others, *history()]}):
        assert asked(value) == [("add", {"to": 0}), *ASKED]
        assert became(value) == [("add", "ok"), ("add", "ok"), ("add", "error")]


def test_messages_read_like_each_of_their_dumps() -> None:
    """`model_dump`, `dumpd` and `messages_to_dict` of a list tell what the objects tell (G9)."""
    told = history()
    assert_reads_like(told, [one.model_dump(mode="json") for one in told], messages_to_dict(told))
    assert asked([dumpd(one) for one in told]) == ASKED


def test_an_answer_alone_and_what_wraps_it_tell_its_calls() -> None:
    """The message that a model returns, the generation, the results with it (G9)."""
    answer = AIMessage("", tool_calls=CALLS)
    one = ChatGeneration(message=answer)
    for value in (answer, [answer], one, ChatResult(generations=[one]), LLMResult(generations=[[one]])):
        assert asked(value) == ASKED


@pytest.mark.parametrize("generations", [[2], [1, 1], []], ids=str)
def test_several_answers_are_not_one_conversation(generations: list[int]) -> None:
    """Candidates, and answers to several prompts: which of them is meant, nobody knows."""
    one = ChatGeneration(message=AIMessage("", tool_calls=CALLS))
    with pytest.raises(TraceError, match=f"expected one answer of a model; found {sum(generations)}"):
        rightcall.read(LLMResult(generations=[[one] * count for count in generations]))


def test_copies_of_a_call_count_once_and_broken_ones_keep_their_text() -> None:
    """Integrations keep a copy of the provider's calls, and set broken ones aside; each is one call (G9, G11)."""
    broken = {"name": "divide", "args": '{"by": ', "id": "c2", "error": "not JSON"}
    copies = [
        {"id": "c2", "type": "function", "function": {"name": "divide", "arguments": '{"by": '}},
        {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"to": 1}'}},
    ]
    blocks: list[str | dict[str, Any]] = [{"type": "tool_use", "id": "c1", "name": "add", "input": {"to": 1}}]
    answer = AIMessage(
        blocks,
        tool_calls=CALLS[:1],
        invalid_tool_calls=[cast("Any", broken)],
        additional_kwargs={"tool_calls": copies},
    )
    assert asked(answer) == [("divide", "malformed"), ("add", {"to": 1})]
    assert_reads_like(answer, answer.model_dump_json())


def chunks(id: str | None = "run-1") -> list[AIMessageChunk]:
    """Two calls in pieces, as a model streams them: alone, each chunk shows arguments that nobody wrote."""
    pieces = [("add", '{"to"', "c1", 0), (None, ": 1}", None, 0), ("add", "", "c2", 1), (None, '{"to": 2}', None, 1)]
    made = [
        AIMessageChunk(content="", id=id, tool_call_chunks=[{"name": name, "args": args, "id": call, "index": index}])
        for name, args, call, index in pieces
    ]
    return [*made, AIMessageChunk(content="", id=id, chunk_position="last")]


@pytest.mark.parametrize("id", ["run-1", None])
def test_chunks_in_a_list_are_one_message(id: str | None) -> None:
    """The chunks, their sum, and chunks before results are the same two calls; pieces are no calls (G9)."""
    made = chunks(id)
    whole = made[0] + made[1] + made[2] + made[3] + made[4]
    for value in (made, whole, [QUESTION, *made], [QUESTION, whole, *history()[2:]]):
        assert asked(value) == ASKED
    assert_reads_like(made, [chunk.model_dump(mode="json") for chunk in made])


def test_chunks_of_two_messages_stay_two() -> None:
    """A result stands between them, or another id: the calls of both count (G9)."""
    both = [*chunks("run-1"), *history()[2:4], *chunks("run-2")]
    assert asked(both) == [*ASKED, *ASKED]
    assert asked([*chunks("run-1"), *chunks("run-2")]) == [*ASKED, *ASKED]


def test_a_stream_that_breaks_off_is_a_gap() -> None:
    """Chunks without the last one show broken arguments, and that more may be missing (G11)."""
    cut = chunks()[:1]
    assert asked(cut) == [("add", "malformed")]
    assert rightcall.read(cut).gaps == ("the stream ends in the middle of a message",)


class Declared(pydantic.BaseModel):
    """A state of a program whose fields say less than what is in them."""

    messages: list[BaseMessage]


@dataclasses.dataclass
class Fields:
    """A state of a program as a dataclass."""

    messages: list[Any]


@pytest.mark.parametrize("state", [Declared, Fields])
def test_a_state_of_the_program_shows_what_its_messages_are(state: Any) -> None:
    """A list declared to hold messages in general keeps the calls of those in it (G9)."""
    assert asked(state(messages=history())) == ASKED


def test_what_a_tool_keeps_for_the_program_is_in_the_way_of_nothing() -> None:
    """An artifact may be any object; the model never sees it."""
    assert became(history(artifact=object())) == [("add", "ok"), ("add", "error")]


def test_other_objects_in_a_state_are_refused_with_their_place() -> None:
    """A state may hold anything beside its messages; what is no JSON is named."""
    with pytest.raises(TraceError, match=r"index: expected a JSON value; found an object of type `object`"):
        rightcall.read({"messages": history(), "index": object()})


@tool
def add(to: int) -> str:
    """Add one."""
    if to == 2:
        raise ValueError("not two")
    return str(to + 1)


def answer(state: MessagesState) -> dict[str, Any]:
    """Two calls, then an answer."""
    said = len(state["messages"]) > 1
    return {"messages": [AIMessage("Two.") if said else AIMessage("", tool_calls=CALLS)]}


def graph() -> Any:
    """An agent of two nodes that keeps its states."""
    made = StateGraph(MessagesState)
    made.add_node("model", answer)
    made.add_node("tools", ToolNode([add], handle_tool_errors=True))
    made.add_edge(START, "model")
    made.add_conditional_edges("model", lambda state: "tools" if state["messages"][-1].tool_calls else END)
    made.add_edge("tools", "model")
    return made.compile(checkpointer=InMemorySaver())


RUN = {"configurable": {"thread_id": "t"}}
GIVEN = {"messages": [HumanMessage("Add.")]}


def test_the_result_of_a_graph_and_what_it_keeps_tell_the_calls() -> None:
    """The final state, the output of version 2, the snapshot, and the history of snapshots (G9, G13)."""
    agent = graph()
    for value in (agent.invoke(GIVEN, RUN), agent.get_state(RUN), list(agent.get_state_history(RUN))):
        assert asked(value) == ASKED
        assert became(value) == [("add", "ok"), ("add", "error")]
    assert asked(graph().invoke(GIVEN, RUN, version="v2")) == ASKED


@pytest.mark.parametrize(
    "settings",
    [
        {"stream_mode": "updates"},
        {"stream_mode": "values"},
        {"stream_mode": "messages"},
        {"stream_mode": "checkpoints"},
        {"stream_mode": ["updates", "messages"]},
        {"stream_mode": ["updates"], "subgraphs": True},
        {"stream_mode": ["updates"], "version": "v2"},
        {"stream_mode": ["messages", "values"], "version": "v2"},
    ],
    ids=str,
)
def test_what_a_graph_streams_tells_the_calls_once(settings: dict[str, Any]) -> None:
    """Each kind of stream, collected, is the same two calls (G9)."""
    streamed = list(graph().stream(GIVEN, RUN, **settings))
    assert asked(streamed) == ASKED
    assert became(streamed) == [("add", "ok"), ("add", "error")]


def test_a_graph_that_waits_for_the_user_is_read_so_far() -> None:
    """The interrupt at the end of the updates says nothing of calls and is in the way of nothing (G9)."""

    def wait(state: MessagesState) -> dict[str, Any]:
        interrupt({"approve": True})
        return {}

    made = StateGraph(MessagesState)
    made.add_node("model", answer)
    made.add_node("wait", wait)
    made.add_edge(START, "model")
    made.add_edge("model", "wait")
    agent = made.compile(checkpointer=InMemorySaver())
    streamed = list(agent.stream(GIVEN, RUN, stream_mode="updates"))  # type: ignore[call-overload]  # plain mappings
    assert list(streamed[-1]) == ["__interrupt__"]
    assert became(streamed) == [("add", "requested"), ("add", "requested")] == became(agent.get_state(RUN))  # type: ignore[arg-type]  # the same


@pytest.mark.parametrize("mode", ["tasks", "debug"])
def test_nodes_of_a_graph_are_no_calls(mode: str) -> None:
    """What a graph tells of its own work has names and inputs too, and is refused (G9)."""
    with pytest.raises(TraceError, match="the format is not known"):
        rightcall.read(list(graph().stream(GIVEN, RUN, stream_mode=mode)))


def test_a_history_in_which_nothing_was_said_is_no_conversation_without_calls() -> None:
    """States before the first message hold nothing."""
    agent = graph()
    agent.invoke(GIVEN, RUN)
    first = list(agent.get_state_history(RUN))[-1:]
    with pytest.raises(TraceError, match="`list` of `StateSnapshot` holds nothing that a model said"):
        rightcall.read(first)


def test_a_stream_of_a_graph_that_was_not_collected_is_refused() -> None:
    """The generators say what they are, and how to collect them."""
    with pytest.raises(TraceError, match=r"`generator`.*give `list\(…\)`"):
        rightcall.read(graph().stream(GIVEN, RUN))
    with pytest.raises(TraceError, match=r"`async_generator`.*give `\[part async for part in …\]`"):
        rightcall.read(graph().astream(GIVEN, RUN))
