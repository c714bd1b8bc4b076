"""Long trajectories come to their verdict, and what would take forever comes to an error (G22)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core import flow
from rightcall.core.lining import Mode
from rightcall.core.patterns import ExpectedCall
from rightcall.core.verdicts import Status
from support.grading import call, judge

LONG = 100_000
MANY = 10_000


class Choosy:
    """An expected value that decides for itself, so that no index can find what it takes."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, actual: object) -> bool:
        return actual == self.number

    __hash__ = None  # type: ignore[assignment]  # it is equal to what it accepts, so it cannot have a hash


def expecting(match: Mode, arguments: list[Any]) -> ToolCallTrajectory:
    """Calls of one tool with these arguments."""
    calls = tuple(ExpectedCall(name="t", arguments=value) for value in arguments)
    return ToolCallTrajectory(expected_tool_calls=calls, match=match, arguments="exact")


@pytest.mark.parametrize("match", ["exact", "in_order"])
def test_a_hundred_thousand_calls_in_order(match: Mode) -> None:
    """The ordered modes take the longest trajectory that is read, pass and fail alike (G22)."""
    arguments = [{"n": number % 100} for number in range(LONG)]
    made = [call("t", value) for value in arguments]
    assert judge(expecting(match, arguments), made).status == Status.PASS
    swapped = judge(expecting(match, arguments), [made[-1], *made[:-1]])
    assert (swapped.status, swapped.recall) == (Status.FAIL, 1.0)


@pytest.mark.parametrize("match", ["any_order", "subset", "superset"])
@pytest.mark.parametrize("distinct", [MANY, 100, 1])
def test_ten_thousand_calls_of_one_tool_in_any_order(match: Mode, distinct: int) -> None:
    """The order-free modes pair ten thousand calls of one tool, all different, in groups or all alike (G22)."""
    arguments = [{"n": number % distinct} for number in range(MANY)]
    shuffled = random.Random(7).sample(arguments, MANY)
    made = [call("t", value) for value in shuffled]
    verdict = judge(expecting(match, arguments), made)
    assert (verdict.status, verdict.precision, verdict.recall) == (Status.PASS, 1.0, 1.0)


def test_too_many_comparisons_are_an_error_and_no_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    """Expected values that only they can compare reach the limit, here a lower one, which the reason names (G22)."""
    monkeypatch.setattr(flow, "MAX_CHECKS", 100_000)
    numbers = range(350)
    expected = expecting("any_order", [{"n": Choosy(number)} for number in numbers])
    verdict = judge(expected, [call("t", {"n": number}) for number in reversed(numbers)])
    assert verdict.status == Status.ERROR
    assert verdict.reason == "Lining up the calls took more than 100,000 comparisons, the limit."
