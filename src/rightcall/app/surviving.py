"""Why a mutant survived, as far as the test says it, and what would kill it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from rightcall.assertions import ToolCallTrajectory
from rightcall.core.mutants import Mutant
from rightcall.testsets import Test


class Excuse(msgspec.Struct, frozen=True):
    """Why a change was let pass, and what to write to have it noticed."""

    why: str
    advice: str


def excuse(mutant: Mutant, test: Test) -> Excuse:
    """The reason for a survivor, by its operator and how the test lines up its expected calls."""
    expected = next((one for one in test.assertions if isinstance(one, ToolCallTrajectory)), None)
    return _EXCUSES[mutant.operator](expected, mutant)


def _extra(advice: str) -> Callable[[ToolCallTrajectory | None, Mutant], Excuse]:
    def excused(expected: ToolCallTrajectory | None, mutant: Mutant) -> Excuse:
        if expected is not None and expected.expected_tool_calls and expected.match in ("in_order", "superset"):
            return Excuse(f"allowed by `match: {expected.match}`", f"`match: exact`, or {advice}")
        return Excuse("nothing limits which calls are made", advice)

    return excused


def _missing(expected: ToolCallTrajectory | None, mutant: Mutant) -> Excuse:
    if expected is not None and expected.match == "subset":
        return Excuse("allowed by `match: subset`", "`match: exact` or `in_order`, or `required_tools`")
    return Excuse("the call is not expected", "list it in `expected_tool_calls`")


def _swapped(expected: ToolCallTrajectory | None, mutant: Mutant) -> Excuse:
    if expected is None:
        return Excuse("no order is expected", "`expected_tool_calls`, or `expected_tool_sequence`")
    if expected.match in ("any_order", "subset", "superset"):
        return Excuse(f"allowed by `match: {expected.match}`", "`match: in_order` or `exact`")
    if expected.parallel == "unordered":
        return Excuse("allowed by `parallel: unordered`", "`parallel: ordered`")
    return Excuse("not both calls are expected", "list both in `expected_tool_calls`")


def _renamed(expected: ToolCallTrajectory | None, mutant: Mutant) -> Excuse:
    return Excuse(
        "the call is not expected", "list it in `expected_tool_calls`, or what may be called in `allowed_tools`"
    )


def _argument(expected: ToolCallTrajectory | None, mutant: Mutant) -> Excuse:
    if expected is not None and expected.arguments == "ignore":
        return Excuse("allowed by `arguments: ignore`", "`arguments: partial`, with the arguments listed")
    return Excuse("no expectation depends on the argument", "list it among the `arguments` of the expected call")


def _more_arguments(expected: ToolCallTrajectory | None, mutant: Mutant) -> Excuse:
    if expected is not None and expected.arguments != "exact":
        return Excuse(f"allowed by `arguments: {expected.arguments}`", "`arguments: exact`")
    return Excuse("no expectation depends on further arguments", "`mode: exact` in a match")


_EXCUSES: Final[dict[str, Callable[[ToolCallTrajectory | None, Mutant], Excuse]]] = {
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
