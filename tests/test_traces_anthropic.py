"""Anthropic Messages: which blocks are calls, whose result is whose, and what is missing."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from rightcall import traces
from rightcall.core.calls import ToolSpec, Trajectory
from rightcall.errors import TraceError
from support import reading
from support.reading import told

USER = {"role": "user", "content": "hello"}
DONE = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}


def use(name: str, id: str, kind: str = "tool_use", **more: Any) -> dict[str, Any]:
    return {"type": kind, "id": id, "name": name, "input": {}, **more}


def asks(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), **more}


def result(id: str, content: Any, kind: str = "tool_result", **more: Any) -> dict[str, Any]:
    return {"type": kind, "tool_use_id": id, "content": content, **more}


def answers(*results: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(results)}


items = partial(reading.items, "anthropic")
one = partial(reading.one, "anthropic")


def test_messages_are_one_conversation() -> None:
    """Results go to calls by id; a message that brings results is no turn of the user."""
    read = one(
        [
            USER,
            asks({"type": "thinking", "thinking": "…"}, use("a", "1", input={"x": 1}), use("b", "2")),
            answers(result("2", "B"), result("1", [{"type": "text", "text": '{"y": 2}'}])),
            asks(use("c", "3")),
            USER,
            DONE,
        ]
    )
    assert told(read) == [("a", {"x": 1}, "ok", {"y": 2}), ("b", {}, "ok", "B"), ("c", {}, "requested", None)]
    assert [(call.turn, call.message) for call in read.tool_calls or ()] == [(0, 0), (0, 0), (0, 1)]
    assert read.output == "Done."


@pytest.mark.parametrize(
    ("answer", "status", "error"),
    [
        (result("1", "no", is_error=True), "error", "no"),
        (result("1", "yes", is_error=False), "ok", None),
        (result("1", {"type": "web_search_tool_result_error", "error_code": "max_uses"}), "error", "max_uses"),
        (result("1", {"type": "code_execution_result", "return_code": 1, "stderr": "boom"}), "error", "boom"),
    ],
)
def test_failures_are_told(answer: dict[str, Any], status: str, error: str | None) -> None:
    """By the flag, the type of the result, or the code that a program returned (B088)."""
    (call,) = one([asks(use("a", "1")), answers(answer)]).tool_calls or ()
    assert (call.status, call.error) == (status, error)


def test_the_provider_runs_calls_within_a_message() -> None:
    """Their results stand beside them; what follows was asked afterwards."""
    search = use("web_search", "s1", "server_tool_use", input={"query": "q"})
    found = result("s1", [{"type": "web_search_result", "url": "u"}], "web_search_tool_result")
    far = use("echo", "m1", "mcp_tool_use", server_name="far")
    read = one([USER, asks(search, found, far, result("m1", "hi", "mcp_tool_result"), {"type": "text", "text": "x"})])
    assert [(call.name, call.kind, call.status, call.message) for call in read.tool_calls or ()] == [
        ("web_search", "server", "ok", 0),
        ("echo", "mcp", "ok", 1),
    ]
    assert read.output == "x"


def test_calls_that_code_makes_have_it_as_their_parent() -> None:
    """Code that the provider runs may call tools of the client."""
    code = use("code_execution", "s1", "server_tool_use", input={"code": "…"}, caller={"type": "direct"})
    inner = use("roll", "2", caller={"type": "code_execution_20250825", "tool_id": "s1"})
    read = one([asks(code, inner, inner)])
    assert [(call.name, call.parent) for call in read.tool_calls or ()] == [
        ("code_execution", None),
        ("roll", 0),
        ("roll", 0),
    ]


def test_equal_calls_with_equal_ids_all_count() -> None:
    """An id is no identity."""
    history = [asks(use("a", "1")), answers(result("1", "x")), asks(use("a", "1")), answers(result("1", "y"))]
    assert [call.result for call in one(history).tool_calls or ()] == ["x", "y"]


def test_odd_blocks_are_told() -> None:
    """A call without input or name is kept, an unknown block is a warning, an orphan result a gap (G12)."""
    read = one([asks({"type": "tool_use", "id": "1"}, {"type": "novelty"}), answers(result("9", "?"))])
    assert [(call.name, call.arguments_state) for call in read.tool_calls or ()] == [("", "not_captured")]
    assert read.warnings == (
        "[0].content[0] has no string for its name; counted as a call without a name",
        "[0].content[1] is a block of the unknown type `novelty` and is not read",
    )
    assert read.gaps == ("[1].content[0] answers no call that is recorded",)


def test_calls_of_unknown_types_are_calls_with_a_warning() -> None:
    """What a newer version of the format calls a use of a tool is not dropped."""
    read = one([asks(use("ask", "1", "advisor_tool_use"), result("1", "yes", "advisor_tool_result"))])
    assert [(call.name, call.kind, call.status) for call in read.tool_calls or ()] == [("ask", "server", "ok")]
    assert read.warnings == ("content[0] is a call of the unknown type `advisor_tool_use`",)


def test_bodies_hold_messages_and_tools() -> None:
    """A request with the tools that it offers; expectations and identity may stand beside them."""
    body = {
        "id": "c1",
        "test_id": "t1",
        "system": "Be brief.",
        "max_tokens": 9,
        "messages": [USER, asks(use("a", "1"))],
    }
    read = one({**body, "tools": [{"name": "a", "input_schema": {"type": "object"}}], "allowed_tools": ["a"]})
    assert (read.id, read.test_id, read.expectations) == ("c1", "t1", {"allowed_tools": ["a"]})
    assert read.available_tools == (ToolSpec(name="a", parameters={"type": "object"}),)
    assert [call.sources for call in read.tool_calls or ()] == [("messages[1].content[0]",)]


def test_a_response_that_hides_its_calls_has_a_gap() -> None:
    """The stop reason says that there was one (G12)."""
    read = one({"type": "message", "id": "msg_1", **DONE, "stop_reason": "tool_use"})
    assert (read.id, read.gaps) == ("msg_1", ("the stop reason is `tool_use`, but the message has no calls",))


def test_results_of_a_batch_are_conversations() -> None:
    """Each by its own id; one that failed is an error among the others."""
    good = {"type": "succeeded", "message": {"type": "message", **asks(use("a", "1")), "stop_reason": "tool_use"}}
    lines = [{"custom_id": "q1", "result": good}, {"custom_id": "q2", "result": {"type": "expired"}}]
    first, second = items(*lines)
    assert isinstance(first, Trajectory)
    assert isinstance(second, TraceError)
    assert (first.id, [call.name for call in first.tool_calls or ()]) == ("q1", ["a"])
    assert str(second) == "f:2: result: the request of a batch has no response; its result is `expired`"


def start(index: int, block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def more(index: int, text: str) -> dict[str, Any]:
    delta = {"type": "input_json_delta", "partial_json": text}
    return {"type": "content_block_delta", "index": index, "delta": delta}


BEGIN = {"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "content": []}}
END = [{"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, {"type": "message_stop"}]


def test_fragments_belong_to_their_block() -> None:
    """Blocks may interleave; no text means no arguments."""
    read = one(
        BEGIN,
        start(0, use("a", "1")),
        start(1, use("b", "2")),
        more(1, '{"y"'),
        more(0, ""),
        {"type": "ping"},
        more(1, ": 2}"),
        {"type": "content_block_stop", "index": 0},
        *END,
    )
    assert (read.id, told(read)) == ("msg_1", [("a", {}, "requested", None), ("b", {"y": 2}, "requested", None)])
    assert read.gaps == ()


@pytest.mark.parametrize(
    ("events", "calls", "gaps"),
    [
        ([start(0, use("a", "1")), more(0, '{"x": ')], [("a", "malformed")], 1),
        ([start(0, use("a", "1"))], [("a", "not_captured")], 1),
        (
            [start(0, use("a", "1")), {"type": "error", "error": {"type": "overloaded_error"}}],
            [("a", "not_captured")],
            1,
        ),
        ([more(3, '{"x": 1}'), *END], [], 1),
    ],
)
def test_a_stream_that_is_not_whole_has_a_gap(events: list[Any], calls: list[Any], gaps: int) -> None:
    """What came of a call is kept, and no arguments are made up (G9, G12)."""
    read = one(BEGIN, *events)
    assert [(call.name, call.arguments_state) for call in read.tool_calls or ()] == calls
    assert len(read.gaps) == gaps


def test_arguments_cut_by_the_token_limit_are_malformed() -> None:
    """The stream ends properly, the text does not (G9)."""
    ended = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}
    read = one(BEGIN, start(0, use("a", "1")), more(0, '{"x": "y'), ended)
    assert [(call.arguments_state, call.arguments_text) for call in read.tool_calls or ()] == [
        ("malformed", '{"x": "y')
    ]


def exchange(history: list[Any], reply: dict[str, Any] | None) -> dict[str, Any]:
    response = reply and {"type": "message", "stop_reason": "end_turn", **reply}
    request = {"model": "m", "max_tokens": 9, "messages": history}
    return {"url": "https://x/v1/messages", "request": request, "response": response}


def test_a_log_repeats_history_and_counts_each_call_once() -> None:
    """Thoughts that the client leaves out, and marks of a cache, do not matter."""
    thought = {"type": "thinking", "thinking": "…", "signature": "s"}
    cached = {"type": "text", "text": "hello", "cache_control": {"type": "ephemeral"}}
    later = [{"role": "user", "content": [cached]}, asks(use("a", "1")), answers(result("1", "A"))]
    read = one([exchange([USER], asks(thought, use("a", "1"))), exchange(later, DONE)])
    assert (told(read), read.output, read.gaps) == ([("a", {}, "ok", "A")], "Done.", ())


def test_a_log_may_hold_streams_and_failures() -> None:
    """A retry after an error is one exchange; a response may be its events."""
    failed = {**exchange([USER], None), "response": {"type": "error", "error": {"type": "overloaded_error"}}}
    streamed = {**exchange([USER], None), "response": [BEGIN, start(0, use("a", "1")), more(0, "{}"), *END]}
    assert told(one([failed, streamed])) == [("a", {}, "requested", None)]


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ([asks(use("a", "1")), {"role": "wizard", "content": "x"}], "f:1: [1].role"),
        ([asks(use("a", "1")), {"role": "assistant"}], "f:1: [1].content: expected text or an array of blocks"),
        ([asks(use("a", "1")), {"role": "user", "content": ["x"]}], "f:1: [1].content[0]: expected a block"),
        (
            [USER, {"role": "assistant", "content": None, "tool_calls": [{}]}],
            "f:1: [1]: expected a message of Anthropic",
        ),
        ([USER, 5], "f:1: [1]: expected a message"),
        ({"model": "x"}, "f:1: expected messages, a request or a response of Anthropic"),
    ],
)
def test_what_is_no_conversation_says_where(document: Any, place: str) -> None:
    """An error of that record, with file, line and JSON path."""
    errors = [str(item) for item in items(document) if isinstance(item, TraceError)]
    assert [error.startswith(place) for error in errors] == [True], errors


@pytest.mark.parametrize(
    ("value", "format"),
    [
        ([USER, asks(use("a", "1"))], "anthropic"),
        ({"messages": [USER], "tools": [{"name": "a", "input_schema": {}}]}, "anthropic"),
        ({"messages": [USER], "system": "Be brief.", "max_tokens": 9}, "anthropic"),
        ([exchange([USER], DONE)], "anthropic"),
        ([{"type": "text", "text": "x"}, use("a", "1")], "anthropic"),
        ([USER, DONE], "openai-chat"),
        ({"messages": [USER, DONE]}, "openai-chat"),
    ],
)
def test_it_is_told_from_its_relatives(value: Any, format: str) -> None:
    """Messages that any format could hold are a chat, which reads them the same."""
    assert traces.detect(json.dumps(value).encode()) == format
