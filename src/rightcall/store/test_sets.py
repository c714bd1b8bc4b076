"""Test sets: tests in an order, and the metrics by which all of them are graded."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from rightcall.store import schema
from rightcall.store.members import Members
from rightcall.store.rows import Aggregate


class TestSet(msgspec.Struct, frozen=True, kw_only=True):
    """A test set. `content` is what it says of all its tests, as JSON: the gate, defaults, the endpoint."""

    __test__ = False

    name: str
    description: str = ""
    labels: dict[str, Any] = {}
    content: dict[str, Any] = {}


TEST_SETS: Final = Aggregate(schema.test_sets, TestSet, "set", "test set")
TESTS: Final = Members(schema.test_set_tests, schema.test_sets, "test_set_id", "test_id", "test set", "test")
"""The tests of a test set, in their order."""
METRICS: Final = Members(schema.test_set_metrics, schema.test_sets, "test_set_id", "metric_id", "test set", "metric")
"""The metrics of a test set, in their order."""
