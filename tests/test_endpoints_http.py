"""Agents behind HTTP: what is sent, what is read, and what is trouble of transport rather than a reply."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import itertools
import json
import socket
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.agents import endpoints
from rightcall.agents.events import Event, Events, Lines
from rightcall.agents.exchange import Reply, Turn
from rightcall.errors import EndpointError, RightcallError, TestSetError, UsageError
from support.loopback import Request, Server, answer, failed, serving, stream, talked

CERTIFICATE = Path(__file__).parent / "support" / "localhost.pem"
CALLS = [{"name": "lookup_order", "arguments": {"order_id": 42}}, {"name": "issue_refund", "arguments": {}}]
RESPONSE = {"output": "$.answer", "tool_calls": "$.calls"}


def asked(*answers: Any, said: Any = "hi", environment: dict[str, str] | None = None, **description: Any) -> Any:
    """The replies of a server, and what it was asked."""

    async def main() -> tuple[list[Reply], list[Request]]:
        async with serving(*answers) as server:
            address = f"{server.url}{description.pop('path', '/chat')}"
            told = {"http": {"url": address, **description}}
            inputs = said if isinstance(said, tuple) else (said,)
            return await talked(told, *inputs, environment=environment), server.requests

    return asyncio.run(main())


def names(reply: Reply) -> list[str] | None:
    """The names of the calls of a reply, wherever they stand in it."""
    calls = reply.tool_calls if reply.trajectory is None else reply.trajectory.tool_calls
    return None if not isinstance(calls, tuple) else [call.name for call in calls]


def test_a_turn_is_sent_as_json_and_an_object_comes_back() -> None:
    """Without templates the whole turn is sent; without a mapping the reply has the keys of one."""
    [reply], [request] = asked(answer({"output": "done", "tool_calls": CALLS, "conversation_id": "c1"}), said="Refund!")
    assert request.line == "POST /chat HTTP/1.1"
    assert request.headers["content-type"] == "application/json"
    assert request.json == {
        "input": "Refund!",
        "number": 1,
        "attempt": "attempt-1",
        "conversation_id": None,
        "history": [],
        "test": "refund",
        "metadata": {},
    }
    assert (reply.output, reply.conversation_id, names(reply)) == ("done", "c1", ["lookup_order", "issue_refund"])


def test_a_request_is_made_of_templates_that_keep_structure() -> None:
    """One expression is its value; within text it is written; in an address it is quoted; secrets are filled in."""
    [_, _], [_, request] = asked(
        answer({"answer": "", "id": "a/../b?c"}),
        said=('say "hi"', {"deep": [1, None]}),
        path="/chat/{{ conversation_id | default('new', true) }}",
        method="PUT",
        headers={"Authorization": "Bearer ${TOKEN}", "X-Turn": "{{ number }}"},
        query={"q": "{{ input }}", "none": "{{ none }}"},
        body={"text": "{{ input }}", "all": ["{{ history }}", 'said {{ input }} by "${TOKEN}"'], "fixed": 3},
        response={"output": "$.answer", "conversation_id": "$.id"},
        environment={"TOKEN": "{{ input }}-secret"},
    )
    assert request.line == "PUT /chat/a%2F..%2Fb%3Fc?q=%7B%22deep%22%3A%5B1%2Cnull%5D%7D HTTP/1.1"
    assert (request.headers["authorization"], request.headers["x-turn"]) == ("Bearer {{ input }}-secret", "2")
    assert request.json == {
        "text": {"deep": [1, None]},
        "all": [[], 'said {"deep":[1,null]} by "{{ input }}-secret"'],
        "fixed": 3,
    }


def test_what_the_user_says_is_never_a_template_nor_a_secret() -> None:
    """Braces and names of secrets in it are sent as they are."""
    said = "{{ 7 * 7 }} {% raw %} ${TOKEN}"
    _, [request] = asked(
        answer({"output": ""}), said=said, body={"text": "{{ input }}"}, environment={"TOKEN": "hidden-value"}
    )
    assert request.json == {"text": said}


def test_a_body_may_be_a_form_or_text() -> None:
    """A form is encoded as one; a body of one text is sent as text."""
    _, [form] = asked(answer({"output": ""}), said="a&b", form={"message": "{{ input }}", "tag": ["x", 1]})
    assert (form.body, form.headers["content-type"]) == (
        b"message=a%26b&tag=x&tag=1",
        "application/x-www-form-urlencoded",
    )
    _, [text] = asked(answer({"output": ""}), said="é", body="Q: {{ input }}")
    assert (text.body, text.headers["content-type"]) == ("Q: é".encode(), "text/plain; charset=utf-8")


def test_cookies_belong_to_a_conversation() -> None:
    """A cookie that a conversation is given comes back in its next turn, and in no other conversation."""

    async def main() -> list[str | None]:
        async with serving(answer({"output": ""}, Set_Cookie="session=one")) as server:
            endpoint = endpoints.open(endpoints.read({"http": server.url}), {}, "")
            async with endpoint.conversation() as first, endpoint.conversation() as second:
                await first.send(Turn(input=1))
                await first.send(Turn(input=2, number=2))
                await second.send(Turn(input=1))
            await endpoint.close()
            return [request.headers.get("cookie") for request in server.requests]

    assert asyncio.run(main()) == [None, "session=one", None]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"answer": "x"}, None),
        ({"answer": "x", "calls": None}, None),
        ({"answer": "x", "calls": []}, []),
        ({"answer": "x", "calls": CALLS}, ["lookup_order", "issue_refund"]),
        ({"answer": "x", "calls": json.dumps(CALLS)}, ["lookup_order", "issue_refund"]),
        ({"calls": [{"type": "tool_use", "id": "t", "name": "f", "input": {"x": 1}}]}, ["f"]),
        ({"calls": [{"type": "text", "text": "…"}, {"type": "tool_use", "id": "t", "name": "f", "input": {}}]}, ["f"]),
        ({"calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, ["f"]),
        ({"calls": [{"functionCall": {"name": "f", "args": {}}}, {"text": "…"}]}, ["f"]),
        ({"calls": [{"name": "f", "args": {}, "id": "1", "type": "tool_call"}]}, ["f"]),
        ({"calls": [{"role": "assistant", "tool_calls": CALLS}, {"role": "assistant", "content": "x"}]}, None),
    ],
)
def test_calls_are_read_in_every_shape_a_reader_knows(body: dict[str, Any], expected: list[str] | None) -> None:
    """Absent and `null` are nothing recorded, an empty list is none made."""
    if expected is None and isinstance(body.get("calls"), list):
        expected = ["lookup_order", "issue_refund"]
    [reply], _ = asked(answer(body), response=RESPONSE)
    assert names(reply) == expected


def test_streams_with_a_mapping_are_put_together() -> None:
    """Words are joined, calls of all events kept in order, whatever comes after the first of them."""
    [reply], _ = asked(
        stream({"text": "Ref"}, {"calls": CALLS[:1]}, {"text": "und"}, {"calls": CALLS[1:]}, {"id": "c9"}, "[DONE]"),
        response={"output": "$.text", "tool_calls": "$.calls[*]", "conversation_id": "$.id"},
    )
    assert (reply.output, names(reply), reply.conversation_id) == ("Refund", ["lookup_order", "issue_refund"], "c9")


def test_events_may_be_mapped_by_their_names() -> None:
    """Each named event has a mapping of its own; one that says `done` ends the reply, though the socket stays open."""

    async def hold(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(stream(("call", CALLS[0]), ("say", "Hello"), ("state", {"is": "end"})))
        await writer.drain()
        await asyncio.Event().wait()

    [reply], _ = asked(
        hold,
        events={"call": {"tool_calls": "$"}, "say": {"output": "$"}},
        done="{{ reply.is is defined and reply.is == 'end' }}",
    )
    assert (reply.output, names(reply)) == ("Hello", ["lookup_order"])


def test_streams_of_known_formats_are_assembled_by_their_readers() -> None:
    """Pieces of an OpenAI call are one call; no mapping could say so."""

    def piece(**delta: Any) -> dict[str, Any]:
        return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}

    def part(**function: Any) -> list[dict[str, Any]]:
        return [{"index": 0, "id": "c1", "type": "function", "function": function}]

    end = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    [reply], _ = asked(
        stream(
            piece(role="assistant", tool_calls=part(name="lookup_order", arguments="")),
            piece(tool_calls=part(arguments='{"order_id":')),
            piece(tool_calls=part(arguments="42}")),
            end,
            "[DONE]",
        )
    )
    assert reply.trajectory is not None
    assert [(call.name, call.arguments) for call in reply.trajectory.tool_calls or ()] == [
        ("lookup_order", {"order_id": 42})
    ]


def test_what_the_agent_says_of_its_failure_is_a_reply() -> None:
    """A mapped error is the agent's; null, false and empty are none (G38)."""
    told = {**RESPONSE, "error": "$.error"}
    for value, expected in [({"message": "no stock"}, "no stock"), ("x", "x"), (None, None), (False, None), ("", None)]:
        [reply], _ = asked(answer({"answer": "a", "calls": [], "error": value}), response=told)
        assert reply.error == expected


