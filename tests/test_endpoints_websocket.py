"""Agents behind WebSockets: what belongs to one reply, over one or several turns, and what breaks it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from rightcall.agents import endpoints
from rightcall.agents.exchange import Reply
from rightcall.errors import EndpointError, TestSetError
from support.loopback import failed, talked

Talk = Callable[[ServerConnection], Awaitable[None]]
CALL = {"name": "lookup_order", "arguments": {"order_id": 42}}
OTHER = {"name": "issue_refund", "arguments": {}}
MAPPED: dict[str, Any] = {
    "response": {"output": "$.text", "tool_calls": "$.call", "conversation_id": "$.id"},
    "done": "{{ reply.type == 'end' }}",
}


def says(*messages: Any) -> Talk:
    """A server that answers each message with all of these."""

    async def talk(socket: ServerConnection) -> None:
        async for _ in socket:
            for message in messages:
                await socket.send(message if isinstance(message, str | bytes) else json.dumps(message))

    return talk


def once(*messages: Any, code: int = 1000, reason: str = "") -> Talk:
    """A server that answers one message and closes."""

    async def talk(socket: ServerConnection) -> None:
        await socket.recv()
        for message in messages:
            await socket.send(message if isinstance(message, str) else json.dumps(message))
        await socket.close(code, reason)

    return talk


def replies(talk: Talk, *said: Any, **description: Any) -> list[Reply]:
    """The replies in one conversation with a server."""

    async def main() -> list[Reply]:
        async with serve(talk, "127.0.0.1", 0) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            return await talked({"websocket": {"url": f"ws://127.0.0.1:{port}/", **description}}, *(said or ("hi",)))

    return asyncio.run(main())


def names(reply: Reply) -> list[str] | None:
    """The names of the calls of a reply."""
    return None if not isinstance(reply.tool_calls, tuple) else [call.name for call in reply.tool_calls]


def test_all_messages_up_to_the_last_are_one_reply() -> None:
    """No call in a later message is lost, be it after text, or in the message that says it is done."""
    talk = says(
        {"type": "text", "text": "Re"},
        {"type": "call", "call": CALL},
        {"type": "text", "text": "fund"},
        b'{"type": "end", "call": {"name": "issue_refund", "arguments": {}}, "id": 7}',
    )
    told = {
        **MAPPED,
        "response": {name: f"{{{{ reply.{path[2:]} | default(none) }}}}" for name, path in MAPPED["response"].items()},
    }
    for description in (MAPPED, told):
        first, second = replies(talk, "one", "two", **description)
        assert (first.output, names(first), first.conversation_id) == ("Refund", ["lookup_order", "issue_refund"], 7)
        assert names(second) == ["lookup_order", "issue_refund"]


def test_without_an_end_a_reply_lasts_until_the_server_closes() -> None:
    """The next turn opens another socket."""
    first, second = replies(once({"text": "a", "call": CALL}, {"text": "b"}), "one", "two", response=MAPPED["response"])
    assert (first.output, names(first)) == ("ab", ["lookup_order"])
    assert (second.output, names(second)) == ("ab", ["lookup_order"])


def test_a_reply_may_end_when_nothing_comes_any_more() -> None:
    """The socket stays open for the next turn."""
    first, _ = replies(says({"text": "a"}, {"call": CALL}), "one", "two", response=MAPPED["response"], idle=0.5)
    assert (first.output, names(first)) == ("a", ["lookup_order"])


def test_messages_need_no_mapping_where_they_say_what_they_are() -> None:
    """Objects with the keys of a reply are put together; so are words; so is the stream of a known format."""
    [objects] = replies(once({"output": "a"}, {"tool_calls": [CALL]}, {"tool_calls": [OTHER]}))
    assert (objects.output, names(objects)) == ("a", ["lookup_order", "issue_refund"])
    [words] = replies(once("Hel", "lo"))
    assert (words.output, names(words)) == ("Hello", None)
    block = {"type": "content_block_start", "index": 0}
    block["content_block"] = {"type": "tool_use", "id": "t", "name": "lookup_order", "input": {}}
    [anthropic] = replies(
        once(
            {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {}}},
            block,
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": '{"a": 1}'},
            },
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}},
            {"type": "message_stop"},
        )
    )
    assert anthropic.trajectory is not None
    assert [(call.name, call.arguments) for call in anthropic.trajectory.tool_calls or ()] == [
        ("lookup_order", {"a": 1})
    ]


def test_a_message_is_made_of_templates() -> None:
    """Like a body of HTTP; without a template the whole turn is sent."""

    async def echo(socket: ServerConnection) -> None:
        async for message in socket:
            await socket.send(json.dumps({"output": message}))
            await socket.close()

    [reply] = replies(echo, {"a": 1}, message={"say": "{{ input }}", "turn": "{{ number }}"})
    assert reply.output == '{"say":{"a":1},"turn":1}'
    [plain] = replies(echo, "hi")
    assert json.loads(plain.output)["input"] == "hi"


async def _break(socket: ServerConnection) -> None:
    await socket.recv()
    await socket.send('{"text": "half"}')
    socket.transport.abort()


async def _hang(socket: ServerConnection) -> None:
    await socket.recv()
    await socket.wait_closed()


FAULTS: dict[str, tuple[Talk, dict[str, Any], str, bool]] = {
    "a hang": (
        _hang,
        {"timeout": 0.1},
        "`timeout` sets the limit; say by `done` or `idle` when a reply has ended",
        True,
    ),
    "silence": (_hang, {**MAPPED, "read_timeout": 0.1}, "no message for 0.1 s (`read_timeout`)", True),
    "a break": (_break, MAPPED, "the socket broke before the reply had ended", True),
    "a break in what ends by closing": (_break, {}, "the socket broke before the reply had ended", True),
    "an early end": (once({"type": "text"}), MAPPED, "the server closed the socket before the reply had ended", True),
    "no message at all": (once(), {}, "the server closed the socket before the reply had ended", True),
    "a refusal": (once(code=1008, reason="no key"), MAPPED, "with code 1008: no key", False),
    "a failing server": (once(code=1011), MAPPED, "with code 1011", True),
    "half a message": (says('{"type": '), MAPPED, "a message is no whole JSON", False),
    "a large message": (says({"text": "x" * 2000}), {**MAPPED, "max_bytes": 1000}, "more than 1,000 bytes", False),
    "many messages": (
        says(*[{"type": "text", "text": "x" * 100}] * 20),
        {**MAPPED, "max_bytes": 1000},
        "more than 1,000 bytes",
        False,
    ),
    "calls that are none": (says({"type": "end", "call": 3}), MAPPED, "$.call: expected tool calls", False),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_trouble_of_transport_is_never_a_reply(fault: str) -> None:
    """It says its cause, and whether it may pass (G38)."""
    talk, description, message, is_passing = FAULTS[fault]

    async def main() -> EndpointError:
        async with serve(talk, "127.0.0.1", 0) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            return await failed({"websocket": {"url": f"ws://127.0.0.1:{port}/", **description}})

    error = asyncio.run(main())
    assert message in str(error)
    assert error.is_passing == is_passing


def test_a_message_after_the_end_is_an_error_in_the_next_turn() -> None:
    """Calls in it would belong to no turn; `done` was too early."""
    ended = asyncio.Event()

    async def talk(socket: ServerConnection) -> None:
        async for _ in socket:
            await socket.send('{"type": "end"}')
            await socket.send(json.dumps({"type": "call", "call": CALL}))
            ended.set()

    with pytest.raises(EndpointError, match="a message came after the reply had ended"):
        replies(talk, "one", "two", **{**MAPPED, "response": {"tool_calls": "$.call"}})


@pytest.mark.parametrize(
    ("status", "message", "is_passing"),
    [
        (401, "status 401 Unauthorized", False),
        (503, "status 503 Service Unavailable", True),
        (302, "status 302", False),
    ],
)
def test_a_handshake_that_is_refused_is_trouble(status: int, message: str, is_passing: bool) -> None:
    """By the status, as over HTTP; nothing is followed elsewhere."""

    async def main() -> EndpointError:
        def refuse(socket: ServerConnection, request: Any) -> Any:
            response = socket.respond(status, "no")
            response.headers["Location"] = "ws://127.0.0.1:1/"
            return response

        async with serve(_hang, "127.0.0.1", 0, process_request=refuse) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            return await failed({"websocket": f"ws://127.0.0.1:{port}/"})

    error = asyncio.run(main())
    assert message in str(error)
    assert error.is_passing == is_passing


def test_a_server_that_is_not_there_may_come_back() -> None:
    """The connection is refused."""
    error = asyncio.run(failed({"websocket": "ws://127.0.0.1:9/"}))
    assert ("no connection" in str(error), error.is_passing) == (True, True)


def test_an_address_is_one_of_a_websocket() -> None:
    """Another scheme is refused with its place."""
    with pytest.raises(TestSetError, match=r"websocket\.url: expected an address that begins with `ws://` or `wss://`"):
        endpoints.open(endpoints.read({"websocket": "http://127.0.0.1/"}), {}, "")
