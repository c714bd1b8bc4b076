"""Policies: which recorded traces are graded as they come, and by what."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from rightcall.store import schema
from rightcall.store.rows import Aggregate


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """A standing policy. `content` is what it says, as JSON: which traces, the rate of the sample, the expectations."""

    name: str
    content: dict[str, Any]


POLICIES: Final = Aggregate(schema.policies, Policy, "pol", "policy")
