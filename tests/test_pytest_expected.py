"""`trajectory == expected(…)`: what compares, what it says in pytest, and what it refuses to answer."""

from __future__ import annotations

from typing import Any

import pytest

import rightcall
from rightcall.errors import TestSetError, TraceError, UsageError
from support.inner_pytest import run

MADE = [{"name": "lookup_order", "arguments": {"order_id": 42}}]


@pytest.mark.parametrize("made", [MADE, {"tool_calls": MADE}, rightcall.read(MADE)], ids=["calls", "record", "read"])
def test_what_can_be_read_can_be_compared(made: Any) -> None:
    """Equal is what passes, on either side; everything else is not."""
    good, bad = rightcall.expected(["lookup_order"]), rightcall.expected([])
    assert (made == good, good == made, made != good) == (True, True, False)
    assert (made == bad, bad == made, made != bad) == (False, False, True)


def test_what_could_not_be_judged_answers_no_comparison() -> None:
    """Neither `==` nor `!=` nor `not` can pass on what was not recorded (G1, G3)."""
    expected = rightcall.expected([])
    for compare in (expected.__eq__, expected.__ne__):
        with pytest.raises(AssertionError, match="could not be judged: No tool calls were recorded"):
            compare({"tool_calls": None})
    with pytest.raises(TraceError):
        assert object() != expected


def test_expectations_are_calls_or_keys() -> None:
    """A list is what `expected_tool_calls` takes; keys are those of a test, as a mapping or by name."""
    assert rightcall.expected({"allowed_tools": ["lookup_order"]}) == MADE
    assert rightcall.expected(allowed_tools=["lookup_order"], required_tools=["lookup_order"]) == MADE
    assert rightcall.expected(["lookup_order"], dialect="orbit") == MADE
    assert repr(rightcall.expected(["a"], match="exact")) == 'expected(expected_tool_calls=["a"], match="exact")'


@pytest.mark.parametrize(
    ("calls", "keys", "error"),
    [
        (["a"], {"match": "inorder"}, TestSetError),
        (None, {}, TestSetError),
        (["a"], {"expected_tool_calls": []}, UsageError),
    ],
    ids=["unknown mode", "nothing", "twice"],
)
def test_a_bad_expectation_is_refused_when_it_is_made(
    calls: list[str] | None, keys: dict[str, Any], error: type[Exception]
) -> None:
    """It is never a comparison that is merely false (G27)."""
    with pytest.raises(error):
        rightcall.expected(calls, **keys)


def test_pytest_shows_expected_beside_made(pytester: pytest.Pytester) -> None:
    """The explanation of the assertion is the reason and the alignment, not a difference of objects."""
    pytester.makepyfile(
        """
        from rightcall import expected

        def test_equal():
            assert [{"name": "a", "arguments": {"x": 1}}] == expected([{"name": "a", "arguments": {"x": 2}}])

        def test_unequal():
            assert [{"name": "a"}] != expected(["a"])

        def test_others():
            assert [1] == [2]
        """
    )
    result, _ = run(pytester)
    result.stdout.fnmatch_lines(
        [
            'E *assert trajectory == expected(expected_tool_calls=[[]{"name":"a","arguments":{"x":2}}])',
            "E *tool_call_trajectory: Expected a with x = 2; call 1 had x = 1.",
            "E *≠ 1 a(x=2)      1 a(x=1)",
            'E *assert trajectory != expected(expected_tool_calls=[[]"a"])',
            "E *It is as expected, and should not be.",
            "E *assert [[]1] == [[]2]",
        ]
    )
