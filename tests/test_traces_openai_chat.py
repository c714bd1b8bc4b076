"""OpenAI chat: which calls a conversation holds, whose result is whose, and what is missing."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from rightcall import traces
from rightcall.core.calls import ToolCall, ToolSpec, Trajectory
from rightcall.errors import TraceError
from support import reading
from support.reading import told


def function(name: str, arguments: Any = "{}", id: str | None = None) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments}, **({"id": id} if id else {})}


def asks(*calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def answers(id: str | None, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "content": content, **({"tool_call_id": id} if id else {}), **more}


USER = {"role": "user", "content": "hello"}
DONE = {"role": "assistant", "content": "Done."}


items = partial(reading.items, "openai-chat")
one = partial(reading.one, "openai-chat")


def test_a_conversation_without_calls_is_recorded_and_empty() -> None:
    """Messages without a call are a trajectory of no calls, not an unknown one (G3)."""
    read = one([USER, DONE])
    assert (read.tool_calls, read.output) == ((), "Done.")


def test_turns_and_messages_are_counted() -> None:
    """Calls of one message share it; user messages in a row are one turn."""
    read = one([USER, asks(function("a"), function("b")), USER, USER, asks(function("c")), asks(function("d"))])
    assert [(call.turn, call.message) for call in read.tool_calls or ()] == [(0, 0), (0, 0), (1, 1), (1, 2)]


@pytest.mark.parametrize(
    ("messages", "results"),
    [
        ([asks(function("a", id="1"), function("b", id="2")), answers("2", "B"), answers("1", "A")], ["A", "B"]),
        ([asks(function("a", id="1")), answers("1", "x"), asks(function("b", id="1")), answers("1", "y")], ["x", "y"]),
        ([asks(function("a", id="1")), asks(function("b", id="1")), answers("1", "y")], [None, "y"]),
        ([asks(function("a", id="1"), function("a", id="1")), answers("1", "x"), answers("1", "y")], ["x", "y"]),
        ([asks(function("a"), function("b")), answers(None, "B", name="b"), answers(None, "A", name="a")], ["A", "B"]),
        ([asks(function("a"), function("b")), answers("x", "A"), answers("y", "B")], ["A", "B"]),
        ([asks(function("a", id="1"), function("b")), answers("other", "B")], [None, "B"]),
        ([asks(function("a"), function("b")), answers(None, "B", tool_name="b")], [None, "B"]),
        (
            [
                {"role": "assistant", "function_call": {"name": "a", "arguments": "{}"}},
                {"role": "function", "name": "a", "content": "A"},
            ],
            ["A"],
        ),
    ],
)
def test_a_result_goes_to_the_call_that_it_answers(messages: list[Any], results: list[Any]) -> None:
    """By id where it can be told, else by name, else in order; ids may repeat."""
    read = one([USER, *messages])
    assert [call.result for call in read.tool_calls or ()] == results
    assert [call.status for call in read.tool_calls or ()] == ["requested" if r is None else "ok" for r in results]
    assert read.warnings == ()


def test_a_result_without_a_call_is_a_gap() -> None:
    """Nothing is made up from it."""
    read = one([USER, asks(function("a", id="1")), answers("2", "?")])
    assert told(read) == [("a", {}, "requested", None)]
    assert read.gaps == ("[2] answers no call that is recorded",)


def test_stubs_on_result_messages_are_no_calls() -> None:
    """Calls come from messages of the model only (B087)."""
    messages = [
        asks({"id": "1", "name": "power", "arguments": {}}, {"id": "2", "name": "times", "arguments": {}}),
        answers("1", "8", tool_calls=[{"name": None}]),
        answers("2", "16", tool_calls=[{"name": None}]),
    ]
    read = one(messages)
    assert [(call.name, call.result) for call in read.tool_calls or ()] == [("power", "8"), ("times", "16")]
    assert len(read.warnings) == 2


def test_a_result_that_writes_an_object_is_decoded() -> None:
    """Objects and arrays become data, any other text stays text; failures are told by the protocol's flag."""
    read = one(
        [
            asks(*(function("a", id=str(number)) for number in range(4))),
            answers("0", '{"id": 7}'),
            answers("1", "5"),
            answers("2", [{"type": "text", "text": "hi"}]),
            answers("3", "boom", is_error=True),
        ]
    )
    assert [(call.status, call.result) for call in read.tool_calls or ()] == [
        ("ok", {"id": 7}),
        ("ok", "5"),
        ("ok", "hi"),
        ("error", "boom"),
    ]


