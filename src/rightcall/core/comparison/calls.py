"""The calls of one attempt beside those of another, line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import UNSET

from rightcall.core.aligning import align
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.comparison import CallDifference, CallRow
from rightcall.core.counting import Counted
from rightcall.core.explaining import Lineup
from rightcall.core.lining import MODES
from rightcall.core.patterns import Pattern
from rightcall.core.rows import Mark, Row, RowDifference
from rightcall.core.values import comparer, display, equal

Calls = Sequence[Mapping[str, Any]]
"""Calls as reports write them: `{"name": …, "arguments": …}`, or why there are no arguments."""

_MARKS: Final[Mapping[Mark, Literal["same", "differs", "moved", "removed", "added", "note"]]] = {
    "match": "same",
    "differs": "differs",
    "moved": "moved",
    "missing": "removed",
    "unexpected": "added",
    "note": "note",
}


def same_calls(before: Calls | None, after: Calls | None) -> bool:
    """Whether they are the same calls in the same order, by name and arguments (G7); `None` is not recorded."""
    if before is None or after is None:
        return before is after
    return len(before) == len(after) and all(map(equal, before, after))


def changed_calls(before: Calls, after: Calls) -> tuple[CallRow, ...]:
    """Line the calls up, as expected calls are with calls made: those then are patterns that take only the same."""
    made = tuple(ToolCall(name=_name(call), arguments=_rest(call)) for call in after)
    patterns = [_pattern(call) for call in before]
    lineup = Lineup(patterns, Counted(calls=made, indices=range(len(made))), Trajectory(tool_calls=made))
    return tuple(_row(row, before, after) for row in align(lineup, MODES["exact"]))


def _pattern(call: Mapping[str, Any]) -> Pattern:
    """A pattern by hand: what was recorded is data, also where it looks like an operator."""
    rest = _rest(call)
    return Pattern(name=_name(call), mode="exact", arguments=rest, matches=comparer(rest))


def _name(call: Mapping[str, Any]) -> str:
    return str(call.get("name", ""))


def _rest(call: Mapping[str, Any]) -> Any:
    """The arguments, or what is said in their place: two calls whose arguments are unknown alike are the same."""
    return call["arguments"] if "arguments" in call else {key: call[key] for key in call if key != "name"}


def _row(row: Row, before: Calls, after: Calls) -> CallRow:
    return CallRow(
        mark=_MARKS[row.mark],
        before_index=row.expected_index,
        before=None if row.expected_index is None else dict(before[row.expected_index]),
        after_index=row.made_index,
        after=None if row.made_index is None else dict(after[row.made_index]),
        differences=tuple(map(_difference, row.differences)),
        note=row.note,
    )


def _difference(found: RowDifference) -> CallDifference:
    return CallDifference(path=found.path, message=_message(found), before=found.expected, after=found.actual)


def _message(found: RowDifference) -> str:
    what = found.path or "arguments"
    if found.expected is UNSET:
        return f"{what} = {display(found.actual)} is new"
    if found.actual is UNSET:
        return f"{what} was {display(found.expected)}, and is gone"
    return f"{what} was {display(found.expected)}, and is {display(found.actual)}"
