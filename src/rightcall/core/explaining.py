"""From a lineup to evidence: what is missing, unexpected or out of order, and the measures beside it (G19, G20)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.counting import Counted
from rightcall.core.lining import ModeRules
from rightcall.core.pairing import Candidates, pair
from rightcall.core.patterns import Pattern
from rightcall.core.values import visible
from rightcall.core.verdicts import Finding
from rightcall.core.wording import differing_keys, mismatch, name_of, times, with_arguments
from rightcall.errors import did_you_mean

Pairs = Sequence[int | None]


class Lineup(msgspec.Struct, frozen=True):
    """What is lined up: patterns and the calls that count, out of a trajectory."""

    patterns: Sequence[Pattern]
    counted: Counted
    trajectory: Trajectory

    @property
    def calls(self) -> Sequence[ToolCall]:
        """The calls that count."""
        return self.counted.calls

    def index(self, position: int) -> int:
        """The index in the trajectory of the call at a position among those that count."""
        return self.counted.indices[position]

    def number(self, position: int) -> int:
        """The number of that call as sentences count: from 1, over the whole trajectory."""
        return self.index(position) + 1


def measure(lineup: Lineup, mode: ModeRules, paired: int, in_order: int, *, passes: bool) -> dict[str, Any]:
    """The details of a verdict: rates, counts, and on a pass what matched."""
    expected, made = len(lineup.patterns), len(lineup.calls)
    precision, recall = rates(expected, made, paired)
    details = {
        "precision": precision,
        "recall": recall,
        "f1": 2 * paired / (made + expected) if made + expected else None,
        "expected": expected,
        "made": made,
        "paired": paired,
        "paired_in_order": in_order,
        "missing": expected - paired,
        "unexpected": made - paired,
    }
    return {**details, "reason": _passed(mode, expected, made)} if passes else details


def rates(expected: int, made: int, paired: int) -> tuple[float | None, float | None]:
    """Precision and recall; `None` where there is nothing to divide by (G19)."""
    return (paired / made if made else None, paired / expected if expected else None)


def _passed(mode: ModeRules, expected: int, made: int) -> str:
    if mode.absences and not made:
        return "No calls were made, so none was unexpected."
    were = "was" if (made if mode.absences else expected) == 1 else "were"
    all_made = f"{_all(made, 'call')} made"
    return mode.passed.format(all_expected=_all(expected, "expected call"), all_made=all_made, were=were)


def _all(number: int, noun: str) -> str:
    return f"The {noun}" if number == 1 else f"All {number} {noun}s"


def explain(lineup: Lineup, mode: ModeRules, found: Candidates, *, unordered: bool) -> tuple[Finding, ...]:
    """The findings of a failure, in the order in which they are named (G20)."""
    return tuple(_findings(lineup, mode, pair(found), unordered))


def _findings(lineup: Lineup, mode: ModeRules, pairs: Pairs, unordered: bool) -> Iterator[Finding]:
    if not mode.absences:
        yield from _missing(lineup, pairs)
    if not mode.extras:
        yield from _unexpected(lineup, pairs)
    if mode.ordered:
        yield from _out_of_order(lineup, pairs, unordered)


def _missing(lineup: Lineup, pairs: Pairs) -> Iterator[Finding]:
    unpaired = _unpaired(lineup, pairs)
    effort = Effort()
    for index, made in enumerate(pairs):
        if made is None:
            rivals = unpaired.get(lineup.patterns[index].name)
            yield _differing(lineup, index, rivals, effort) if rivals else _uncalled(lineup, index)


def _unpaired(lineup: Lineup, pairs: Pairs) -> dict[str, list[int]]:
    """The positions of the calls that nothing is paired with, by name."""
    taken = set(pairs)
    unpaired: dict[str, list[int]] = {}
    for at, call in enumerate(lineup.calls):
        if at not in taken:
            unpaired.setdefault(call.name, []).append(at)
    return unpaired


def _uncalled(lineup: Lineup, index: int) -> Finding:
    """No call is left that could have been the expected one."""
    name = lineup.patterns[index].name
    called = sum(1 for call in lineup.calls if call.name == name)
    if called:
        wanted = sum(1 for other in lineup.patterns if other.name == name)
        message = f"Expected {visible(name)} {times(wanted)}; it was called {times(called)}."
        return Finding(code="too_few", message=message, expected_index=index)
    for number in lineup.counted.failed:
        call = (lineup.trajectory.tool_calls or ())[number]
        if call.name == name:
            message = f"Expected {visible(name)} to succeed; call {number + 1} of it has status `{call.status}`."
            return Finding(code="not_successful", message=message, expected_index=index, made_index=number)
    message = f"Expected {visible(name)}; it was never called.{_hint(lineup, name)}"
    return Finding(code="missing", message=message, expected_index=index)


def _hint(lineup: Lineup, name: str) -> str:
    """A remark on a name that may be misspelt: the agent had no such tool, or called one of nearly that name."""
    available = [tool.name for tool in lineup.trajectory.available_tools]
    if available and name not in available:
        return f" The agent had no tool of that name{did_you_mean(name, available)}."
    near = did_you_mean(name, sorted({call.name for call in lineup.calls}), likeness=0.85)
    return f" A tool of nearly that name was called{near}." if near else ""


def _differing(lineup: Lineup, index: int, unpaired: Sequence[int], effort: Effort) -> Finding:
    pattern = lineup.patterns[index]
    at = closest(pattern, lineup.calls, unpaired, effort)
    difference = mismatch(pattern, lineup.calls[at])
    return Finding(
        code="arguments_differ",
        message=f"Expected {visible(pattern.name)} {difference.wanted}; call {lineup.number(at)} {difference.found}.",
        expected_index=index,
        made_index=lineup.index(at),
        path=difference.first.path,
        expected=difference.first.expected,
        actual=difference.first.actual,
    )


class Effort:
    """How many calls explanations may still be compared with; then the earliest stands for the closest."""

    def __init__(self, comparisons: int = 100_000) -> None:
        self.comparisons = comparisons


def closest(pattern: Pattern, calls: Sequence[ToolCall], positions: Sequence[int], effort: Effort) -> int:
    """The position of the call with the fewest differing keys, then the earliest."""
    best, fewest = positions[0], None
    for at in positions:
        if effort.comparisons <= 0 or (fewest is not None and fewest <= 1):
            break
        effort.comparisons -= 1
        keys = differing_keys(pattern, calls[at])
        if fewest is None or keys < fewest:
            best, fewest = at, keys
    return best


def _unexpected(lineup: Lineup, pairs: Pairs) -> Iterator[Finding]:
    taken = {made for made in pairs if made is not None}
    for at, call in enumerate(lineup.calls):
        if at not in taken:
            message = f"Call {lineup.number(at)}, {name_of(call)}, was not expected."
            yield Finding(code="unexpected", message=message, made_index=lineup.index(at))


def _out_of_order(lineup: Lineup, pairs: Pairs, unordered: bool) -> Iterator[Finding]:
    for index in range(1, len(pairs)):
        before, made = pairs[index - 1], pairs[index]
        if before is None or made is None or made > before:
            continue
        if unordered and _same_message(lineup.calls[before], lineup.calls[made]):
            continue
        later, earlier = _told_apart(lineup.patterns[index], lineup.patterns[index - 1])
        numbers = f"it was call {lineup.number(made)}, before call {lineup.number(before)}"
        message = f"Expected {later} after {earlier}; {numbers}."
        yield Finding(code="out_of_order", message=message, expected_index=index, made_index=lineup.index(made))


def _told_apart(one: Pattern, other: Pattern) -> tuple[str, str]:
    """Two expected calls by name and, where that is the same, by what their arguments must be."""
    if one.name != other.name:
        return visible(one.name), visible(other.name)
    return visible(one.name) + with_arguments(one), visible(other.name) + with_arguments(other)


def _same_message(one: ToolCall, other: ToolCall) -> bool:
    return one.message is not None and one.message == other.message
