"""Bedrock Converse and Strands: which calls messages, streams and logs hold, and what is missing."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from rightcall import traces
from rightcall.errors import TraceError
from support import reading
from support.reading import told

USER = {"role": "user", "content": [{"text": "hello"}]}
DONE = {"role": "assistant", "content": [{"text": "Done."}]}


def use(name: str, input: Any = None, id: str = "t") -> dict[str, Any]:
    return {"toolUse": {"toolUseId": id, "name": name, "input": {} if input is None else input}}


def result(id: str, *content: Any, **more: Any) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": id, "content": list(content), **more}}


def model(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


items = partial(reading.items, "bedrock-converse")
one = partial(reading.one, "bedrock-converse")


def test_results_go_to_their_calls_and_say_whether_they_failed() -> None:
    """Parallel results in any order; JSON and text; equal ids in two turns."""
    read = one(
        [
            USER,
            model(use("a", {"x": 1}, "1"), use("b", id="2")),
            user(result("2", {"text": "no"}, status="error"), result("1", {"json": {"id": 7}})),
            model(use("a", {"x": 2}, "1")),
            user(result("1", {"text": '{"id": 8}'})),
            DONE,
        ]
    )
    assert told(read) == [
        ("a", {"x": 1}, "ok", {"id": 7}),
        ("b", {}, "error", "no"),
        ("a", {"x": 2}, "ok", {"id": 8}),
    ]
    assert [(call.turn, call.message) for call in read.tool_calls or ()] == [(0, 0), (0, 0), (0, 1)]
    assert read.output == "Done."


def test_a_call_without_input_shows_no_arguments() -> None:
    """Messages always have input; without it nobody knows (G10)."""
    read = one([model({"toolUse": {"toolUseId": "1", "name": "a"}})])
    assert [call.arguments_state for call in read.tool_calls or ()] == ["not_captured"]


@pytest.mark.parametrize(
    ("reason", "gap"),
    [
        ("tool_use", "the stop reason is `tool_use`, but the message has no calls"),
        ("malformed_tool_use", "the stop reason is `malformed_tool_use`: the model wrote a call that is not recorded"),
    ],
)
def test_a_stop_reason_of_calls_that_are_not_there_is_a_gap(reason: str, gap: str) -> None:
    """In bodies and in streams (G12)."""
    assert one({"output": {"message": DONE}, "stopReason": reason}).gaps == (gap,)
    assert one({"messageStart": {"role": "assistant"}}, {"messageStop": {"stopReason": reason}}).gaps == (gap,)


def start(index: int, name: str, id: str) -> dict[str, Any]:
    return {"contentBlockStart": {"contentBlockIndex": index, "start": {"toolUse": {"toolUseId": id, "name": name}}}}


def delta(index: int, text: str) -> dict[str, Any]:
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": {"toolUse": {"input": text}}}}


def test_events_add_up_by_block_and_message() -> None:
    """Interleaved pieces, several messages, and the wrapping of Strands."""
    first = [{"messageStart": {"role": "assistant"}}, start(0, "a", "1"), start(1, "b", "2")]
    first += [delta(0, '{"x"'), delta(1, '{"y": 2}'), delta(0, ": 1}"), {"messageStop": {"stopReason": "tool_use"}}]
    second = [{"messageStart": {"role": "assistant"}}, start(0, "c", "1"), {"messageStop": {"stopReason": "tool_use"}}]
    events = [*first, {"metadata": {}}, *second]
    for lines in (events, [{"event": event} for event in events]):
        read = one(*lines)
        assert [(call.name, call.arguments, call.message) for call in read.tool_calls or ()] == [
            ("a", {"x": 1}, 0),
            ("b", {"y": 2}, 0),
            ("c", {}, 1),
        ]
        assert read.gaps == ()


def test_a_stream_that_breaks_off_has_a_gap() -> None:
    """Its last call keeps the broken text."""
    read = one(start(0, "a", "1"), delta(0, '{"x": '))
    assert [(call.arguments_state, call.arguments_text) for call in read.tool_calls or ()] == [("malformed", '{"x": ')]
    assert read.gaps == ("the stream ends without a stop reason",)


def test_a_call_whose_input_was_to_come_is_not_one_without_arguments() -> None:
    """Where the stream breaks off before the block ends, its input is not known; after the end there is none (G10)."""
    ended = {"contentBlockStop": {"contentBlockIndex": 0}}
    for events, state in (((start(0, "a", "1"),), "not_captured"), ((start(0, "a", "1"), ended), "ok")):
        (call,) = one(*events).tool_calls or ()
        assert call.arguments_state == state


def test_records_of_a_strands_session_are_one_conversation() -> None:
    """Each record wraps a message."""
    lines = [{"message": USER, "message_id": 0}, {"message": model(use("a")), "message_id": 1}]
    assert told(one(*lines)) == [("a", {}, "requested", None)]
    assert traces.detect("\n".join(map(json.dumps, lines)).encode()) == "bedrock-converse"


def test_a_log_counts_each_call_once() -> None:
    """Requests repeat the conversation so far, with marks for the cache or without."""
    config = {"tools": [{"toolSpec": {"name": "a", "inputSchema": {"json": {"type": "object"}}}}]}
    asked = {"output": {"message": model(use("a"))}, "stopReason": "tool_use"}
    second = [USER, model(use("a"), {"cachePoint": {"type": "default"}}), user(result("t", {"text": "A"}))]
    log = [
        {"request": {"messages": [USER], "toolConfig": config}, "response": asked},
        {"request": {"messages": second}, "response": {"output": {"message": DONE}, "stopReason": "end_turn"}},
    ]
    read = one(log)
    assert (told(read), read.gaps) == ([("a", {}, "ok", "A")], ())
    assert [(tool.name, tool.parameters) for tool in read.available_tools] == [("a", {"type": "object"})]


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ([USER, {"role": "assistant", "content": 5}], "f:1: [1].content: expected an array of blocks; found a number"),
        ([USER, {"role": "wizard", "content": []}], "f:1: [1].role: unknown role"),
        ([USER, model(5)], "f:1: [1].content[0]: expected a block"),
        ([USER, model({"type": "tool_use", "name": "a"})], "f:1: [1].content[0]: expected a block of Bedrock Converse"),
        ([USER, 5], "f:1: [1]: expected a message"),
        ({"x": 1}, "f:1: expected a message, request or response of Bedrock Converse; found an object"),
    ],
)
def test_what_is_not_of_the_format_says_where(document: Any, place: str) -> None:
    """An error with file, line and JSON path."""
    errors = [str(item) for item in items(document) if isinstance(item, TraceError)]
    assert [error.startswith(place) for error in errors] == [True], errors
