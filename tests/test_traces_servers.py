"""The server of a call over the Model Context Protocol, as each format names it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rightcall import traces
from support.spanning import ran, span

RPC = {"jsonrpc": "2.0"}
HANDSHAKE = [
    {**RPC, "id": 0, "method": "initialize", "params": {}},
    {**RPC, "id": 0, "result": {"serverInfo": {"name": "docs", "version": "1"}, "capabilities": {}}},
    {**RPC, "id": 1, "method": "tools/call", "params": {"name": "a", "arguments": {}}},
]
FUNCTION = {"type": "function", "name": "a", "input": "{}", "output": "x", "mcp_data": {"server": "docs"}}
LOGFIRE = {"logfire.msg_template": "Function: {name}", "name": "a", "input": "{}", "mcp_data": '{"server": "docs"}'}

DOCUMENTS: dict[str, Any] = {
    "native": [{"name": "a", "kind": "mcp", "server": "docs"}],
    "openai-responses": [{"type": "mcp_call", "id": "m", "name": "a", "arguments": "{}", "server_label": "docs"}],
    "openai-responses, before its approval": [
        {"role": "user", "content": "Go."},
        {"type": "mcp_approval_request", "id": "m", "name": "a", "arguments": "{}", "server_label": "docs"},
    ],
    "anthropic": [
        {
            "role": "assistant",
            "content": [{"type": "mcp_tool_use", "id": "m", "name": "a", "input": {}, "server_name": "docs"}],
        }
    ],
    "mcp-jsonrpc": HANDSHAKE,
    "openai-agents": [
        {
            "object": "trace.span",
            "id": "s",
            "trace_id": "t",
            "started_at": "2026-01-01T00:00:00Z",
            "span_data": FUNCTION,
        }
    ],
    "otel-genai, by name": span(1, {**ran("a", {}), "mcp.method.name": "tools/call", "mcp.server.name": "docs"}),
    "otel-genai, by address": span(1, {**ran("a", {}), "mcp.method.name": "tools/call", "server.address": "docs"}),
    "otel-genai, in a message": span(
        1,
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.output.messages": json.dumps(
                [{"role": "assistant", "content": [{"type": "mcp_call", "name": "a", "server_label": "docs"}]}]
            ),
        },
    ),
    "logfire": span(1, LOGFIRE),
    "codex": [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {
            "type": "item.completed",
            "item": {"id": "i", "type": "mcp_tool_call", "server": "docs", "tool": "a", "arguments": {}},
        },
    ],
}


@pytest.mark.parametrize(("name", "document"), DOCUMENTS.items(), ids=DOCUMENTS)
def test_the_server_is_named(name: str, document: Any) -> None:
    """The call is of kind `mcp` and has the server that the trace names."""
    (call,) = traces.read_object(document, format=name.partition(",")[0]).tool_calls or ()
    assert (call.name, call.kind, call.server) == ("a", "mcp", "docs")


def test_calls_of_other_kinds_have_no_server() -> None:
    """An address on a span of a tool that is not of the protocol is something else."""
    (call,) = traces.read_object(span(1, {**ran("a", {}), "server.address": "docs"})).tool_calls or ()
    assert (call.kind, call.server) == ("client", None)


def test_each_connection_has_its_own_server() -> None:
    """A new handshake that names none leaves the next calls without one."""
    again = [{**RPC, "id": 2, "method": "initialize", "params": {}}, {**HANDSHAKE[2], "id": 3}]
    calls = traces.read_object([*HANDSHAKE, *again]).tool_calls or ()
    assert [call.server for call in calls] == ["docs", None]
