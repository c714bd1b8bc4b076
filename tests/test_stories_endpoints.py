"""Refunds, driven: agents behind REST, behind a WebSocket and in Python, from the test set to the exit code."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from websockets.asyncio.server import ServerConnection, serve

from support.command_line import Ran, run_here
from support.loopback import Request, answer, in_background, serving
from support.tracing import fresh

pytestmark = pytest.mark.usefixtures(fresh.__name__)
TESTS: list[dict[str, Any]] = [
    {
        "id": "late-order",
        "category": "Refunds",
        "topic": "Late orders",
        "requirement": "Follows the refund process",
        "prompt": "My order 42 arrived late, I want my money back.",
        "expected_tool_calls": [{"name": "lookup_order", "arguments": {"order_id": 42}}, {"name": "issue_refund"}],
    },
    {
        "id": "first-look",
        "turns": [
            {"prompt": "Where is order 42?", "expected_tool_calls": ["lookup_order"], "match": "exact"},
            {"prompt": "Thanks, nothing else.", "expected_tool_calls": []},
            {"prompt": "I want my money back.", "expected_tool_calls": ["issue_refund"], "match": "exact"},
        ],
        "expected_tool_calls": ["lookup_order", "issue_refund"],
        "forbidden_tools": ["delete_order"],
    },
]
LOOKUP = {"name": "lookup_order", "arguments": {"order_id": 42}}
REFUND = {"name": "issue_refund", "arguments": {"order_id": 42, "amount": 19}}
PASSED = "passed 2, failed 0, errors 0"
Answers = Callable[[str], list[dict[str, Any]] | None]


def good(said: str) -> list[dict[str, Any]] | None:
    """What an agent calls that follows the process."""
    found = [LOOKUP] if "order 42" in said else []
    return [*found, REFUND] if "money" in said else found


@asynccontextmanager
async def over_rest(answers: Answers, **more: Any) -> AsyncIterator[dict[str, Any]]:
    """An agent behind REST that keeps conversations by ids of its own, and the description of it."""
    sessions: dict[str, int] = {}

    async def reply(request: Request, writer: Any) -> None:
        session = request.json["session"] or f"s{len(sessions)}"
        sessions[session] = sessions.get(session, 0) + 1
        told = {
            "text": "…",
            "session": session,
            "turn": sessions[session],
            "trace": {"calls": answers(request.json["message"])},
        }
        writer.write(answer({**told, "tools": [{"name": "delete_order", "input_schema": {"type": "object"}}], **more}))

    async with serving(reply) as server:
        yield {
            "http": {
                "url": f"{server.url}/chat",
                "headers": {"X-Key": "${REFUND_KEY}"},
                "body": {"message": "{{ input }}", "session": "{{ conversation_id }}"},
                "response": {
                    "output": "$.text",
                    "tool_calls": "$.trace.calls",
                    "conversation_id": "$.session",
                    "metadata": {"turn": "$.turn"},
                    "error": "$.failure",
                },
            }
        }


@asynccontextmanager
async def over_websocket(answers: Answers) -> AsyncIterator[dict[str, Any]]:
    """An agent behind a WebSocket that tells each call when it makes it, and the description of it."""

    async def talk(socket: ServerConnection) -> None:
        async for message in socket:
            for call in answers(json.loads(message)["say"]) or ():
                await socket.send(json.dumps({"type": "call", "call": call}))
                await socket.send(json.dumps({"type": "text", "text": "…"}))
            await socket.send(json.dumps({"type": "end", "calls": []}))

    async with serve(talk, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        yield {
            "websocket": {
                "url": f"ws://127.0.0.1:{port}/",
                "message": {"say": "{{ input }}"},
                "response": {"output": "$.text", "tool_calls": "$['call', 'calls']"},
                "done": "{{ reply.type == 'end' }}",
            }
        }


PYTHON = """
import rightcall

@rightcall.tool
def lookup_order(order_id): return "late"

@rightcall.tool
def issue_refund(order_id, amount): return "paid"

class Agent:
    def __init__(self):
        self.said = []

    async def __call__(self, text):
        self.said.append(text)
        if "order 42" in text:
            lookup_order(42)
        if "money" in text:
            issue_refund(order_id=42, amount=19)
        return f"turn {len(self.said)}"