def test_custom_and_odd_calls_are_read() -> None:
    """Custom tools take text; servers leave out ids and types, or give arguments as objects."""
    read = one(
        [
            asks(
                {"id": "1", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}},
                {"function": {"name": "a", "arguments": {"x": 1}}},
                {"index": 0, "function": {"name": "b"}},
                {"type": "function", "function": {"name": "c", "arguments": '{"x": '}},
            )
        ]
    )
    assert [(call.name, call.arguments, call.arguments_state, call.kind) for call in read.tool_calls or ()] == [
        ("sql", {"input": "SELECT 1"}, "ok", "custom"),
        ("a", {"x": 1}, "ok", "client"),
        ("b", {}, "ok", "client"),
        ("c", None, "malformed", "client"),
    ]


def test_a_call_without_a_name_is_counted() -> None:
    """On a message of the model it is a malformed call, with a warning that names its place (B081)."""
    block = {"role": "assistant", "content": [{"type": "tool_call", "name": None, "arguments": None}]}
    read = one([block])
    assert told(read) == [("", {}, "requested", None)]
    assert read.warnings[0].startswith("[0].content[0] has no string for its name")


TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "a", "description": "A.", "parameters": {"type": "object"}},
}
SPEC = ToolSpec(name="a", description="A.", parameters={"type": "object"})


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [USER], "tools": [TOOL], "choices": [{"index": 0, "message": asks(function("a"))}]},
        {"messages": [USER, asks(function("a"))], "tools": [{"type": "function", **TOOL["function"]}]},
        {"messages": [USER, asks(function("a"))], "functions": [TOOL["function"]]},
    ],
)
def test_bodies_hold_messages_and_tools(body: dict[str, Any]) -> None:
    """A request, a request with its response, and the legacy form."""
    read = one({"id": "c1", "metadata": {"test_id": "t1"}, **body})
    assert told(read) == [("a", {}, "requested", None)]
    assert (read.id, read.test_id, read.available_tools) == ("c1", "t1", (SPEC,))


def test_of_several_choices_the_first_counts() -> None:
    """The candidate of index 0 is read, wherever it stands, and the others are told."""
    choices = [{"index": 1, "message": asks(function("b"))}, {"index": 0, "message": asks(function("a"))}]
    read = one({"choices": choices})
    assert [call.name for call in read.tool_calls or ()] == ["a"]
    assert read.warnings == ("2 choices; only the one of index 0 is read",)


