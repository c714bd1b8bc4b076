"""Tests and test sets, decoded: what every dialect is translated into."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import msgspec

from rightcall.core.assertion import Assertion
from rightcall.core.counting import Count
from rightcall.core.results import ONE, Gate
from rightcall.errors import Where


class Test(msgspec.Struct, frozen=True, kw_only=True):
    """One test: what stands around it, and the assertions that its expectation keys are sugar for.

    `id` is unique in its test set; `positional` says that it is only the position, for want of one.
    `extra` keeps the `x-…` keys. `where` is the place of the test in its file.
    """

    __test__ = False

    id: str
    name: str = ""
    positional: bool = False
    requirement: str | None = None
    category: str | None = None
    topic: str | None = None
    prompt: Any = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    assertions: tuple[Assertion, ...] = ()
    tool_schemas: dict[str, Any] = {}
    tool_aliases: dict[str, str] = {}
    ignore_arguments: tuple[str, ...] = ()
    count: Count = Count()
    repeat: int = 1
    min_pass_rate: Fraction = ONE
    min_assertion_rate: Fraction = ONE
    where: Where = Where()


class TestSet(msgspec.Struct, frozen=True, kw_only=True):
    """Tests that are graded together and gated once. `warnings` say what was read but has no effect."""

    __test__ = False

    name: str = ""
    tests: tuple[Test, ...] = ()
    gate: Gate = Gate()
    endpoint: Any = None
    metadata: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    warnings: tuple[str, ...] = ()
    hash: str = ""
