"""Readers of messages, items and sessions alike: odd input, long files, silence of the model, broken lines."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError

KEYS = st.sampled_from(
    [
        "type", "role", "content", "id", "name", "input", "output", "arguments", "call_id", "status", "action", "code",
        "tool_use_id", "is_error", "caller", "tool_id", "stop_reason", "messages", "tools", "request", "response",
        "object", "item", "items", "output_index", "delta", "index", "content_block", "message", "partial_json",
        "custom_id", "result", "previous_response_id", "conversation", "approval_request_id", "approve", "server_label",
        "tool_uses", "recipient_name", "parameters", "error", "text", "url", "queries", "results", "metadata",
        "sessionId", "session_id", "uuid", "parentUuid", "isSidechain", "toolUseResult", "loglines", "leafUuid",
        "timestamp", "payload", "thread_id", "command", "exit_code", "tool", "server", "changes", "forked_from_id",
        "jsonrpc", "method", "params", "structuredContent", "isError", "requestId", "$schemaVersion", "span_data",
        "model_responses", "generated_items", "session_items", "original_input", "raw_item", "agent", "trace_id",
        "parent_id", "started_at", "ended_at", "context", "approvals", "current_step", "interruptions", "data",
        "parent_tool_use_id", "from_agent", "to_agent", "mcp_data", "prompt", "subagent_type",
    ]
)  # fmt: skip
WORDS = st.sampled_from(
    [
        "user", "assistant", "system", "tool", "message", "function_call", "function_call_output", "custom_tool_call",
        "mcp_call", "mcp_approval_request", "mcp_approval_response", "web_search_call", "odd_call", "item_reference",
        "reasoning", "tool_use", "server_tool_use", "mcp_tool_use", "tool_result", "web_search_tool_result", "text",
        "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
        "input_json_delta", "response.created", "response.output_item.added", "response.output_item.done", "response",
        "response.function_call_arguments.delta", "response.completed", "succeeded", "errored", "parallel",
        "session_meta", "response_item", "event_msg", "exec_command_end", "thread.started", "item.started",
        "item.completed", "turn.completed", "command_execution", "mcp_tool_call", "file_change", "2.0", "tools/call",
        "tools/list", "initialize", "sampling/createMessage", "summary", "trace", "trace.span", "function", "handoff",
        "generation", "agent", "custom", "Task", "1.0", "completed", "failed", '{"x": 1}', '{"x": ', "",
    ]
)  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers(-2, 3) | WORDS
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=16,
)
LINES = st.lists(st.dictionaries(KEYS, VALUES, min_size=1, max_size=6) | VALUES, min_size=1, max_size=4)
NAMES = st.sampled_from([None, *traces.FORMATS])


def read_quietly(data: bytes, name: str | None) -> None:
    """Read to the end; only declared errors may come."""
    with contextlib.suppress(TraceError):
        assert all(isinstance(item, Trajectory | TraceError) for item in traces.read([data], format=name))


@given(LINES, NAMES)
def test_any_lines_give_declared_errors_or_trajectories(lines: list[Any], name: str | None) -> None:
    """Values of known words in any arrangement, one a line."""
    read_quietly("\n".join(json.dumps(line) for line in lines).encode(), name)


@given(VALUES, NAMES)
def test_any_document_gives_declared_errors_or_trajectories(value: Any, name: str | None) -> None:
    """Values of known words in any arrangement, as one document."""
    read_quietly(json.dumps(value, indent=1).encode(), name)


LONG = "x" * 70_000
CALL = {"type": "function_call", "call_id": "1", "name": "a", "arguments": "{}"}
BLOCK = {"type": "tool_use", "id": "1", "name": "a", "input": {}}
USER = {"role": "user", "content": "hi"}
CUT = {"role": "user", "content": LONG}


@pytest.mark.parametrize(
    ("value", "format"),
    [
        ([USER, CALL, CUT], "openai-responses"),
        ({"model": "m", "input": [USER, CALL, CUT]}, "openai-responses"),
        ({"object": "response", "output": [CALL, {"type": "message", **CUT}]}, "openai-responses"),
        ([{"url": "u", "request": {"model": "m", "input": [USER, CALL, CUT]}, "response": None}], "openai-responses"),
        ([USER, {"role": "assistant", "content": [BLOCK]}, CUT], "anthropic"),
        ({"messages": [USER, {"role": "assistant", "content": [BLOCK, {"type": "text", "text": LONG}]}]}, "anthropic"),
        ({"messages": [{"role": "assistant", "content": [BLOCK, {"type": "text", "text": LONG}]}]}, "anthropic"),
        ([{"url": "https://x/v1/messages", "request": {"messages": [USER, CUT]}, "response": None}], "anthropic"),
        ({"type": "user", "sessionId": "s", "message": CUT}, "claude-code"),
        ({"type": "response_item", "payload": {"role": "user", "content": LONG}}, "codex"),
        ({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": LONG}}, "mcp-jsonrpc"),
        ([{"object": "trace.span", "id": "s", "span_data": {"type": "function", "input": LONG}}], "openai-agents"),
    ],
)  # fmt: skip
def test_files_longer_than_their_head_are_told_apart(value: Any, format: str) -> None:
    """The first value is cut off in the middle, before everything else that it holds."""
    text = json.dumps(value)
    assert len(text) > 65536
    assert traces.detect(text.encode()) == format


SESSION = {"type": "user", "sessionId": "s", "message": USER}
HEAD = {"type": "session_meta", "payload": {"id": "r"}}


@pytest.mark.parametrize(
    ("format", "lines", "recorded"),
    [
        ("openai-responses", [{"model": "m", "input": "hi", "tools": []}], False),
        ("openai-responses", [{"object": "response", "status": "completed", "output": []}], True),
        ("openai-responses", [{"type": "error", "message": "boom"}], False),
        ("anthropic", [{"messages": [USER], "system": "s", "max_tokens": 9}], False),
        ("anthropic", [{"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"}], True),
        ("anthropic", [{"type": "ping"}], True),
        ("claude-code", [SESSION], False),
        ("claude-code", [SESSION, {**SESSION, "type": "assistant", "message": {**USER, "role": "assistant"}}], True),
        ("codex", [HEAD], False),
        ("codex", [HEAD, {"type": "response_item", "payload": {"type": "reasoning"}}], True),
        ("codex", [{"type": "thread.started", "thread_id": "t"}], False),
        ("codex", [{"type": "thread.started"}, {"type": "item.completed", "item": {"type": "agent_message"}}], True),
        ("mcp-jsonrpc", [{"jsonrpc": "2.0", "id": 1, "method": "initialize"}], True),
    ],
)
def test_nothing_of_the_model_is_not_recorded(format: str, lines: list[Any], recorded: bool) -> None:
    """No calls in what the model said are none made; without a word of it, nothing is known (G3)."""
    text = "\n".join(json.dumps(line) for line in lines)
    (read,) = traces.read([text.encode()], format=format)
    assert isinstance(read, Trajectory)
    assert read.tool_calls == (() if recorded else None)
    assert recorded or read.warnings


@pytest.mark.parametrize(
    ("format", "good"),
    [
        ("openai-responses", CALL),
        ("anthropic", {"role": "assistant", "content": [BLOCK]}),
        ("claude-code", {"type": "assistant", "sessionId": "s", "message": {"role": "assistant", "content": [BLOCK]}}),
        ("codex", {"type": "response_item", "payload": CALL}),
        ("mcp-jsonrpc", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a"}}),
        ("openai-agents", {"object": "trace.span", "id": "s", "span_data": {"type": "function", "name": "a"}}),
    ],
)
@pytest.mark.parametrize("broken", ['{"type": NaN}', '{"a": 1, "a": 2}', '{"type": ', f"{'[' * 300}{']' * 300}"])
@pytest.mark.parametrize("first", [True, False])
def test_a_broken_line_is_a_gap_wherever_it_stands(format: str, good: Any, broken: str, first: bool) -> None:
    """What could be read is kept, and the trajectory says that something is missing (G12)."""
    lines = [broken, json.dumps(good)] if first else [json.dumps(good), broken]
    (read,) = traces.read(["\n".join(lines).encode()], format=format)
    assert isinstance(read, Trajectory)
    assert [call.name for call in read.tool_calls or ()] == ["a"]
    assert [gap.partition(" was rejected")[0] for gap in read.gaps] == [f"line {1 if first else 2}"]