def test_a_finish_reason_of_calls_without_calls_is_a_gap() -> None:
    """The verdict must not be built on what is missing (G12)."""
    read = one({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant"}}]})
    assert read.gaps == ("the finish reason is `tool_calls`, but the message has no calls",)


def test_each_line_is_a_conversation() -> None:
    """Fine-tuning files: a bad line is one error and no gap elsewhere (G12)."""
    text = json.dumps({"messages": [USER, asks(function("a"))]}) + "\n{broken\n" + json.dumps([USER, DONE]) + "\n"
    first, bad, last = traces.read([text.encode()], format="openai-chat", file="f")
    assert isinstance(first, Trajectory)
    assert isinstance(bad, TraceError)
    assert isinstance(last, Trajectory)
    assert (len(first.tool_calls or ()), bad.where.line, last.tool_calls, last.gaps) == (1, 2, (), ())


def test_lines_of_single_messages_are_one_conversation() -> None:
    """A rejected message line is a gap of that conversation (G12)."""
    text = "\n".join([json.dumps(USER), json.dumps(asks(function("a"))), "{broken", json.dumps(DONE)])
    (read,) = traces.read([text.encode()], format="openai-chat")
    assert isinstance(read, Trajectory)
    assert [call.name for call in read.tool_calls or ()] == ["a"]
    assert [gap.partition(":")[0] for gap in read.gaps] == ["line 3 was rejected"]


def test_expectations_beside_messages_are_kept() -> None:
    """Settings of a request are not taken for expectations."""
    read = one({"messages": [USER], "expected_tool_calls": [], "tags": ["x"], "name": "n", "x-owner": "me"})
    assert read.expectations == {"expected_tool_calls": [], "x-owner": "me"}


def chunk(delta: dict[str, Any], finish: str | None = None, id: str = "s1", index: int = 0) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"id": id, "object": "chat.completion.chunk", "choices": [choice]}


def fragment(index: int, name: str | None = None, arguments: str | None = None, id: str | None = None) -> Any:
    inner = {key: value for key, value in {"name": name, "arguments": arguments}.items() if value is not None}
    return {"tool_calls": [{"index": index, "function": inner, **({"id": id} if id else {})}]}


def test_chunks_add_up_to_calls() -> None:
    """Fragments go by index, interleaved or not; a name is never doubled, another candidate never mixed in."""
    read = one(
        chunk({"role": "assistant", "content": ""}),
        chunk(fragment(0, "get_weather", "", id="c0")),
        chunk(fragment(1, "get_time", "", id="c1")),
        chunk(fragment(0, "get_weather", '{"city"', id="c0")),
        chunk(fragment(1, "", "{}")),
        chunk(fragment(0, "", ': "Paris"}')),
        chunk(fragment(0, "other", "{}", id="c9"), index=1),
        chunk({}, "tool_calls"),
    )
    assert told(read) == [("get_weather", {"city": "Paris"}, "requested", None), ("get_time", {}, "requested", None)]
    assert read.gaps == ()


def test_servers_that_number_every_call_zero_make_no_mixture() -> None:
    """A new id with a name begins another call."""
    read = one(chunk(fragment(0, "a", "{}", id="1")), chunk(fragment(0, "b", "{}", id="2")), chunk({}, "tool_calls"))
    assert [call.name for call in read.tool_calls or ()] == ["a", "b"]


def test_a_stream_that_breaks_off_has_a_gap() -> None:
    """Its last call keeps the broken text."""
    read = one(chunk(fragment(0, "a", '{"x": ', id="1")))
    assert [(call.name, call.arguments_state) for call in read.tool_calls or ()] == [("a", "malformed")]
    assert read.gaps == ("the stream ends without a finish reason",)


@pytest.mark.parametrize(
    ("text", "end", "state"), [("", None, "not_captured"), ("", "tool_calls", "ok"), ("{}", None, "ok")]
)
def test_arguments_that_were_to_come_are_not_none(text: str, end: str | None, state: str) -> None:
    """Where a stream breaks off before any text of its last call, nobody knows its arguments (G10)."""
    first, last = fragment(0, "a", "", id="1"), fragment(1, "b", text, id="2")
    read = one(chunk(first), chunk(last), *([chunk({}, end)] if end else []))
    assert [call.arguments_state for call in read.tool_calls or ()] == ["ok", state]


@pytest.mark.parametrize(
    "delta",
    [
        fragment(0, "a", ""),
        {"function_call": {"name": "a", "arguments": ""}},
        {"tool_calls": [{"index": 0, "type": "custom", "custom": {"name": "a", "input": ""}}]},
    ],
)
@pytest.mark.parametrize(("end", "state"), [(None, "not_captured"), ("tool_calls", "ok")])
def test_arguments_that_were_to_come_are_not_none_in_a_log(delta: Any, end: str | None, state: str) -> None:
    """A stream that breaks off is told the same alone and as the response to a request (G10)."""
    chunks = [chunk(delta), *([chunk({}, end)] if end else [])]
    logged = {"url": "https://x/v1/chat/completions", "request": {"messages": [USER]}, "response": chunks}
    for read in (one(*chunks), one([logged])):
        assert [call.arguments_state for call in read.tool_calls or ()] == [state]


def test_interleaved_streams_stay_apart() -> None:
    """Chunks belong to the response of their id."""
    lines = [chunk(fragment(0, "a", "{}", id="1")), chunk(fragment(0, "b", "{}", id="2"), id="s2")]
    ends = [chunk({}, "tool_calls"), chunk({}, "tool_calls", id="s2")]
    read = [item for item in items(*lines, *ends) if isinstance(item, Trajectory)]
    assert [[call.name for call in item.tool_calls or ()] for item in read] == [["a"], ["b"]]


def exchange(history: list[Any], message: dict[str, Any] | None, finish: str = "stop") -> dict[str, Any]:
    choices = [{"index": 0, "finish_reason": finish, "message": message}] if message else []
    response = {"choices": choices} if message else None
    return {"url": "https://x/v1/chat/completions", "request": {"messages": history}, "response": response}


FIRST = [USER]
SECOND = [USER, asks(function("a", id="client-1")), answers("client-1", "A")]


def test_a_log_repeats_history_and_counts_each_call_once() -> None:
    """Requests are aligned as prefixes; ids that a client rewrote do not matter."""
    read = one([exchange(FIRST, asks(function("a", id="server-1")), "tool_calls"), exchange(SECOND, DONE)])
    assert told(read) == [("a", {}, "ok", "A")]
    assert (read.output, read.gaps) == ("Done.", ())


def test_a_retry_without_a_first_response_is_one_exchange() -> None:
    """The same request again adds nothing."""
    read = one([exchange(FIRST, None), exchange(FIRST, asks(function("a")), "tool_calls")])
    assert ([call.name for call in read.tool_calls or ()], read.gaps) == (["a"], ())


def test_equal_calls_inside_one_history_all_count() -> None:
    """Within one list nothing is a duplicate."""
    history = [USER, asks(function("a")), answers(None, "1"), asks(function("a")), answers(None, "2")]
    read = one([exchange(history, DONE)])
    assert [call.result for call in read.tool_calls or ()] == ["1", "2"]


def test_histories_that_diverge_are_branches() -> None:
    """The first difference begins a conversation of its own."""
    other = [USER, DONE, {"role": "user", "content": "again"}]
    found = items([exchange([USER, DONE, USER], asks(function("a"))), exchange(other, asks(function("b")))])
    read = [item for item in found if isinstance(item, Trajectory)]
    assert [[call.name for call in item.tool_calls or ()] for item in read] == [["a"], ["b"]]
    assert read[1].warnings == (
        "an earlier conversation of the log begins the same; this one is read as a branch of it",
    )


def test_a_log_that_ends_in_a_request_has_a_gap() -> None:
    """What the model answered is not recorded (G12)."""
    read = one([exchange(FIRST, asks(function("a", id="1")), "tool_calls"), exchange(SECOND, None)])
    assert read.gaps == ("the last request of the log has no response",)


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ({"role": "assistant", "content": [{"type": "tool_use", "name": "a", "input": {}}]}, "Anthropic Messages"),
        ({"role": "assistant", "content": [{"toolUse": {"name": "a", "input": {}}}]}, "Bedrock Converse"),
        ({"role": "assistant", "content": [{"type": "tool-call", "toolName": "a"}]}, "the Vercel AI SDK"),
        ({"role": "assistant", "parts": []}, "messages with `parts`"),
    ],
)
def test_messages_of_another_format_are_refused(message: dict[str, Any], found: str) -> None:
    """They must not read as a conversation without calls."""
    (item,) = items([USER, message])
    assert isinstance(item, TraceError)
    assert str(item).startswith(f"f:1: [1]: expected an OpenAI chat message; found {found}")


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ([USER, {"role": "wizard"}], "f:1: [1].role"),
        ([USER, {"role": "assistant", "tool_calls": {"name": "a"}}], "f:1: [1].tool_calls"),
        ({"messages": "none"}, "f:1: messages"),
        ({"model": "x"}, "f:1: expected `messages` or `choices`"),
        (5, "f:1: expected a conversation"),
        ([USER, 5], "f:1: [1]"),
    ],
)
def test_what_is_no_conversation_says_where(document: Any, place: str) -> None:
    """An error of that record, with file, line and JSON path."""
    errors = [str(item) for item in items(document) if isinstance(item, TraceError)]
    assert [error.startswith(place) for error in errors] == [True], errors


def test_calls_say_where_they_stood() -> None:
    """The place in the record is the call's source."""
    read = one({"messages": [USER, asks(function("a"))]})
    assert [call.sources for call in read.tool_calls or ()] == [("messages[1].tool_calls[0]",)]
    assert isinstance((read.tool_calls or ())[0], ToolCall)
