"""Readers of messages, items and sessions: whatever stands where something else was expected (G5)."""

from __future__ import annotations

import contextlib
import json
from typing import Any

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
