"""LangChain and LangGraph: which calls messages, states and streams hold, and what is missing."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from support import reading
from support.reading import told

HUMAN = {"type": "human", "content": "hello", "id": "h"}


def call(name: str, args: Any = None, id: str = "t") -> dict[str, Any]:
    return {"name": name, "args": {} if args is None else args, "id": id, "type": "tool_call"}


def invalid(name: str, args: str, id: str = "t") -> dict[str, Any]:
    return {"name": name, "args": args, "id": id, "error": "no JSON", "type": "invalid_tool_call"}


def ai(*calls: Any, **more: Any) -> dict[str, Any]:
    return {"type": "ai", "content": "", "tool_calls": list(calls), "invalid_tool_calls": [], **more}


def tool(call_id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool", "content": content, "tool_call_id": call_id, **more}


def dumped(message: dict[str, Any], name: str) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": message}


items = partial(reading.items, "langchain")
one = partial(reading.one, "langchain")


ASKED = ai(call("a", {"x": 1}))
ANSWERED = tool("t", '{"id": 7}', status="success")
EXPECTED = [("a", {"x": 1}, "ok", {"id": 7})]


@pytest.mark.parametrize(
    "document",
    [
        [HUMAN, ASKED, ANSWERED],
        [{"type": one["type"], "data": one} for one in (HUMAN, ASKED, ANSWERED)],
        [dumped(HUMAN, "HumanMessage"), dumped(ASKED, "AIMessage"), dumped(ANSWERED, "ToolMessage")],
        {"messages": [HUMAN, ASKED, ANSWERED]},
        {"messages": [["user", "hello"], ASKED, {"role": "tool", "tool_call_id": "t", "content": '{"id": 7}'}]},
        {"messages": [{"role": "user", "content": "hello"}, ASKED, ANSWERED], "structured_response": None},
    ],
)
def test_every_dumped_form_reads_the_same(document: Any) -> None:
    """By detection too."""
    assert told(one(document)) == EXPECTED
    assert traces.detect(json.dumps(document).encode()) == "langchain"


def test_calls_that_could_not_be_parsed_keep_their_place_and_text() -> None:
    """The provider's copy tells the order; it adds no calls."""
    copies = [
        {"id": "1", "type": "function", "function": {"name": "a", "arguments": '{"x": '}},
        {"id": "2", "type": "function", "function": {"name": "b", "arguments": "{}"}},
    ]
    message = ai(call("b", id="2"), invalid_tool_calls=[invalid("a", '{"x": ', "1")])
    read = one([HUMAN, {**message, "additional_kwargs": {"tool_calls": copies}}])
    assert [(one.name, one.arguments_state, one.arguments_text) for one in read.tool_calls or ()] == [
        ("a", "malformed", '{"x": '),
        ("b", "ok", None),
    ]


@pytest.mark.parametrize(
    "more",
    [
        {"additional_kwargs": {"tool_calls": [{"id": "1", "function": {"name": "a", "arguments": '{"x": 1}'}}]}},
        {"content": [{"type": "text", "text": "hm"}, {"type": "tool_use", "id": "1", "name": "a", "input": {"x": 1}}]},
    ],
)
def test_copies_count_only_where_there_is_nothing_else(more: dict[str, Any]) -> None:
    """Older messages have the calls of the provider only."""
    assert told(one([HUMAN, ai(**more)])) == [("a", {"x": 1}, "requested", None)]
    assert told(one([HUMAN, ai(call("a", {"x": 1}, "1"), **more)])) == [("a", {"x": 1}, "requested", None)]


def test_failures_agents_and_missing_arguments() -> None:
    """A tool message says whether the call failed; a message says who asked."""
    read = one([HUMAN, ai(call("a"), {"name": "b", "id": "u"}, name="boss"), tool("t", "no", status="error")])
    assert [(one.status, one.error, one.arguments_state, one.agent) for one in read.tool_calls or ()] == [
        ("error", "no", "ok", "boss"),
        ("requested", None, "not_captured", "boss"),
    ]


def piece(index: int, args: str, name: str | None = None, id: str | None = None) -> dict[str, Any]:
    return {"name": name, "args": args, "id": id, "index": index, "type": "tool_call_chunk"}


def chunk(*pieces: Any, message: str = "m", **more: Any) -> list[Any]:
    bogus = [call(one["name"] or "", {}, "") for one in pieces]
    told = {"content": "", "id": message, "tool_calls": bogus, "tool_call_chunks": list(pieces), **more}
    return [dumped(told, "AIMessageChunk"), {"langgraph_node": "model"}]


END = {"response_metadata": {"finish_reason": "tool_calls"}}


