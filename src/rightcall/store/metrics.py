"""Metrics: how tests are graded. Every organization has those that are built in."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from rightcall.store import schema
from rightcall.store.rows import Aggregate


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """How tests are graded: a kind, and its settings. `built_in` is the word for one that nobody made."""

    name: str
    kind: str
    description: str = ""
    content: dict[str, Any] = {}
    built_in: str | None = None


METRICS: Final = Aggregate(schema.metrics, Metric, "met", "metric")

BUILT_IN: Final = (
    Metric(
        name="Tool Call Trajectory",
        kind="tool_call_trajectory",
        description="Did the agent make the expected tool calls?",
        content={"match": "in_order", "arguments": "partial"},
        built_in="tool_call_trajectory",
    ),
)
"""The metrics that an organization begins with."""
