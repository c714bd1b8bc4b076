"""Servers of this process that agents stand behind: what they were asked, and what they answer, byte for byte."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from typing import Any, NamedTuple, TypeVar

from rightcall.agents import endpoints
from rightcall.agents.exchange import Reply, Turn
from rightcall.errors import EndpointError

T = TypeVar("T")


class Request(NamedTuple):
    """A request as it came: its first line, its headers in small letters, its body."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Answer = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]
"""Answers one request; the connection is closed after it."""


class Server:
    """Where it listens, and what it was asked."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.requests: list[Request] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


async def _request(reader: asyncio.StreamReader) -> Request | None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (one.partition(":") for one in lines)}
    return Request(line, headers, await reader.readexactly(int(headers.get("content-length", "0"))))


@asynccontextmanager
async def serving(*answers: Answer | bytes, tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    """A server that gives each connection the next answer, the last one again and again."""
    left = list(answers)

    serving_now: set[asyncio.Task[Any]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving_now.add(task)
        try:
            request = await _request(reader)
            if request is None:
                return
            server.requests.append(request)
            answer = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(request, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return
        finally:
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError, ssl.SSLError):
                await writer.wait_closed()
            writer.transport.abort()  # whoever does not read, or does not say goodbye, is not waited for
            serving_now.discard(task)

    listener = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    server = Server(listener.sockets[0].getsockname()[1])
    try:
        yield server
    finally:
        await _rounds()  # a connection that is just being accepted is lost to a listener that is closed meanwhile
        listener.close()
        for task in serving_now:
            task.cancel()
        await asyncio.gather(*serving_now)
        await _rounds()


async def _rounds() -> None:
    """Let the loop do what is due."""
    for _ in range(5):
        await asyncio.sleep(0)


def answer(body: bytes | Any, status: str = "200 OK", kind: str = "application/json", **headers: str) -> bytes:
    """A whole answer; a body that is no bytes is written as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    told = {"Content-Type": kind, "Content-Length": str(len(data)), "Connection": "close"}
    told |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in told.items() if value)
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + data


def stream(*events: Any, kind: str = "text/event-stream") -> bytes:
    """A stream of events; a pair is a named one, text is its data as it is."""
    told = b""
    for event in events:
        name, value = event if isinstance(event, tuple) else ("", event)
        data = value if isinstance(value, str) else json.dumps(value)
        told += (f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode()
    return answer(told, kind=kind, Content_Length="")


async def talked(
    description: Any,
    *inputs: Any,
    environment: Mapping[str, str] | None = None,
    directory: str = "",
) -> list[Reply]:
    """The replies of an agent to what the user says turn by turn, in one conversation."""
    endpoint = endpoints.open(endpoints.read(description), environment or {}, directory)
    found: list[Reply] = []
    try:
        async with endpoint.conversation() as conversation:
            for number, said in enumerate(inputs, 1):
                known = found[-1].conversation_id if found else None
                turn = Turn(input=said, number=number, attempt="attempt-1", conversation_id=known, test="refund")
                found.append(await conversation.send(turn))
    finally:
        await endpoint.close()
    return found


async def failed(description: Any, said: Any = "hi", **how: Any) -> EndpointError:
    """The trouble that there is with an agent."""
    try:
        reply = await talked(description, said, **how)
    except EndpointError as error:
        return error
    raise AssertionError(f"there was a reply: {reply}")


@contextmanager
def in_background(server: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """A server in an event loop of another thread, for commands that have a loop of their own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        found = asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
        try:
            yield found
        finally:
            asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
