"""The example that `rightcall init` writes: recorded conversations for the test set's template."""

from __future__ import annotations

from typing import Final

TEST_SET_FILE: Final = "refund.rightcall.yaml"
TRACE_FILE: Final = "refund.traces.jsonl"

TRACES: Final = """\
{"id": "late-order", "tool_calls": [{"name": "lookup_order", "arguments": {"order_id": 42}}, \
{"name": "issue_refund", "arguments": {"order_id": 42}}], "output": "Your money is on its way."}
{"id": "small-talk", "tool_calls": [], "output": "Very well, thank you!"}
"""
"""One trajectory a line, in the native format; both pass."""
