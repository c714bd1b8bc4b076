"""The arguments of an expected call that hold operators or foreign objects, compiled under an argument mode (G15)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rightcall.core.assertion import Setting
from rightcall.core.operators.base import Accepts, Making, Objects, Operator
from rightcall.core.operators.binding import bind, compile_bound
from rightcall.core.provenance import Earlier
from rightcall.errors import TestSetError

_OBJECTS: Final[dict[str, Objects]] = {
    "exact": "whole",
    "partial": "listed",
    "subset": "listed",
    "deep": "listed_throughout",
}


def compile_arguments(
    expected: Any, mode: str, setting: Setting, earlier: Earlier | None = None
) -> tuple[Any, Accepts]:
    """The arguments with every operator in them made ready, and what decides on the arguments of a call.

    `earlier` has the results that the call could know, for operators that ask for them. `TestSetError` with a path
    inside the arguments.
    """
    # As without operators, expected arguments that are a list are compared whole in every mode.
    objects: Objects = "whole" if isinstance(expected, list | tuple) else _OBJECTS[mode]
    making = Making(
        regex=setting.regex, schema=setting.schema, earlier=earlier, aliases=setting.tool_aliases, objects=objects
    )
    try:
        bound = bind(expected, making)
        accepts = compile_bound(bound, objects)
    except RecursionError:
        raise TestSetError("nested too deeply to be compiled") from None
    if mode == "subset":
        return bound, lambda actual: isinstance(actual, dict) and accepts(actual)
    return bound, accepts


def absent_keys(expected: Any) -> frozenset[str]:
    """The top-level keys whose value says that they may be absent."""
    if not isinstance(expected, dict):
        return frozenset()
    return frozenset(key for key, value in expected.items() if isinstance(value, Operator) and value.may_be_absent)


def in_place(expected: Any, change: Callable[[Any], Any]) -> Any:
    """The expected arguments changed, also where they are written inside an operator: `{$not: {a: 1}}`."""
    if isinstance(expected, Operator):
        return expected.in_place(lambda value: in_place(value, change))
    return change(expected)
