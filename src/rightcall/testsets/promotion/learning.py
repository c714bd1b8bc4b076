"""From several good runs of one prompt to one expectation that accepts each of them and little else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from rightcall.core.values import visible
from rightcall.core.wording import amount, listed
from rightcall.testsets.promotion.calls import Arguments, Shared, shared
from rightcall.testsets.promotion.concealing import Conceal
from rightcall.testsets.promotion.ordering import Block, Column, Run, blocks


class Learned(msgspec.Struct, frozen=True):
    """The expectation key with its value, and what was generalised and why, in sentences."""

    key: str
    value: Any
    reasons: tuple[str, ...] = ()


class _Part(msgspec.Struct, frozen=True):
    """A step of the sequence, in which of the runs it was made, and why it is not a single call."""

    form: dict[str, Any]
    presence: tuple[bool, ...]
    names: tuple[str, ...]
    reasons: tuple[str, ...] = ()


def learn(runs: Sequence[Run], arguments: Arguments, conceal: Conceal) -> Learned:
    """What the runs share; `ValueError` where they are too many different calls to be put in order.

    Runs of the same tools in the same order are a list of expected calls. All others are a strict sequence of steps:
    what changed places is in any order, what is not in every run is optional, what was made more or less often is
    repeated, and of calls that never were in one run, one is made.
    """
    names = [[call.name for call in run] for run in runs]
    if all(one == names[0] for one in names):
        each = [shared(calls, arguments, conceal) for calls in zip(*runs, strict=True)]
        value = [call.expected() for call in each]
        return Learned("expected_tool_calls", value, _unique(reason for one in each for reason in one.reasons))
    parts = [part for run in _rows(blocks(runs)) for part in _of_row(run, arguments, conceal)]
    steps = [_optional(part) for part in _chosen(_together(parts))]
    sequence = {"strict": True, "steps": [step.form for step in steps]}
    return Learned("expected_tool_sequence", sequence, _unique(reason for step in steps for reason in step.reasons))


def _unique(reasons: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reasons))


def _rows(found: Sequence[Block]) -> Iterator[list[Block]]:
    """Calls of one tool that follow one another, together; each other block by itself."""
    row: list[Block] = []
    for block in found:
        if row and not (len(block) == len(row[-1]) == 1 and block[0].tool == row[-1][0].tool):
            yield row
            row = []
        row.append(block)
    if row:
        yield row


def _of_row(row: Sequence[Block], arguments: Arguments, conceal: Conceal) -> list[_Part]:
    if len(row[0]) > 1:
        return [_any_order(row[0], arguments, conceal)]
    columns = [block[0] for block in row]
    each = [shared(column.made, arguments, conceal) for column in columns]
    counts = [sum(there) for there in zip(*(column.presence for column in columns), strict=True)]
    are_different_constants = not any(one.reasons for one in each) and any(one.form != each[0].form for one in each)
    if len(set(counts) - {0}) == 1 or are_different_constants:
        return [_single(column, one, arguments) for column, one in zip(columns, each, strict=True)]
    every = shared([call for column in columns for call in column.made], arguments, conceal)
    return [_repeat(every, counts, arguments)]


def _single(column: Column, one: Shared, arguments: Arguments) -> _Part:
    return _Part(one.step(arguments), column.presence, (column.tool,), one.reasons)


def _repeat(every: Shared, counts: Sequence[int], arguments: Arguments) -> _Part:
    """The call as often as it was made; where it was not made at all, the whole is optional."""
    least, most = min(filter(None, counts)), max(counts)
    why = f"`{visible(every.tool)}` was made {least} to {amount(most, 'time')}: repeat"
    form = {"repeat": {"step": every.step(arguments), "min": least, "max": most}}
    return _Part(form, tuple(count > 0 for count in counts), (every.tool,), (why, *every.reasons))


def _any_order(block: Block, arguments: Arguments, conceal: Conceal) -> _Part:
    """The calls of a block in any order; those that are not in every run that has any of them are optional."""
    parts = [_single(column, shared(column.made, arguments, conceal), arguments) for column in block]
    presences = {part.presence for part in parts}
    presence = presences.pop() if len(presences) == 1 else tuple(True for _ in parts[0].presence)
    inner = parts if not presences else [_optional(part) for part in parts]
    names = tuple(column.tool for column in block)
    why = f"{_told(names)} changed places: any order"
    reasons = (why, *(reason for part in inner for reason in part.reasons))
    return _Part({"any_order": [part.form for part in inner]}, presence, names, reasons)


def _together(parts: Sequence[_Part]) -> Iterator[_Part]:
    """Steps that follow one another and were made in the same runs, if not in all, as one step."""
    group: list[_Part] = []
    for part in parts:
        if group and (all(part.presence) or part.presence != group[-1].presence):
            yield _joined(group, "in_order")
            group = []
        group.append(part)
    if group:
        yield _joined(group, "in_order")


def _chosen(parts: Iterator[_Part]) -> Iterator[_Part]:
    """Steps that follow one another and of which no run has two, as a choice of one."""
    group: list[_Part] = []
    for part in parts:
        if group and any(_overlap(part, one) for one in group):
            yield _joined(group, "one_of")
            group = []
        group.append(part)
    if group:
        yield _joined(group, "one_of")


def _overlap(one: _Part, other: _Part) -> bool:
    return any(here and there for here, there in zip(one.presence, other.presence, strict=True))


def _joined(group: Sequence[_Part], key: str) -> _Part:
    if len(group) == 1:
        return group[0]
    presence = tuple(any(there) for there in zip(*(part.presence for part in group), strict=True))
    names = tuple(name for part in group for name in part.names)
    why = (f"{_told(names)} never were in one run: one of them",) if key == "one_of" else ()
    reasons = (*why, *(reason for part in group for reason in part.reasons))
    return _Part({key: [part.form for part in group]}, presence, names, reasons)


def _optional(part: _Part) -> _Part:
    """The step, or nothing where some run has none of it."""
    if all(part.presence):
        return part
    many = sum(part.presence)
    verb = "was" if len(set(part.names)) == 1 else "were"
    why = f"{_told(part.names)} {verb} made in {many} of {amount(len(part.presence), 'run')}: optional"
    return msgspec.structs.replace(part, form={"optional": part.form}, reasons=(why, *part.reasons))


def _told(names: Sequence[str]) -> str:
    return listed([f"`{visible(name)}`" for name in dict.fromkeys(names)])