"""


@pytest.fixture
def run(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the tests against an agent that is described, from a file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REFUND_KEY", "sk-planted-secret")

    def command(endpoint: Mapping[str, Any], *options: str) -> Ran:
        file = tmp_path / "refund.rightcall.yaml"
        head = {"version": 1, "name": "Refund flow", "endpoint": dict(endpoint), "tests": TESTS}
        with file.open("w", encoding="utf-8") as text:
            YAML(typ="safe").dump(head, text)
        return run_here(capfdbinary, "run", file.name, "--no-color", *options)

    return command


@pytest.mark.parametrize("over", [over_rest, over_websocket])
def test_an_agent_that_follows_the_process_passes(
    run: Any, over: Callable[[Answers], AbstractAsyncContextManager[dict[str, Any]]]
) -> None:
    """Mapped calls, in one turn and over three, of which one has none."""
    with in_background(over(good)) as endpoint:
        ran = run(endpoint)
    assert (ran.code, PASSED in ran.out) == (0, True), ran


def test_a_function_with_traced_tools_passes(run: Any, tmp_path: Path) -> None:
    """The calls are those of its spans; nothing has to be mapped."""
    (tmp_path / "refund_agent.py").write_text(PYTHON, "utf-8")
    ran = run({"python": "refund_agent.py:Agent"})
    assert (ran.code, PASSED in ran.out) == (0, True), ran


@pytest.mark.parametrize("over", [over_rest, over_websocket])
def test_an_agent_that_skips_a_step_fails_by_the_call_that_it_did_not_make(run: Any, over: Any) -> None:
    """In the words of the metric."""
    with in_background(over(lambda said: [REFUND] if "money" in said else [])) as endpoint:
        ran = run(endpoint)
    assert ran.code == 1
    assert "Expected lookup_order; it was never called." in ran.out
    assert "passed 0, failed 2, errors 0" in ran.out


def test_an_agent_that_does_not_report_calls_is_not_judged(run: Any) -> None:
    """`null` is no evidence that none were made: the run is incomplete (G3, G39)."""
    with in_background(over_rest(lambda said: None)) as endpoint:
        ran = run(endpoint)
    assert (ran.code, "passed 0, failed 0, errors 2" in ran.out) == (3, True), ran


def test_what_the_agent_says_of_its_failure_is_a_failed_test(run: Any) -> None:
    """The message is shown (G38)."""
    with in_background(over_rest(good, failure={"message": "no stock"})) as endpoint:
        ran = run(endpoint)
    assert (ran.code, "The agent failed: no stock" in ran.out) == (1, True), ran


def test_trouble_on_the_way_is_never_a_failed_test(run: Any) -> None:
    """A server that is broken, and a mapping that leads to the wrong place, leave the run incomplete (G38, G39)."""

    async def broken(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(b"boom", "500 Internal Server Error"))

    with in_background(serving(broken)) as server:
        ran = run({"http": server.url}, "--retries", "0")
    assert (ran.code, "status 500 Internal Server Error" in ran.out) == (3, True), ran
    with in_background(over_rest(good)) as endpoint:
        wrong = {**endpoint["http"], "response": {"tool_calls": "$.tools"}}
        ran = run({"http": wrong})
    assert (ran.code, "this defines a tool that could be called" in ran.out) == (3, True), ran


def test_a_secret_is_in_nothing_that_is_written(run: Any, tmp_path: Path) -> None:
    """Not in the output, the reports, the journal or the copy of the test set; the agent gets it and gives it back."""

    async def echo(request: Request, writer: asyncio.StreamWriter) -> None:
        key = request.headers["x-key"]
        assert key == "sk-planted-secret"
        call = {"name": "lookup_order", "arguments": {"order_id": 42, "key": key}}
        writer.write(answer({"text": key, "session": key, "trace": {"calls": [call]}, "failure": f"wrong key {key}"}))

    with in_background(over_rest(good)) as endpoint, in_background(serving(echo)) as server:
        ran = run(
            {"http": {**endpoint["http"], "url": f"{server.url}/?key=${{REFUND_KEY}}"}},
            *("-o", "out.json", "-o", "junit.xml", "-o", "summary.md", "--out-dir", "runs"),
        )
    assert ran.code == 1
    written = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert len(written) > 6
    assert [path for path, data in written.items() if b"planted" in data] == []
    assert "planted" not in ran.out + ran.err
    assert "wrong key ${REFUND_KEY}" in ran.out
