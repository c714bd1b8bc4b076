"""Logs of the Model Context Protocol: requests, responses, and whose is whose."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from rightcall import traces
from rightcall.core.calls import ToolSpec
from support import reading
from support.reading import told


def request(method: str, id: Any = None, **params: Any) -> dict[str, Any]:
    identity = {} if id is None else {"id": id}
    return {"jsonrpc": "2.0", "method": method, **identity, **({"params": params} if params else {})}


def calls(name: str, id: Any, **arguments: Any) -> dict[str, Any]:
    return request("tools/call", id, name=name, arguments=arguments)


def answers(id: Any, text: str = "ok", **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}], **more}}


items = partial(reading.items, "mcp-jsonrpc")
one = partial(reading.one, "mcp-jsonrpc")


def test_requests_are_calls_and_responses_their_results() -> None:
    """In the order of asking; requests with no response between them are parallel."""
    read = one(calls("a", 1, x=1), calls("b", 2), answers(2, '{"y": 2}'), answers(1), calls("c", 3))
    assert told(read) == [("a", {"x": 1}, "ok", "ok"), ("b", {}, "ok", {"y": 2}), ("c", {}, "requested", None)]
    assert [(call.message, call.kind) for call in read.tool_calls or ()] == [(0, "mcp"), (0, "mcp"), (1, "mcp")]


@pytest.mark.parametrize(
    ("response", "status", "error"),
    [
        (answers(1, "no", isError=True), "error", "no"),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "Unknown tool"}}, "error", "Unknown tool"),
        ({"jsonrpc": "2.0", "id": 1, "result": {"task": {"taskId": "t", "status": "working"}}}, "pending", None),
        (answers(1, structuredContent={"y": 2}, isError=False), "ok", None),
    ],
)
def test_failures_are_told(response: dict[str, Any], status: str, error: str | None) -> None:
    """By the flag of the result or by an error of the protocol (B088)."""
    (call,) = one(calls("a", 1), response).tool_calls or ()
    assert (call.status, call.error) == (status, error)


def test_a_call_may_have_no_arguments() -> None:
    """The protocol leaves them out; a call without a name is kept."""
    read = one(request("tools/call", 1, name="a"), request("tools/call", 2))
    assert [(call.name, call.arguments, call.arguments_state) for call in read.tool_calls or ()] == [
        ("a", {}, "ok"),
        ("", {}, "ok"),
    ]
    assert read.warnings == ("[1] has no string for its name; counted as a call without a name",)


def test_the_catalogue_is_what_servers_list() -> None:
    """Of all pages."""
    pages = [
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}},
        {"jsonrpc": "2.0", "id": 2, "result": {"tools": [{"name": "b"}]}},
    ]
    read = one(request("tools/list", 1), pages[0], request("tools/list", 2, cursor="x"), pages[1])
    assert read.available_tools == (ToolSpec(name="a", parameters={"type": "object"}), ToolSpec(name="b"))
    assert (read.tool_calls, read.warnings) == ((), ())


def test_requests_of_the_server_have_ids_of_their_own() -> None:
    """The client's answer to one is no result of a call with that id."""
    asked = request("sampling/createMessage", 1, messages=[])
    said = {"jsonrpc": "2.0", "id": 1, "result": {"role": "assistant", "content": {"type": "text", "text": "hi"}}}
    assert told(one(calls("a", 1), asked, said, answers(1, "A"))) == [("a", {}, "ok", "A")]


def test_ids_begin_anew_with_every_connection() -> None:
    """A response belongs to the latest call of its id that waits."""
    read = one(request("initialize", 0), calls("a", 1), request("initialize", 0), calls("b", 1), answers(1, "B"))
    assert told(read) == [("a", {}, "requested", None), ("b", {}, "ok", "B")]


def test_a_response_without_its_call_is_a_gap() -> None:
    """It was made before the log began (G12)."""
    read = one(answers(7), calls("a", 8))
    assert ([call.name for call in read.tool_calls or ()], read.gaps) == (
        ["a"],
        ("[0] answers no call that is recorded",),
    )


def test_batches_are_read() -> None:
    """On a line, or as one document."""
    batch = [calls("a", 1), calls("b", 2)]
    for read in (one(batch, [answers(2), answers(1)]), traces.read_object([*batch, answers(1), answers(2)])):
        assert [(call.name, call.status) for call in read.tool_calls or ()] == [("a", "ok"), ("b", "ok")]


@pytest.mark.parametrize(
    ("first", "is_ours"),
    [
        (request("initialize", 0), True),
        (calls("a", 1), True),
        (answers(1), True),
        (request("eth_call", 1), False),
        ({"method": "tools/call", "id": 1}, False),
    ],
)
def test_it_is_told_from_other_protocols(first: dict[str, Any], is_ours: bool) -> None:
    """JSON-RPC alone is not enough."""
    assert traces.FORMATS["mcp-jsonrpc"].claims(json.dumps(first).encode()) == is_ours


def test_what_is_no_message_is_an_error() -> None:
    """With its place."""
    (error,) = items({"silly": "this"})
    assert str(error) == "f:1: expected messages of JSON-RPC 2.0; found an object with the keys `silly`"
