"""Agents behind protocols of others: OpenAI's chat completions, and MCP over both of its transports."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from rightcall.agents.exchange import Reply
from rightcall.core.calls import Trajectory
from rightcall.errors import EndpointError, TestSetError, UsageError
from support import mcp_agent
from support.loopback import Request, answer, failed, serving, stream, talked

TOOLS = [{"type": "function", "function": {"name": "lookup_order", "parameters": {"type": "object"}}}]


def completion(content: str | None = None, *calls: str) -> bytes:
    """An answer of a model, with calls of tools by their names."""
    made = [
        {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": '{"order_id": 42}'}}
        for number, name in enumerate(calls)
    ]
    message = {"role": "assistant", "content": content, **({"tool_calls": made} if made else {})}
    return answer({"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


def asked(*answers: Any, said: tuple[Any, ...] = ("hi",), **description: Any) -> tuple[list[Reply], list[Request]]:
    """The replies of a model, and what it was asked."""

    async def main() -> tuple[list[Reply], list[Request]]:
        async with serving(*answers) as server:
            told = {"openai": {"url": f"{server.url}/v1", "model": "small", **description}}
            return await talked(told, *said, environment={"KEY": "sk-secret-key"}), server.requests

    return asyncio.run(main())


def trajectory(reply: Reply) -> Trajectory:
    """The trajectory of a reply, which is there."""
    assert reply.trajectory is not None
    return reply.trajectory


def calls(reply: Reply) -> list[tuple[str, Any, str]]:
    """Name, arguments and status of each call."""
    return [(call.name, call.arguments, call.status) for call in trajectory(reply).tool_calls or ()]


def test_a_model_is_asked_and_its_calls_are_of_the_turn() -> None:
    """The whole conversation is sent each time; a call without a result is told as not run if the user goes on."""
    replies, requests = asked(
        completion(None, "lookup_order"),
        completion("It is late."),
        said=("Where is 42?", "And?"),
        tools=TOOLS,
        system="Be brief.",
        api_key={"env": "KEY"},
        parameters={"temperature": 0},
    )
    assert [calls(reply) for reply in replies] == [[("lookup_order", {"order_id": 42}, "requested")], []]
    assert (replies[1].output, trajectory(replies[0]).available_tools[0].name) == ("It is late.", "lookup_order")
    assert (requests[0].line, requests[0].headers["authorization"]) == (
        "POST /v1/chat/completions HTTP/1.1",
        "Bearer sk-secret-key",
    )
    second = requests[1].json
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "tool", "user"]
    assert (second["model"], second["temperature"], second["tools"]) == ("small", 0, TOOLS)


def test_a_call_with_a_canned_result_is_answered_with_it() -> None:
    """The model goes on within the turn, which has all calls and results of it."""
    [reply], requests = asked(
        completion(None, "lookup_order"), completion("It is late."), results={"lookup_order": {"late": True}}
    )
    assert (calls(reply), reply.output) == ([("lookup_order", {"order_id": 42}, "ok")], "It is late.")
    assert requests[1].json["messages"][-1] == {"role": "tool", "tool_call_id": "c0", "content": '{"late":true}'}


def test_answers_may_be_streamed() -> None:
    """Pieces are put together, and what they come to is part of the next request."""

    def piece(delta: dict[str, Any], end: str | None = None) -> dict[str, Any]:
        return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}

    function = {"name": "lookup_order", "arguments": '{"order_'}
    begun = {"role": "assistant", "tool_calls": [{"index": 0, "id": "c0", "type": "function", "function": function}]}
    more = {"tool_calls": [{"index": 0, "function": {"arguments": 'id": 42}'}}]}
    [first, _], requests = asked(
        stream(piece(begun), piece(more), piece({}, "tool_calls"), "[DONE]"),
        completion("Yes."),
        said=("a", "b"),
        parameters={"stream": True},
    )
    assert calls(first) == [("lookup_order", {"order_id": 42}, "requested")]
    assert requests[1].json["messages"][1]["tool_calls"][0]["function"]["name"] == "lookup_order"


def test_a_model_that_never_ends_and_one_that_says_nothing_are_trouble() -> None:
    """Canned results could go on for ever; an answer without a choice is none."""
    with pytest.raises(EndpointError, match="did not come to an end within 20 answers"):
        asked(completion(None, "f"), results={"f": 1})
    with pytest.raises(EndpointError, match="the reply is no chat completion"):
        asked(answer({"error": {"message": "overloaded"}}))
    with pytest.raises(EndpointError, match="status 401 Unauthorized") as raised:
        asked(answer(b"wrong key sk-secret-key", "401 Unauthorized"), api_key={"env": "KEY"})
    assert "sk-secret" not in str(raised.value)


def test_a_description_of_a_model_is_checked() -> None:
    """A key by its name only; keys that stand for themselves are no further ones."""
    with pytest.raises(UsageError, match="environment variable `NONE`, which is not set"):
        asked(api_key={"env": "NONE"})
    with pytest.raises(TestSetError, match=r"openai\.parameters\.model"):
        asked(parameters={"model": "large"})
    with pytest.raises(TestSetError, match=r"openai\.api_key: expected"):
        asked(api_key="sk-secret")


def mcp(said: str = "Refund!", **description: Any) -> list[Reply]:
    """The replies of the agent that serves MCP as a program."""
    program = [sys.executable, str(Path(mcp_agent.__file__))]
    return asyncio.run(talked({"mcp": {"command": program, **description}}, said))


def test_a_tool_of_an_mcp_program_is_the_agent() -> None:
    """It is called with what the user says; structured content is its reply."""
    [reply] = mcp(tool="ask")
    assert isinstance(reply.tool_calls, tuple)
    assert (reply.output, [call.name for call in reply.tool_calls]) == ("done: Refund!", ["lookup_order"])


def test_tools_of_an_mcp_server_are_asked_over_http() -> None:
    """Text, mapped content, failures of the agent, and what is no agent at all (G38)."""
    port = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{port.getsockname()[1]}/mcp"
    mapped = {"output": "{{ reply.text | upper }}", "tool_calls": "$.structured.tool_calls[*]"}
    config = uvicorn.Config(mcp_agent.server.streamable_http_app(), log_level="critical", lifespan="on")

    async def main() -> tuple[list[Reply], list[EndpointError]]:
        web = uvicorn.Server(config)
        serving_now = asyncio.create_task(web.serve(sockets=[port]))
        while not web.started:
            await asyncio.sleep(0)
        told: list[dict[str, Any]] = [
            {"tool": "say"},
            {"tool": "fail"},
            {"tool": "ask", "arguments": {"prompt": "turn {{ number }}"}},
        ]
        good = [(await talked({"mcp": {"url": address, **one}}, "x"))[0] for one in told]
        good += await talked({"mcp": {"url": address, "tool": "ask", "response": mapped}}, "x")
        wrong: list[dict[str, Any]] = [{"tool": "aks"}, {"tool": "ask", "argument": "q"}]
        bad = [await failed({"mcp": {"url": address, **one}}) for one in wrong]
        web.should_exit = True
        await serving_now
        return [*good], [*bad, await failed({"mcp": {"url": address, "tool": "ask"}})]

    (text, failure, structured, calling), errors = asyncio.run(main())
    assert (text.output, failure.error) == ("done: x", "Error executing tool fail: no stock for x")
    assert (structured.output, isinstance(calling.tool_calls, tuple)) == ("done: turn 1", True)
    assert json.loads(calling.output)["OUTPUT"] == "DONE: X"
    assert [(str(error), error.is_passing) for error in errors[:2]] == [
        ("the server has no tool `aks` (did you mean `ask`?); it has `ask`, `say`, `fail`", False),
        ("the tool `ask` has no argument `q`; it has `prompt`; set `argument`", False),
    ]
    assert ("cannot be asked" in str(errors[2]), errors[2].is_passing) == (True, True)


def test_a_description_of_mcp_names_one_server() -> None:
    """An address or a program; one that cannot be started will not start later."""
    error = asyncio.run(failed({"mcp": {"command": ["no-such-program"], "tool": "ask"}}))
    assert ("No such file" in str(error), error.is_passing) == (True, False)
    with pytest.raises(TestSetError, match="mcp: expected `url` or `command`, and not both"):
        asyncio.run(failed({"mcp": {"tool": "ask"}}))
