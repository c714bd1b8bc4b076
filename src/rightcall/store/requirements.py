"""Requirements: what an agent has to fulfil, and the metrics by which that is told."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from rightcall.store import schema
from rightcall.store.members import Members
from rightcall.store.rows import Aggregate


class Requirement(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent has to fulfil. Its tests point at it, and keep it from being deleted."""

    name: str
    description: str = ""
    labels: dict[str, Any] = {}


REQUIREMENTS: Final = Aggregate(schema.requirements, Requirement, "req", "requirement")
METRICS: Final = Members(
    schema.requirement_metrics, schema.requirements, "requirement_id", "metric_id", "requirement", "metric"
)
"""The metrics of a requirement, in their order."""
