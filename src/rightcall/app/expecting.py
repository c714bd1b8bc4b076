"""Expectations that compare: `trajectory == expected([…])` grades, and says why where it is false."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rightcall.app import python
from rightcall.core.results import Outcome
from rightcall.core.values import display
from rightcall.errors import UsageError

_SHOWN = 200


class Expected:
    """What a trajectory must be like. Equal to everything that `rightcall.read` takes and that passes.

    Compiled once, at its making: `TestSetError` with the path of a bad expectation. Comparing with what could not be
    judged raises `AssertionError` rather than answer, so that neither `==` nor `!=` nor `not` can pass on it (G1).
    """

    __hash__ = None  # type: ignore[assignment]  # equality is no equivalence here

    def __init__(self, expectations: Mapping[str, Any], dialect: str | None = None, judge: Any = None) -> None:
        self._expectations = dict(expectations)
        self._test = python.compiled(expectations, dialect, judge)

    def __eq__(self, made: object) -> bool:
        __tracebackhide__ = True
        if isinstance(made, Expected):
            return self is made
        judged = python.judge(made, self._test)
        if judged.outcome not in (Outcome.PASS, Outcome.FAIL):
            raise python.NotJudgedError(judged.explanation())
        return judged.outcome is Outcome.PASS

    def explanation(self, made: object) -> str:
        """Why what was made is not as expected, with both beside each other; empty where it is."""
        return python.judge(made, self._test).explanation()

    def __repr__(self) -> str:
        inside = ", ".join(f"{key}={display(value, _SHOWN)}" for key, value in self._expectations.items())
        return f"expected({inside})"


def expected(
    calls: Sequence[Any] | Mapping[str, Any] | None,
    keys: Mapping[str, Any],
    dialect: str | None = None,
    judge: Any = None,
) -> Expected:
    """What `rightcall.expected` gives: `calls` are expected calls, or a mapping of expectations."""
    if calls is None:
        return Expected(keys, dialect, judge)
    given = calls if isinstance(calls, Mapping) else {"expected_tool_calls": calls}
    twice = sorted(given.keys() & keys.keys())
    if twice:
        raise UsageError(f"expected(): `{twice[0]}` is given twice, at the first place and by name")
    return Expected({**given, **keys}, dialect, judge)