def test_chunks_add_up_by_message_and_index() -> None:
    """What a single chunk calls its calls is bogus; parallel messages do not mix."""
    read = one(
        chunk(piece(0, "", "a", "1"), message="m"),
        chunk(piece(0, "", "c", "3"), message="n"),
        chunk(piece(1, "", "b", "2"), message="m"),
        chunk(piece(0, '{"x"'), message="m"),
        chunk(piece(0, "{}"), message="n", **END),
        chunk(piece(1, "{}"), piece(0, ": 1}"), message="m", **END),
        [dumped(tool("1", "A"), "ToolMessage"), {"langgraph_node": "tools"}],
    )
    assert told(read) == [("a", {"x": 1}, "ok", "A"), ("b", {}, "requested", None), ("c", {}, "requested", None)]
    assert read.gaps == ()


def test_a_stream_that_ends_in_a_message_has_a_gap() -> None:
    """Its last call keeps the broken text."""
    read = one(chunk(piece(0, '{"x": ', "a", "1")))
    assert [(one.arguments_state, one.arguments_text) for one in read.tool_calls or ()] == [("malformed", '{"x": ')]
    assert read.gaps == ("the stream ends in the middle of a message",)


def test_updates_of_nodes_are_one_conversation() -> None:
    """Parallel nodes, silent nodes, namespaces and modes; a message that comes again replaces the first."""
    asked = ai(call("a", {"x": 1}, "1"), call("b", id="2"), id="m")
    read = one(
        {"prepare": None},
        {"model": {"messages": [asked]}},
        {"count": {"total": 1}},
        {"tools": {"messages": [tool("2", "B", id="r2")]}, "log": None},
        [["sub:1"], {"tools": [{"messages": [tool("1", "A", id="r1")]}]}],
        ["updates", {"model": {"messages": [asked, tool("1", "A", id="r1")]}}],
    )
    assert told(read) == [("a", {"x": 1}, "ok", "A"), ("b", {}, "ok", "B")]


def test_states_of_one_run_repeat_and_of_several_do_not() -> None:
    """States whose messages have ids tell that they are of one run; without ids each line is a conversation."""
    asked, other = ai(call("a"), id="m"), {**HUMAN, "id": "h2"}
    states = [{"messages": [HUMAN]}, {"messages": [HUMAN, asked]}, {"messages": [other, ai(call("b"), id="n")]}]
    read = [item for item in items(*states) if isinstance(item, Trajectory)]
    assert [[call.name for call in item.tool_calls or ()] for item in read] == [["a"], ["b"]]
    bare = {"messages": [{"type": "human", "content": "hi"}, ai(call("a"))]}
    assert len(items(bare, bare)) == 2


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ([HUMAN, {"type": "wizard", "content": ""}], "f:1: [1]: expected a LangChain message; found type 'wizard'"),
        ([HUMAN, 5], "f:1: [1]: expected a LangChain message; found a number"),
        ([HUMAN, {**ASKED, "tool_calls": {}}], "f:1: [1].tool_calls: expected an array of calls; found an object"),
        ({"x": 1}, "f:1: expected LangChain messages, or a state or stream of LangGraph; found an object"),
        ({"messages": []}, "f:1: expected LangChain messages"),
        ({"node": None}, "f:1: expected LangChain messages"),
    ],
)
def test_what_is_not_of_the_format_says_where(document: Any, place: str) -> None:
    """An error with file, line and JSON path."""
    errors = [str(item) for item in items(document) if isinstance(item, TraceError)]
    assert [error.startswith(place) for error in errors] == [True], errors


@pytest.mark.parametrize("type", ["system", "user", "human"])
def test_lines_of_other_logs_are_not_taken_for_messages(type: str) -> None:
    """Session logs of coding agents have a `type` and a `content` too."""
    line = {"type": type, "content": "hello", "uuid": "u", "sessionId": "s", "timestamp": "t"}
    (item,) = items(line)
    assert isinstance(item, TraceError)


def removal(of: str) -> dict[str, Any]:
    return {"type": "remove", "content": "", "id": of}


OTHER = "[1] has the id of an earlier message and other calls: which of them were made is not recorded"


@pytest.mark.parametrize(
    ("messages", "calls", "gaps"),
    [
        ([{**ASKED, "id": "m"}, ANSWERED, removal("m")], 1, ()),
        ([ASKED, ANSWERED, removal("__remove_all__"), ai(id="n")], 1, ()),
        ([removal("m"), {**ASKED, "id": "n"}], 1, ("[0] removes messages that are not recorded",)),
        ([removal("__remove_all__"), {**ASKED, "id": "n"}], 1, ("[0] removes messages that are not recorded",)),
        ([{**ASKED, "id": "m"}, ai(call("a", {"x": 2}, id="u"), id="m")], 2, (OTHER,)),
        ([{**ASKED, "id": "m"}, ai(id="m")], 1, (OTHER,)),
        ([{**HUMAN, "id": "m"}, {**HUMAN, "id": "m"}, ASKED], 1, ()),
    ],
)
def test_a_list_that_writes_over_a_conversation(messages: Any, calls: int, gaps: Any) -> None:
    """What was asked for and removed was asked for; what is not there, or may have been replaced, is a gap (G12)."""
    read = one(messages)
    assert (len(read.tool_calls or ()), read.gaps) == (calls, gaps)
