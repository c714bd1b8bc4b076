"""Small changes to a trajectory that a good expectation notices: mutation analysis of expectations.

The idea is that of mutation testing (DeMillo, Lipton and Sayward 1978): a change that no expectation notices is a
wrong call that would pass. Each operator makes one sort of change, one place at a time. Everything is in a fixed
order, and what is too much is thinned out evenly, so that the same input gives the same mutants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.leaves import Leaf, changed, leaves, nothing_changed, removed
from rightcall.core.values import cut, display, equal, member, visible

UNKNOWN_TOOL: Final = "unknown_tool"
"""The name of the tool that nobody expects; more is put after it where an expectation uses it."""

NEW_ARGUMENT: Final = "unknown_argument"

MOST_TARGETS: Final = 2_000
"""Calls of one trajectory that are changed; of more, so many are taken evenly."""

MOST_LEAVES: Final = 100
"""Values inside the arguments of one call that are changed."""

_SHOWN: Final = 60


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    """One change: its operator, what it does in words, the call it is about (from 0), and the calls afterwards.

    `path` is the JSON path of a changed argument. `other` is the second call of a swap.
    """

    operator: str
    words: str
    make: Callable[[], tuple[ToolCall, ...]]
    at: int | None = None
    other: int | None = None
    path: str = ""

    def of(self, trajectory: Trajectory) -> Trajectory:
        """The trajectory with the change made."""
        return replace(trajectory, tool_calls=self.make())

    def swaps_parallel(self, calls: Sequence[ToolCall]) -> bool:
        """Whether it swaps calls of one message."""
        if self.at is None or self.other is None:
            return False
        message = calls[self.at].message
        return message is not None and message == calls[self.other].message


class Strangers(msgspec.Struct, frozen=True):
    """Names of tools to add calls of: one that nobody knows, and one that is forbidden, if one is."""

    unknown: str = UNKNOWN_TOOL
    forbidden: str | None = None


class Drawn(msgspec.Struct, frozen=True):
    """The mutants to try, and how many there are: of more calls and values than the limits, only those looked at."""

    mutants: tuple[Mutant, ...]
    possible: int
    is_sample: bool


def draw(trajectory: Trajectory, strangers: Strangers, most: int) -> Drawn:
    """The mutants of a trajectory, or at most so many of them, evenly over all."""
    calls = trajectory.tool_calls or ()
    found = [list(make(calls, strangers)) for make in OPERATORS.values()]
    possible = sum(map(len, found))
    share = [max(1, most * len(each) // possible) if each else 0 for each in found] if possible > most else None
    kept = found if share is None else [evenly(each, number) for each, number in zip(found, share, strict=True)]
    mutants = tuple(mutant for each in kept for mutant in each)
    is_sample = share is not None or len(calls) > MOST_TARGETS
    return Drawn(mutants, possible, is_sample or any(_has_more_leaves(call) for call in calls[:MOST_TARGETS]))


def evenly(things: Sequence[Any], number: int) -> list[Any]:
    """So many of the things, at even distances, the first among them."""
    return [things[index * len(things) // number] for index in range(min(number, len(things)))]


def _targets(calls: Sequence[ToolCall]) -> list[int]:
    return evenly(range(len(calls)), min(len(calls), MOST_TARGETS))


def _has_more_leaves(call: ToolCall) -> bool:
    return next(islice(leaves(call.arguments), MOST_LEAVES, None), None) is not None


def _drop(calls: Sequence[ToolCall], _: Strangers) -> Iterator[Mutant]:
    for at in _targets(calls):
        words = f"call {at + 1}, {_named(calls[at])}, left out"
        yield Mutant(operator="drop-call", words=words, at=at, make=partial(_dropped, calls, at))


def _dropped(calls: Sequence[ToolCall], at: int) -> tuple[ToolCall, ...]:
    return _rearranged(calls, [index for index in range(len(calls)) if index != at])


def _duplicate(calls: Sequence[ToolCall], _: Strangers) -> Iterator[Mutant]:
    for at in _targets(calls):
        words = f"call {at + 1}, {_named(calls[at])}, made twice"
        copied = replace(calls[at], id=None)
        yield Mutant(
            operator="duplicate-call",
            words=words,
            at=at,
            make=partial(_inserted, calls, at + 1, copied),
        )


def _swap(calls: Sequence[ToolCall], _: Strangers) -> Iterator[Mutant]:
    for at, other in _pairs(calls):
        if not _are_alike(calls[at], calls[other]):
            words = f"calls {at + 1} and {other + 1}, {_named(calls[at])} and {_named(calls[other])}, swapped"
            yield Mutant(
                operator="swap-calls",
                words=words,
                at=at,
                other=other,
                make=partial(_swapped, calls, at, other),
            )


def _pairs(calls: Sequence[ToolCall]) -> Iterator[tuple[int, int]]:
    """Neighbours, then others of different tools: each with the nearest and with the farthest after it."""
    targets = [at for at in _targets(calls) if at + 1 < len(calls)]
    yield from ((at, at + 1) for at in targets)
    for at in targets:
        later = [range(at + 2, min(len(calls), at + MOST_TARGETS)), range(len(calls) - 1, at + 1, -1)]
        found = [
            next((other for other in islice(each, 100) if calls[other].name != calls[at].name), 0) for each in later
        ]
        yield from ((at, other) for other in dict.fromkeys(found) if other)


def _are_alike(one: ToolCall, other: ToolCall) -> bool:
    same = one.name == other.name and one.arguments_state == other.arguments_state
    return same and equal(one.arguments, other.arguments)


def _swapped(calls: Sequence[ToolCall], at: int, other: int) -> tuple[ToolCall, ...]:
    order = list(range(len(calls)))
    order[at], order[other] = other, at
    return _rearranged(calls, order)


def _rename(calls: Sequence[ToolCall], strangers: Strangers) -> Iterator[Mutant]:
    for at in _targets(calls):
        words = f"call {at + 1}, {_named(calls[at])}, made to `{strangers.unknown}` instead"
        renamed = replace(calls[at], name=strangers.unknown)
        yield Mutant(
            operator="rename-tool",
            words=words,
            at=at,
            make=partial(_replaced, calls, at, renamed),
        )


def _change(calls: Sequence[ToolCall], _: Strangers) -> Iterator[Mutant]:
    yield from _edits(calls, "change-argument", lambda leaf: changed(leaf.value))


def _null(calls: Sequence[ToolCall], _: Strangers) -> Iterator[Mutant]:
    yield from _edits(calls, "null-argument", lambda leaf: nothing_changed if leaf.value is None else None)


def _remove(calls: Sequence[ToolCall], _: Strangers) -> Iterator[Mutant]:
    yield from _edits(calls, "remove-argument", lambda leaf: removed if leaf.steps else nothing_changed)


def _edits(calls: Sequence[ToolCall], operator: str, edit: Callable[[Leaf], Any]) -> Iterator[Mutant]:
    """One mutant for each value in the arguments of each call, with another value in its place."""
    for at in _targets(calls):
        for leaf in islice(leaves(calls[at].arguments), MOST_LEAVES) if calls[at].arguments_state == "ok" else ():
            value = edit(leaf)
            if value is not nothing_changed:
                yield _edited(calls, at, leaf, operator, value)


def _edited(calls: Sequence[ToolCall], at: int, leaf: Leaf, operator: str, value: Any) -> Mutant:
    where = f"{f'`{leaf.path}`' if leaf.path else 'the arguments'} of call {at + 1}, {_named(calls[at])},"
    how = "left out" if value is removed else f"{display(value, _SHOWN)} instead of {display(leaf.value, _SHOWN)}"

    return Mutant(
        operator=operator, words=f"{where} {how}", at=at, path=leaf.path, make=partial(_put, calls, at, leaf, value)
    )


def _put(calls: Sequence[ToolCall], at: int, leaf: Leaf, value: Any) -> tuple[ToolCall, ...]:
    return _replaced(calls, at, replace(calls[at], arguments=leaf.put(calls[at].arguments, value)))


def _add_argument(calls: Sequence[ToolCall], _: Strangers) -> Iterator[Mutant]:
    for at in _targets(calls):
        call = calls[at]
        if call.arguments_state == "ok" and isinstance(call.arguments, dict):
            key = _unused(NEW_ARGUMENT, call.arguments)
            words = f"`{key}` = 1 added to call {at + 1}, {_named(call)}"
            more = replace(call, arguments={**call.arguments, key: 1})
            yield Mutant(
                operator="add-argument",
                words=words,
                at=at,
                path=member("", key),
                make=partial(_replaced, calls, at, more),
            )


def _add_unknown(calls: Sequence[ToolCall], strangers: Strangers) -> Iterator[Mutant]:
    yield from _additions(calls, "add-unknown-call", strangers.unknown)


def _add_forbidden(calls: Sequence[ToolCall], strangers: Strangers) -> Iterator[Mutant]:
    if strangers.forbidden is not None:
        yield from _additions(calls, "add-forbidden-call", strangers.forbidden)


def _additions(calls: Sequence[ToolCall], operator: str, name: str) -> Iterator[Mutant]:
    """A call of a tool at the start, in the middle and at the end, by the agent and in the turn of its neighbour."""
    for at, words in {len(calls): "at the end", len(calls) // 2: "in the middle", 0: "at the start"}.items():
        beside = calls[min(at, len(calls) - 1)] if calls else ToolCall(name=name)
        new = ToolCall(name=name, status="ok", turn=beside.turn, agent=beside.agent, agent_path=beside.agent_path)
        yield Mutant(
            operator=operator,
            words=f"a call of `{visible(name)}` added {words}",
            at=at,
            make=partial(_inserted, calls, at, new),
        )


def _no_calls(calls: Sequence[ToolCall], _: Strangers) -> Iterator[Mutant]:
    if calls:
        yield Mutant(operator="no-calls", words="no call made at all", make=tuple)


OPERATORS: Final[dict[str, Callable[[Sequence[ToolCall], Strangers], Iterator[Mutant]]]] = {
    "no-calls": _no_calls,
    "drop-call": _drop,
    "duplicate-call": _duplicate,
    "swap-calls": _swap,
    "rename-tool": _rename,
    "change-argument": _change,
    "null-argument": _null,
    "remove-argument": _remove,
    "add-argument": _add_argument,
    "add-unknown-call": _add_unknown,
    "add-forbidden-call": _add_forbidden,
}
"""Every sort of change by its name."""


def _named(call: ToolCall) -> str:
    return f"`{cut(visible(call.name), _SHOWN)}`"


def _unused(name: str, taken: Any) -> str:
    while name in taken:
        name += "_"
    return name


def _replaced(calls: Sequence[ToolCall], at: int, call: ToolCall) -> tuple[ToolCall, ...]:
    return (*calls[:at], call, *calls[at + 1 :])


def _inserted(calls: Sequence[ToolCall], at: int, call: ToolCall) -> tuple[ToolCall, ...]:
    """The calls with one more; those inside other calls still stand inside the same ones."""
    moved = [_inside(each, each.parent + (each.parent >= at)) if each.parent is not None else each for each in calls]
    parent = call.parent if call.parent is None or call.parent < at else call.parent + 1
    return (*moved[:at], _inside(call, parent), *moved[at:])


def _rearranged(calls: Sequence[ToolCall], order: Sequence[int]) -> tuple[ToolCall, ...]:
    """The calls in another order, some perhaps left out, each inside the call that it was inside before."""
    if all(call.parent is None for call in calls):
        return tuple([calls[index] for index in order])
    places = {index: place for place, index in enumerate(order)}
    return tuple([_inside(calls[index], places.get(calls[index].parent)) for index in order])  # type: ignore[arg-type]  # no parent is at no place


def _inside(call: ToolCall, parent: int | None) -> ToolCall:
    return call if call.parent == parent else replace(call, parent=parent)