def _closing(data: bytes) -> Callable[[Request, asyncio.StreamWriter], Awaitable[None]]:
    async def close(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()

    return close


async def _hang(request: Request, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def _reset(request: Request, writer: asyncio.StreamWriter) -> None:
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    writer.transport.abort()


async def _drip(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
    with contextlib.suppress(ConnectionError):
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0)


async def _flood(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[")
    with contextlib.suppress(ConnectionError):
        while True:
            writer.write(b"0," * 50_000)
            await writer.drain()


async def _resist(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 nonsense\r\n\r\n")


GET_BODY = answer({"output": "never seen"})
FAULTS: dict[str, tuple[Any, dict[str, Any], str, bool, float | None]] = {
    "a hang": (_hang, {"timeout": 0.05}, "no whole reply within 0.05 s", True, None),
    "silence": (_hang, {"read_timeout": 0.05}, "no byte of a reply for 0.05 s", True, None),
    "a slow drip": (_drip, {"timeout": 0.05}, "no whole reply within 0.05 s", True, None),
    "a reset": (_reset, {}, "the connection broke", True, None),
    "a closed socket": (_closing(b""), {}, "the connection broke", True, None),
    "half a body": (
        _closing(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{"output": "x"}'),
        {},
        "the connection broke",
        True,
        None,
    ),
    "status 500": (
        answer(b"boom", "500 Internal Server Error"),
        {},
        'status 500 Internal Server Error: "boom"',
        True,
        None,
    ),
    "status 503": (answer(b"", "503 Service Unavailable", Retry_After="7"), {}, "status 503", True, 7.0),
    "status 429 and less than a second": (
        answer(b"", "429 Too Many Requests", Retry_After="0.5"),
        {},
        "429",
        True,
        0.5,
    ),
    "status 429 and nonsense": (answer(b"", "429 Too Many Requests", Retry_After="soon"), {}, "429", True, None),
    "status 429": (answer(b"", "429 Too Many Requests", Retry_After="2"), {}, "status 429", True, 2.0),
    "status 429 with a date": (
        answer(
            b"",
            "429 Too Many Requests",
            Date="Mon, 30 Nov 2026 10:00:00 GMT",
            Retry_After="Mon, 30 Nov 2026 10:00:30 GMT",
        ),
        {},
        "status 429",
        True,
        30.0,
    ),
    "status 429 with a date that is none": (
        answer(b"", "429 Too Many Requests", Retry_After=f"Mon, 30 Nov 2026 10:00:00 +{'9' * 20}"),
        {},
        "status 429",
        True,
        None,
    ),
    "status 408": (answer(b"", "408 Request Timeout"), {}, "status 408", True, None),
    "status 425": (answer(b"", "425 Too Early"), {}, "status 425", True, None),
    "status 401": (answer({"detail": "no key"}, "401 Unauthorized"), {}, "status 401 Unauthorized", False, None),
    "status 404": (answer(b"", "404 Not Found"), {}, "status 404 Not Found", False, None),
    "status 422": (answer(b"", "422 Unprocessable Content"), {}, "status 422", False, None),
    "an odd status": (answer(b"", "304 Not Modified"), {}, "status 304", False, None),
    "no JSON": (answer(b"{nonsense"), {}, "the reply is no whole JSON", False, None),
    "JSON that ends early": (answer(b'{"output": "x"'), {}, "the reply is no whole JSON", False, None),
    "a repeated key": (answer(b'{"output": "x", "output": "y"}'), {}, "the key `output` is repeated", False, None),
    "nothing": (answer(b""), {}, "the reply is empty", False, None),
    "status 204": (answer(b"", "204 No Content", kind=""), {}, "the reply is empty", False, None),
    "too much": (_flood, {"max_bytes": 1_000_000}, "the reply has more than 1,000,000 bytes", False, None),
    "a bomb": (
        answer(gzip.compress(b" " * 20_000_000, mtime=0), Content_Encoding="gzip"),
        {"max_bytes": 1_000_000},
        "the reply has more than 1,000,000 bytes",
        False,
        None,
    ),
    "broken compression": (answer(b"no gzip", Content_Encoding="gzip"), {}, "the request failed", False, None),
    "a page": (
        answer(b"<html>Sign in</html>", kind="text/html"),
        {},
        "expected JSON or a stream of events, found the content type `text/html`",
        False,
        None,
    ),
    "calls of the wrong type": (
        answer({"answer": "x", "calls": 7}),
        {"response": RESPONSE},
        "$.calls: expected tool calls such as `{name, arguments}`, found a number: 7",
        False,
        None,
    ),
    "a name for a call": (
        answer({"answer": "x", "calls": ["lookup_order"]}),
        {"response": RESPONSE},
        "$.calls[0]: expected tool calls such as `{name, arguments}`, found text",
        False,
        None,
    ),
    "tools for calls": (
        answer({"answer": "x", "calls": [{"name": "f", "description": "F", "input_schema": {"type": "object"}}]}),
        {"response": RESPONSE},
        "$.calls[0]: this defines a tool that could be called, and is no call",
        False,
        None,
    ),
    "metadata that is none": (
        answer({"meta": 3}),
        {"response": {"metadata": "$.meta"}},
        "`metadata` is mapped to a number, expected an object",
        False,
        None,
    ),
    "a template that finds nothing": (
        answer({}),
        {"response": {"output": "{{ reply.answer }}"}},
        "finds nothing: 'dict object' has no attribute 'answer'",
        False,
        None,
    ),
    "a key that is none": (answer({"output": "x", "tool_call": []}), {}, "did you mean `tool_calls`?", False, None),
    "a header that cannot be sent": (
        GET_BODY,
        {"headers": {"X": "a\nb"}},
        "the request failed: Illegal header value",
        False,
        None,
    ),
    "a header in other letters": (GET_BODY, {"headers": {"X": "{{ test }}\u0416"}}, "cannot be made", False, None),
    "another protocol": (_resist, {}, "the connection broke", True, None),
    "a redirect without an address": (answer(b"", "307 Temporary Redirect"), {}, "status 307", False, None),
    "a redirect that leaves encryption": (
        answer(b"", "307 Temporary Redirect", Location="ftp://127.0.0.1/x"),
        {},
        "which is not followed",
        False,
        None,
    ),
    "a redirect loop": (
        answer(b"", "307 Temporary Redirect", Location="/again"),
        {},
        "more than 5 redirects",
        False,
        None,
    ),
    "a redirect elsewhere": (
        answer(b"", "307 Temporary Redirect", Location="http://127.0.0.2:1/x"),
        {},
        "redirected to another host, `http://127.0.0.2:1/x`, which is not followed",
        False,
        None,
    ),
    "a redirect that loses the turn": (
        answer(b"", "302 Found", Location="/login"),
        {},
        "redirected by status 302",
        False,
        None,
    ),
    "an event cut off": (
        stream('{"text": "x'),
        {"response": {"output": "$.text"}},
        "a message is no whole JSON",
        False,
        None,
    ),
    "a stream without its end": (
        stream({"text": "x"}),
        {"response": {"output": "$.text"}, "done": "$.end"},
        "the stream ended before what `done` says is its end",
        True,
        None,
    ),
    "a stream of no known format": (
        stream({"text": "x"}, {"text": "y"}),
        {},
        "the reply cannot be read: the format is not known",
        False,
        None,
    ),
    "the wrong format": (answer({"x": 1}), {"format": "anthropic"}, "the reply cannot be read", False, None),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_trouble_of_transport_is_never_a_reply(fault: str) -> None:
    """It says its cause, whether it may pass, and how long to wait (G38)."""
    answering, description, message, is_passing, after = FAULTS[fault]

    async def main() -> EndpointError:
        async with serving(answering) as server:
            return await failed({"http": {"url": f"{server.url}/chat", **description}})

    error = asyncio.run(main())
    assert message in str(error)
    assert (error.is_passing, error.after) == (is_passing, after)


def test_a_server_that_is_not_there_may_come_back() -> None:
    """Nothing listens on the port: the address is told, and that it may pass."""

    async def main() -> tuple[EndpointError, Server]:
        async with serving(GET_BODY) as server:
            pass
        return await failed({"http": server.url}), server

    error, server = asyncio.run(main())
    assert (f"no connection to {server.url.partition('//')[2]}: " in str(error), error.is_passing) == (True, True)


def test_a_redirect_on_the_same_host_takes_the_turn_along() -> None:
    """Status 307 asks for the same again, elsewhere on the server."""
    [reply], requests = asked(answer(b"", "307 Temporary Redirect", Location="/chat/"), answer({"output": "x"}))
    assert (reply.output, requests[1].line, requests[1].body) == ("x", "POST /chat/ HTTP/1.1", requests[0].body)


def test_certificates_are_checked() -> None:
    """By those that are known, by a file, or not at all where that is asked for; never by themselves."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)

    async def main() -> tuple[EndpointError, list[Reply]]:
        async with serving(answer({"output": "x"}), tls=context) as server:
            address = f"https://localhost:{server.port}/"
            error = await failed({"http": address})
            told: list[dict[str, Any]] = [{"verify": CERTIFICATE.name}, {"verify": False}]
            return error, [
                (await talked({"http": {"url": address, **one}}, "hi", directory=str(CERTIFICATE.parent)))[0]
                for one in told
            ]

    error, replies = asyncio.run(main())
    assert ("no trusted connection" in str(error), error.is_passing) == (True, False)
    assert [reply.output for reply in replies] == ["x", "x"]
    with pytest.raises(UsageError, match="the certificates in `nowhere` cannot be read"):
        endpoints.open(endpoints.read({"http": {"url": "https://h", "verify": "nowhere"}}), {}, "")


STREAM = ": hello\r\n\r\nevent: say\r\ndata: a\rdata:b\n\ndata\n\nid: 3\ndata:  é\n\nevent: none\n\ndata: end".encode()
EVENTS = [Event("say", "a\nb"), Event("", ""), Event("", " é"), Event("", "end")]


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_events_are_the_same_however_they_are_cut(cuts: list[int]) -> None:
    """Lines end in every way the standard knows, also in the middle of a chunk (WHATWG HTML, 9.2.6)."""
    places = sorted({0, *cuts, len(STREAM)})
    for parts, data in ((Events(), STREAM), (Lines(), b'{"a": 1}\r\n\n{"b":\t2}')):
        found = [event for start, end in itertools.pairwise(places) for event in parts.feed(data[start:end])]
        expected = EVENTS if isinstance(parts, Events) else [Event("", '{"a": 1}\r'), Event("", '{"b":\t2}')]
        assert [*found, *parts.end()] == expected


def test_a_stream_that_may_have_broken_off_has_a_gap() -> None:
    """Where nothing says that it had come to its end, no ban passes by it (G12)."""
    told = {"response": {"tool_calls": "$.calls"}}
    whole = b'data: {"calls": []}\n\n'
    for sent, gaps in [
        (stream({"calls": []}), 1),
        (stream({"calls": []}, "[DONE]"), 0),
        (answer(whole, kind="text/event-stream"), 0),
        (
            answer(
                b"%x\r\n%b\r\n0\r\n\r\n" % (len(whole), whole),
                kind="text/event-stream",
                Content_Length="",
                Transfer_Encoding="chunked",
            ),
            0,
        ),
    ]:
        [reply], _ = asked(sent, **told)
        assert (names(reply), len(reply.trajectory.gaps if reply.trajectory else ())) == ([], gaps)


def test_an_answer_alone_says_nothing_of_calls() -> None:
    """A server that answers like a model may have called anything; unless the format is named, that is unknown (G3)."""
    alone = {"choices": [{"message": {"role": "assistant", "content": "Refunded."}, "finish_reason": "stop"}]}
    whole = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}]}
    calling = {"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "c", "function": CALLS[0]}]}}]}
    cases: list[tuple[Any, dict[str, Any], Any]] = [
        (alone, {}, None),
        (alone, {"format": "openai-chat"}, []),
        (whole, {}, []),
        (calling, {}, ["lookup_order"]),
    ]
    for body, described, expected in cases:
        [reply], _ = asked(answer(body), **described)
        assert names(reply) == expected
        told = reply.trajectory.warnings if reply.trajectory else ()
        assert any("name the `format`" in warning for warning in told) == (expected is None)


def test_words_of_a_stream_stay_words() -> None:
    """A piece of text that looks like a number is text; text may also be written as JSON."""
    [reply], _ = asked(stream("Order ", "42", '" is late"', "."), response={"output": "$"})
    assert reply.output == "Order 42 is late."


def test_a_conversation_that_is_mapped_from_its_start_gives_each_turn_its_own() -> None:
    """Servers of graphs answer with their whole state."""
    turns = [
        [{"role": "user", "content": "a"}, {"role": "assistant", "tool_calls": [{"id": "1", **CALLS[0]}]}],
        [{"role": "user", "content": "b"}, {"role": "assistant", "tool_calls": [{"id": "2", **CALLS[0]}]}],
    ]
    for response in ({"tool_calls": "$.messages"}, None):
        mapped = {} if response is None else {"response": response}
        answers = [answer({"messages": turns[0]}), answer({"messages": [*turns[0], *turns[1]]})]
        replies, _ = asked(*answers, said=("a", "b"), **mapped)
        assert [names(reply) for reply in replies] == [["lookup_order"], ["lookup_order"]]


def test_lines_of_json_are_a_stream_too() -> None:
    """One that says `done` ends it, though the connection stays open."""

    async def hold(request: Request, writer: asyncio.StreamWriter) -> None:
        lines = b'{"text": "a"}\n{"calls": [{"name": "f", "args": {}}]}\n\n{"text": "b", "last": true}\n'
        writer.write(answer(lines, kind="application/x-ndjson", Content_Length=""))
        await writer.drain()
        await asyncio.Event().wait()

    [reply], _ = asked(hold, response={"output": "$.text", "tool_calls": "$.calls"}, done="$.last")
    assert (reply.output, names(reply)) == ("ab", ["f"])


def test_a_secret_is_in_no_reply_and_no_error() -> None:
    """A server that echoes what it is sent does not get a secret into what is kept."""
    secret = 'sk-"quoted"-secret'
    description: dict[str, Any] = {"headers": {"Authorization": {"env": "TOKEN"}}, "environment": {"TOKEN": secret}}

    async def echo(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(answer({"output": request.headers["authorization"]}))
        await writer.drain()

    [reply], _ = asked(echo, **description)
    assert reply.output == "${TOKEN}"

    async def echo_line(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(answer({"output": request.line}))
        await writer.drain()

    [line], _ = asked(echo_line, **description, query={"key": "${TOKEN}"})
    assert line.output == "POST /chat?key=${TOKEN} HTTP/1.1"
    with pytest.raises(EndpointError) as raised:
        asked(answer(secret.encode(), "403 Forbidden"), **description)
    assert "${TOKEN}" in str(raised.value)
    assert "secret" not in str(raised.value)


def _streamed(*events: str) -> bytes:
    body = "".join(f"data: {event}\n\n" for event in (*events, "[DONE]"))
    return answer(body.encode(), kind="text/event-stream")


def _piece(delta: dict[str, Any]) -> str:
    return json.dumps({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]})


ECHOES: dict[str, bytes] = {
    "with escapes of JSON": answer(rb'{"output": "token\/one\/two", "metadata": {"token\u002fone\u002ftwo": 1}}'),
    "in pieces of a stream": _streamed('{"output": "token/on"}', '{"output": "e/two"}'),
    "in pieces of a call": _streamed(
        _piece({"tool_calls": [{"index": 0, "id": "1", "function": {"name": "f", "arguments": '{"key": "token/'}}]}),
        _piece({"tool_calls": [{"index": 0, "function": {"arguments": 'one/two"}'}}]}),
    ),
    "in the words of a status": answer(b"", "401 No token/one/two"),
    "as the type of the content": answer(b"x", kind="text/token/one/two"),
    "in an event that is none": _streamed('{"output": token/one/two'),
}


@pytest.mark.parametrize("way", ECHOES)
def test_no_secret_comes_back_in_another_way(way: str) -> None:
    """Whatever was made of a reply, and every error, is searched once more."""
    description: dict[str, Any] = {"headers": {"Authorization": "Bearer ${TOKEN}"}}
    try:
        told = str(asked(ECHOES[way], environment={"TOKEN": "token/one/two"}, **description)[0][0])
    except EndpointError as error:
        told = str(error)
    assert ("/two" in told, "${TOKEN}" in told) == (False, True), told


def test_a_secret_that_is_not_set_is_missed_before_anything_is_sent() -> None:
    """The environment variable is named."""
    with pytest.raises(UsageError, match="the endpoint needs the environment variable `TOKEN`, which is not set"):
        asked(GET_BODY, headers={"Authorization": "Bearer ${TOKEN}"})


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ({"http": {"url": "x"}}, "http.url: expected an address that begins with `http://` or `https://`, found `x`"),
        ({"http": {}}, "http: expected the key `url`, which is missing"),
        ({"http": {"url": "http://h", "header": {}}}, "did you mean `headers`?"),
        ({"http": {"url": "http://u:p@h"}}, "http.url: a password is a secret"),
        ({"http": {"url": "http://h", "headers": {"Authorization": "Bearer x"}}}, "http.headers.Authorization: "),
        ({"http": {"url": "http://h", "response": {"output": "answer"}}}, "perhaps `$.answer`"),
        ({"http": {"url": "http://h", "response": {"output": "$.a["}}}, "http.response.output: this is no JSONPath"),
        ({"http": {"url": "http://h", "body": {"a": ["{{ x"]}}}, "http.body.a[0]: this is no template of Jinja"),
        ({"http": {"url": "http://h", "body": {}, "form": {}}}, "http.form: `body` and `form` are two bodies"),
        ({"http": {"url": "http://h", "format": "openai"}}, "http.format: no format `openai`"),
        ({"http": {"url": "http://h", "format": "anthropic", "response": {}}}, "http.format: `format` is for replies"),
        ({"http": {"url": "http://h", "timeout": 0}}, "http.timeout: "),
        (
            {"websocket": {"url": "ws://h/{{ test }}"}},
            "websocket.url: is the same for all turns and can be no template",
        ),
        (
            {"openai": {"url": "http://h", "model": "m", "headers": {"X": "{{ test }}"}}},
            "openai.headers.X: is the same",
        ),
        ({"htp": {}}, "htp: there is no way `htp` to reach an agent (did you mean `http`?)"),
        ({}, "expected a mapping with one key"),
        ({"http": "http://h", "python": "a:b"}, "found the keys `http`, `python`"),
        (7, "found the number 7"),
    ],
)
def test_a_description_that_cannot_be_used_is_refused_with_its_place(description: Any, message: str) -> None:
    """Unknown keys have a nearest one; templates and paths are compiled when the endpoint is opened."""
    with pytest.raises(RightcallError) as raised:
        endpoints.open(endpoints.read(description), {}, "")
    assert isinstance(raised.value, TestSetError)
    assert message in str(raised.value)
