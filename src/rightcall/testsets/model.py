"""Tests and test sets, decoded: what every dialect is translated into."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import msgspec

from rightcall.core.assertion import Assertion
from rightcall.core.counting import Count
from rightcall.core.models import ModelConfig
from rightcall.core.personas import Persona
from rightcall.core.results import ONE
from rightcall.core.summary import Gate
from rightcall.errors import Where, join_path
from rightcall.testsets.source import Source


class Place(msgspec.Struct, frozen=True):
    """Where an assertion was written: the key it comes from, and the paths of its fields that stand elsewhere."""

    where: Where = Where()
    fields: dict[str, str] = {}

    def path(self, relative: str) -> str:
        """The path in the file of a path inside the assertion, such as `steps[1].match`."""
        for field, path in self.fields.items():
            rest = relative.removeprefix(field)
            if rest != relative and rest[:1] in ("", ".", "["):
                return join_path(path, rest.removeprefix("."))
        return join_path(self.where.path, relative)


class Test(msgspec.Struct, frozen=True, kw_only=True):
    """One test: what stands around it, and the assertions that its expectation keys are sugar for.

    `id` is unique in its test set; `positional` says that it is only the position, for want of one.
    `extra` keeps the `x-…` keys. `where` is the place of the test in its file, and `places` has that of each
    of its assertions. `turns` are the prompts of a conversation of several turns, and `persona` is who speaks instead
    of a script. `warnings` are those of a test that stands in no test set.
    """

    __test__ = False

    id: str
    name: str = ""
    positional: bool = False
    requirement: str | None = None
    category: str | None = None
    topic: str | None = None
    prompt: Any = None
    turns: tuple[Any, ...] = ()
    persona: Persona | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    assertions: tuple[Assertion, ...] = ()
    places: tuple[Place, ...] = ()
    tool_schemas: dict[str, Any] = {}
    tool_aliases: dict[str, str] = {}
    ignore_arguments: tuple[str, ...] = ()
    count: Count = Count()
    parallel: Literal["ordered", "unordered"] = "ordered"
    repeat: int = 1
    min_pass_rate: Fraction = ONE
    min_assertion_rate: Fraction = ONE
    warnings: tuple[str, ...] = ()
    where: Where = Where()


class TestSet(msgspec.Struct, frozen=True, kw_only=True):
    """Tests that are graded together and gated once.

    `warnings` say what was read but has no effect. `hash` is that of the content, whatever its format and
    comments. `source` finds the line and column of any path.
    """

    __test__ = False

    name: str = ""
    tests: tuple[Test, ...] = ()
    gate: Gate = Gate()
    endpoint: Any = None
    judge: ModelConfig | None = None
    simulator: ModelConfig | None = None
    metadata: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    warnings: tuple[str, ...] = ()
    hash: str = ""
    source: Source = Source()
