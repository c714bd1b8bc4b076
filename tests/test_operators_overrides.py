"""Operators beside what is ignored and filled in for one call (G16)."""

from __future__ import annotations

from typing import Any

import dirty_equals
import pytest

import rightcall
from rightcall import match
from rightcall.errors import TestSetError
from support.operators import verdict

SCHEMA = {"f": {"properties": {"currency": {"default": "EUR"}, "page": {"default": 1}}}}


def passes(arguments: Any, made: Any, mode: str = "partial", **call: Any) -> bool:
    """Whether one expected call, with keys of its own, takes the arguments of one call made."""
    return verdict(arguments, made, mode, **call).status == "pass"


def test_ignored_arguments_are_left_out_inside_an_operator_too() -> None:
    """Neither side has them, so that no negation can be met by what is not compared."""
    ignore = ["_*"]
    assert not passes({"$not": {"a": 1, "_t": 5}}, {"a": 1, "_t": 6}, ignore_arguments=ignore)
    assert passes({"$one_of": [{"a": 1, "_t": 5}, {"b": 1}]}, {"a": 1, "_t": 6}, "exact", ignore_arguments=ignore)
    assert passes({"$all": [{"a": 1}, {"$not": {"$not": {"_t": 5}}}]}, {"a": 1}, ignore_arguments=ignore)
    assert passes({"a": match.gt(0), "_t": match.absent()}, {"a": 1, "_t": 6}, "exact", ignore_arguments=ignore)


def test_defaults_are_compared_by_operators() -> None:
    """An argument that is not there counts as its default, and an operator looks at that."""
    assert passes({"page": match.gte(1)}, {}, defaults={"page": 1})
    assert not passes({"page": match.gte(2)}, {}, defaults={"page": 1})
    assert passes({"page": match.gte(2)}, {"page": 3}, defaults={"page": 1})


@pytest.mark.parametrize("given", [{"defaults": {"currency": "EUR"}}, {"fill_defaults": True}])
def test_what_may_be_absent_is_not_filled_in(given: dict[str, Any]) -> None:
    """`$absent` and `$optional` say themselves what the argument may be."""
    absent, optional = {"currency": match.absent()}, {"currency": match.optional("USD")}
    made: list[tuple[dict[str, Any], dict[str, Any], str]] = [
        (absent, {}, "pass"),
        (absent, {"currency": "EUR"}, "fail"),
        (optional, {}, "pass"),
        (optional, {"currency": "USD"}, "pass"),
        (optional, {"currency": "EUR"}, "fail"),
    ]
    for arguments, actual, status in made:
        expected = [{"name": "f", "arguments": arguments, **given}]
        keys = {"expected_tool_calls": expected, "tool_schemas": SCHEMA}
        (one,) = rightcall.grade([{"name": "f", "arguments": actual}], keys)
        assert (arguments, actual, one.status) == (arguments, actual, status)


def test_defaults_are_values() -> None:
    """An operator among them is refused, and so is any other object that decides by itself (G27)."""
    for default in ({"$gt": 1}, match.gt(1), dirty_equals.IsInt(), [{"a": match.gt(1)}]):
        with pytest.raises(TestSetError, match=r"\[0\].defaults.x: a default is a value, no operator"):
            passes({"x": 1}, {}, defaults={"x": default})


@pytest.mark.parametrize("given", [{"defaults": {"x": 1}}, {"fill_defaults": True}])
def test_defaults_need_arguments_that_are_listed(given: dict[str, Any]) -> None:
    """Beside one operator for all arguments there is nothing to fill them into: under `$not` they would turn round."""
    expected = [{"name": "f", "arguments": {"$not": {"a": 1}}, **given}]
    with pytest.raises(TestSetError, match="need arguments that are listed") as caught:
        rightcall.grade([], {"expected_tool_calls": expected, "tool_schemas": SCHEMA})
    assert caught.value.where.path == f"expected_tool_calls[0].{next(iter(given))}"
