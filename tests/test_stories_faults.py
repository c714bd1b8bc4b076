"""Agents that break or fail, through `rightcall run`: trouble on the way is exit code 3, the agent's failure is 1."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket as sockets
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from support import mcp_agent
from support.command_line import run_here
from support.driven_agents import AGENTS, SAID, TURNS
from support.loopback import Request, answer, in_background, serving
from support.running import attempts, run_directory
from support.tracing import fresh

pytestmark = [
    pytest.mark.usefixtures(fresh.__name__),
    pytest.mark.filterwarnings("ignore::UserWarning:google.adk", "ignore::DeprecationWarning:google.adk"),
]
TEST: dict[str, Any] = {
    "id": "t",
    "prompt": "hi",
    "expected_tool_calls": [],
    "forbidden_tools": ["delete_order"],
    "allowed_tools": ["lookup_order"],
}
"""Everything in it would pass if a conversation that was not held counted as one without calls."""


async def _hang(request: Request, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def _reset(request: Request, writer: asyncio.StreamWriter) -> None:
    raw = writer.get_extra_info("socket")
    raw.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    writer.transport.abort()


async def _flood(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000000\r\n\r\n[")
    with contextlib.suppress(ConnectionError):
        for _ in range(1000):
            writer.write(b"0," * 50_000)
            await writer.drain()


_HALF = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{"output": "x"}'
HTTP: dict[str, tuple[Any, dict[str, Any], str]] = {
    "hang": (_hang, {"timeout": 0.1}, "no whole reply within 0.1 s"),
    "reset": (_reset, {}, "the connection broke"),
    "500": (answer(b"boom", "500 Internal Server Error"), {}, "status 500"),
    "429": (answer(b"", "429 Too Many Requests"), {}, "status 429"),
    "401": (answer(b"", "401 Unauthorized"), {}, "status 401"),
    "half a body": (_HALF, {}, "the connection broke"),
    "invalid JSON": (answer(b'{"output": '), {}, "the reply is no whole JSON"),
    "100 MB": (_flood, {}, "the reply has more than 50,000,000 bytes"),
    "wrong type": (answer({"tool_calls": 7}), {}, "expected tool calls"),
    "a page": (answer(b"<html>", kind="text/html"), {}, "found the content type `text/html`"),
    "redirect loop": (answer(b"", "307 Temporary Redirect", Location="/again"), {}, "more than 5 redirects"),
    "closed socket": (b"", {}, "the connection broke"),
}
OPENAI = {
    **{name: HTTP[name] for name in ("hang", "reset", "500", "429", "401", "half a body")},
    "invalid JSON": (HTTP["invalid JSON"][0], {}, "the reply is no chat completion: the document is cut off"),
    "a page": (HTTP["a page"][0], {}, "the reply is no chat completion"),
}


async def _ends(socket: ServerConnection) -> None:
    await socket.recv()
    await socket.send('{"text": "x", "calls": []}')


async def _breaks(socket: ServerConnection) -> None:
    await socket.recv()
    socket.transport.abort()


async def _babbles(socket: ServerConnection) -> None:
    await socket.recv()
    await socket.send('{"type": ')


async def _waits(socket: ServerConnection) -> None:
    await socket.wait_closed()


async def _fails(socket: ServerConnection) -> None:
    await socket.recv()
    await socket.send('{"type": "end", "failure": "no stock"}')


WEBSOCKET: dict[str, tuple[Any, str]] = {
    "hang": (_waits, "no whole reply within 0.2 s"),
    "reset": (_breaks, "the socket broke before the reply had ended"),
    "invalid JSON": (_babbles, "a message is no whole JSON"),
    "closed socket": (_ends, "the server closed the socket before the reply had ended"),
}

AGENT = """
import time
from rightcall.errors import EndpointError

def hang(text):
    time.sleep(0.5)

def unreachable(text):
    raise EndpointError("the model is away")

def wrong(text):
    return {"tool_calls": 7}

def reports(text):
    return {"error": "no stock", "tool_calls": []}

def raises(text):
    raise ValueError("no stock")
"""


@pytest.fixture
def run(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs one test against the agent that is described: the exit code, its result, and its only attempt."""
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("agent.py").write_text(AGENT)

    def command(endpoint: Mapping[str, Any], test: Mapping[str, Any] = TEST) -> tuple[int, str, dict[str, Any]]:
        written = {"version": 1, "endpoint": dict(endpoint), "tests": [dict(test)]}
        tmp_path.joinpath("t.json").write_text(json.dumps(written))
        ran = run_here(capfdbinary, "run", "t.json", "--json", "--retries", "0")
        assert ran.out, ran.err
        (result,) = json.loads(ran.out)["results"]
        return ran.code, result["outcome"], result["attempts"][0]

    return command


def is_trouble(ran: tuple[int, str, dict[str, Any]], cause: str) -> bool:
    """Whether it is an error with its cause, in which nothing was judged, and the run is incomplete (G38, G39)."""
    code, outcome, attempt = ran
    assert (code, outcome, attempt["verdicts"]) == (3, "error", [])
    assert cause in attempt["reason"]
    return True


def is_failure(ran: tuple[int, str, dict[str, Any]], cause: str = "no stock") -> bool:
    """Whether it is a failure of the agent, beside which nothing passed by what was not called (G38)."""
    code, outcome, attempt = ran
    first, *others = attempt["verdicts"]
    assert (code, outcome, first["name"], first["status"]) == (1, "fail", "agent_failed", "fail")
    assert (cause in first["reason"], "pass" in [verdict["status"] for verdict in others]) == (True, False)
    return True


