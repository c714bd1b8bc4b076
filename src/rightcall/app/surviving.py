"""Why a mutant survived, as far as the test says it, and what would kill it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from rightcall.assertions import ToolCallTrajectory
from rightcall.core.calls import ToolCall
from rightcall.core.mutants import Mutant
from rightcall.testsets import Test


class Excuse(msgspec.Struct, frozen=True):
    """Why a change was let pass, and what to write to have it noticed."""

    why: str
    advice: str


def excuse(mutant: Mutant, calls: Sequence[ToolCall], test: Test) -> Excuse:
    """The reason for a survivor, by its operator and how the test lines up its expected calls."""
    expected = next((one for one in test.assertions if isinstance(one, ToolCallTrajectory)), None)
    if mutant.swaps_parallel(calls) and expected is not None and expected.parallel == "unordered":
        return _excuse_order(expected, Excuse("allowed by `parallel: unordered`", "`parallel: ordered`"))
    return _EXCUSES[mutant.operator](expected)


def _extra(advice: str) -> Callable[[ToolCallTrajectory | None], Excuse]:
    def excused(expected: ToolCallTrajectory | None) -> Excuse:
        if expected is not None and expected.expected_tool_calls and expected.match in ("in_order", "superset"):
            return Excuse(f"allowed by `match: {expected.match}`", f"`match: exact`, or {advice}")
        return Excuse("nothing limits which calls are made", advice)

    return excused


def _missing(expected: ToolCallTrajectory | None) -> Excuse:
    if expected is not None and expected.match == "subset":
        return Excuse("allowed by `match: subset`", "`match: exact` or `in_order`, or `required_tools`")
    return Excuse("the call is not expected", "list it in `expected_tool_calls`")


def _swapped(expected: ToolCallTrajectory | None) -> Excuse:
    if expected is None:
        return Excuse("no order is expected", "`expected_tool_calls`, or `expected_tool_sequence`")
    return _excuse_order(expected, Excuse("not both calls are expected", "list both in `expected_tool_calls`"))


def _excuse_order(expected: ToolCallTrajectory, otherwise: Excuse) -> Excuse:
    """The way to line up, where order is nothing to it; else the other excuse."""
    if expected.match in ("any_order", "subset", "superset"):
        return Excuse(f"allowed by `match: {expected.match}`", "`match: in_order` or `exact`")
    return otherwise


def _renamed(expected: ToolCallTrajectory | None) -> Excuse:
    return Excuse(
        "the call is not expected", "list it in `expected_tool_calls`, or what may be called in `allowed_tools`"
    )


def _argument(expected: ToolCallTrajectory | None) -> Excuse:
    if expected is not None and expected.arguments == "ignore":
        return Excuse("allowed by `arguments: ignore`", "`arguments: partial`, with the arguments listed")
    return Excuse("no expectation depends on the argument", "list it among the `arguments` of the expected call")


def _more_arguments(expected: ToolCallTrajectory | None) -> Excuse:
    if expected is not None and expected.arguments != "exact":
        return Excuse(f"allowed by `arguments: {expected.arguments}`", "`arguments: exact`")
    return Excuse("no expectation depends on further arguments", "`mode: exact` in a match")


_EXCUSES: Final[dict[str, Callable[[ToolCallTrajectory | None], Excuse]]] = {
    "no-calls": _missing,
    "drop-call": _missing,
    "duplicate-call": _extra("a `budget` with `max_calls` or `max_repeats`"),
    "swap-calls": _swapped,
    "rename-tool": _renamed,
    "change-argument": _argument,
    "null-argument": _argument,
    "remove-argument": _argument,
    "add-argument": _more_arguments,
    "add-unknown-call": _extra("`allowed_tools`"),
    "add-forbidden-call": _extra("a ban without a `match`"),
}
