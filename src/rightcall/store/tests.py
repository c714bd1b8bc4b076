"""Tests: what is said to the agent, and what it is expected to call."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from rightcall.store import schema
from rightcall.store.rows import Aggregate


class Test(msgspec.Struct, frozen=True, kw_only=True):
    """A test. `content` is everything else that it says, as JSON: absent, null and `[]` stay what they are."""

    __test__ = False

    name: str
    content: dict[str, Any]
    requirement_id: str | None = None
    labels: dict[str, Any] = {}


TESTS: Final = Aggregate(schema.tests, Test, "test", "test")