@pytest.mark.parametrize("fault", HTTP)
def test_http(run: Any, fault: str) -> None:
    """Whatever a server does wrong."""
    answering, description, cause = HTTP[fault]
    with in_background(serving(answering)) as server:
        assert is_trouble(run({"http": {"url": f"{server.url}/chat", **description}}), cause)


@pytest.mark.parametrize("fault", OPENAI)
def test_openai(run: Any, fault: str) -> None:
    """The same of a server of chat completions."""
    answering, description, cause = OPENAI[fault]
    with in_background(serving(answering)) as server:
        assert is_trouble(run({"openai": {"url": server.url, "model": "small", **description}}), cause)


@asynccontextmanager
async def _websocket(talk: Any) -> AsyncIterator[dict[str, Any]]:
    """A server of websockets, and the description of it."""
    async with serve(talk, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        response = {"output": "$.text", "tool_calls": "$.calls", "error": "$.failure"}
        told = {"url": f"ws://127.0.0.1:{port}/", "response": response, "done": "{{ reply.type == 'end' }}"}
        yield {"websocket": {**told, "timeout": 0.2}}


@pytest.mark.parametrize("fault", WEBSOCKET)
def test_websocket(run: Any, fault: str) -> None:
    """Sockets that are closed, break, or say nothing."""
    talk, cause = WEBSOCKET[fault]
    with in_background(_websocket(talk)) as endpoint:
        assert is_trouble(run(endpoint), cause)


def test_what_servers_say_of_their_failure(run: Any) -> None:
    """Over HTTP and over a socket."""
    with in_background(serving(answer({"error": "no stock", "tool_calls": []}))) as server:
        assert is_failure(run({"http": server.url}))
    with in_background(_websocket(_fails)) as endpoint:
        assert is_failure(run(endpoint))


@pytest.mark.parametrize(
    ("function", "cause"),
    [("hang", "no reply"), ("unreachable", "the model is away"), ("wrong", "expected tool calls")],
)
def test_python(run: Any, function: str, cause: str) -> None:
    """A function that hangs, says that it cannot be reached, or returns what is no reply."""
    assert is_trouble(run({"python": {"call": f"agent.py:{function}", "timeout": 0.1}}), cause)


@pytest.mark.parametrize("function", ["reports", "raises"])
def test_what_functions_report_and_raise(run: Any, function: str) -> None:
    """Both are the agent's own."""
    assert is_failure(run({"python": f"agent.py:{function}"}))


def _program(code: str, **more: Any) -> dict[str, Any]:
    return {"command": {"argv": [sys.executable, "-c", code], **more}}


@pytest.mark.parametrize(
    ("endpoint", "cause"),
    [
        (_program("import time; time.sleep(60)", timeout=0.3), "did not end within 0.3 s"),
        (_program("print('{\"output\": ')"), "whole JSON"),
        (_program("print('x' * 2000)", max_bytes=1000), "more than 1,000 bytes"),
        ({"command": ["./none"]}, "cannot be started"),
    ],
)
def test_command(run: Any, endpoint: dict[str, Any], cause: str) -> None:
    """A program that hangs, prints what is no reply or too much, or is not there."""
    assert is_trouble(run(endpoint), cause)


@pytest.mark.parametrize(
    "code", ["import sys; sys.exit('no stock')", 'print(\'{"error": "no stock", "tool_calls": []}\')']
)
def test_what_programs_report(run: Any, code: str) -> None:
    """By their exit code, or in their reply."""
    assert is_failure(run(_program(code)))


@pytest.mark.parametrize("tool", ["fail", "aks"])
def test_mcp(run: Any, tool: str) -> None:
    """A tool that fails is an agent that fails; one that is not there is trouble."""
    ran = run({"mcp": {"command": [sys.executable, str(Path(mcp_agent.__file__))], "tool": tool}})
    assert is_failure(ran) if tool == "fail" else is_trouble(ran, "has no tool `aks`")


def test_an_mcp_server_that_ends_at_once(run: Any) -> None:
    """Nothing was asked of it."""
    assert is_trouble(run({"mcp": {"command": [sys.executable, "-c", ""], "tool": "ask"}}), "cannot be asked")


@pytest.mark.parametrize("agent", AGENTS)
def test_agents_of_frameworks(run: Any, tmp_path: Path, agent: Any) -> None:
    """What a real framework was driven to call is what its scripted model asked for, turn by turn, and is graded so."""
    called = [[{"name": name, "arguments": arguments} for name, arguments in turn] for turn in TURNS]
    turns = [
        {"prompt": said, "expected_tool_calls": calls, "match": "exact", "arguments": "exact"}
        for said, calls in zip(("Where is order 42?", "Then I want my money back."), called, strict=True)
    ]
    ran = run({"python": f"support.driven_agents:{agent.__name__}"}, {"id": "t", "turns": turns})
    assert ran[:2] == (0, "pass"), ran
    (attempt,) = attempts(run_directory(tmp_path))
    made = [(call["turn"], call["name"], call["arguments"]) for call in attempt["tool_calls"]]
    assert made == [(at, name, arguments) for at, turn in enumerate(TURNS) for name, arguments in turn]
    assert (attempt["output"], attempt.get("gaps", [])) == (SAID[-1], [])
