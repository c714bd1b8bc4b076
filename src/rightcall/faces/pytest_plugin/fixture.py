"""The fixture `rightcall`: the functions of the package, with what was measured written to the test's report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import rightcall
from rightcall.app import python
from rightcall.faces.pytest_plugin import telling


class Rightcall:
    """`capture`, `read`, `grade` and `expected` are those of the package; `check` also writes properties."""

    capture = staticmethod(rightcall.capture)
    expected = staticmethod(rightcall.expected)
    grade = staticmethod(rightcall.grade)
    read = staticmethod(rightcall.read)

    def __init__(self, properties: list[tuple[str, object]]) -> None:
        self._properties = properties

    def __repr__(self) -> str:
        return "<rightcall>"

    def check(
        self,
        trajectory: Any,
        expectations: Mapping[str, Any] | None = None,
        *,
        dialect: str | None = None,
        judge: Any = None,
        **keys: Any,
    ) -> None:
        """Raise `AssertionError` unless the trajectory passes: see `rightcall.check`."""
        __tracebackhide__ = True
        test = python.compiled({**(expectations or {}), **keys}, dialect, judge)
        judged = python.judge(trajectory, test)
        self._properties += [*telling.measured(judged.verdicts), *telling.unblocking(judged.verdicts)]
        python.require(judged)
