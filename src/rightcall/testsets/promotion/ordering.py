"""The order that several runs share: calls in a row, and calls that changed places.

An item is the n-th call of a tool. Items of which each stood before the other, be it by way of others, are one block:
the strongly connected components of "stood before in some run", in a topological order. Every run agrees with the order
of the blocks, so that their sequence accepts every run if each block accepts its calls in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from rightcall.core.calls import ToolCall

Item = tuple[str, int]
"""A tool, and which of its calls in a run, from 0."""

Run = Sequence[ToolCall]

MOST_ITEMS: Final = 1000
"""Different items that are put in order, at most."""


class Column(msgspec.Struct, frozen=True):
    """An item, and its call in each run, `None` where that run has none."""

    tool: str
    calls: tuple[ToolCall | None, ...]

    @property
    def made(self) -> list[ToolCall]:
        """Its calls in the runs that have one."""
        return [call for call in self.calls if call is not None]

    @property
    def presence(self) -> tuple[bool, ...]:
        """In which of the runs it is."""
        return tuple(call is not None for call in self.calls)


Block = tuple[Column, ...]


def blocks(runs: Sequence[Run]) -> list[Block]:
    """The items of all runs in an order that every run agrees with; those of one block changed places.

    `ValueError` for more than `MOST_ITEMS` items.
    """
    numbered = [_numbered(run) for run in runs]
    columns = {item: Column(item[0], tuple(run.get(item) for run in numbered)) for run in numbered for item in run}
    if len(columns) > MOST_ITEMS:
        raise ValueError(f"{len(columns):,} different calls are more than the {MOST_ITEMS:,} that can be put in order")
    place = {item: index for index, item in enumerate(columns)}
    after = _reached([[place[item] for item in run] for run in numbered], len(columns))
    listed = list(columns.values())
    return [tuple(listed[index] for index in block) for block in _in_order(after, listed)]


def _numbered(run: Run) -> dict[Item, ToolCall]:
    """The calls of a run by item, in their order."""
    counts: dict[str, int] = {}
    numbered: dict[Item, ToolCall] = {}
    for call in run:
        number = counts.get(call.name, 0)
        counts[call.name] = number + 1
        numbered[call.name, number] = call
    return numbered


def _reached(orders: Sequence[Sequence[int]], count: int) -> list[int]:
    """What stood after each item, be it by way of others, as a set of bits (Warshall 1962)."""
    after = [0] * count
    for order in orders:
        later = 0
        for index in reversed(order):
            after[index] |= later
            later |= 1 << index
    for middle in range(count):
        reached = after[middle]
        for index in range(count):
            if after[index] >> middle & 1:
                after[index] |= reached
    return after


def _in_order(after: Sequence[int], columns: Sequence[Column]) -> Iterator[list[int]]:
    """The blocks in order; where there is a choice, one of the same runs as the one before it, else the first."""
    waiting = {block[0]: block for block in _components(after)}
    before = {
        first: _sum(other for other in waiting if after[other] >> first & 1 and other != first) for first in waiting
    }
    left = _sum(waiting)
    last: tuple[bool, ...] = ()
    while waiting:
        ready = [first for first in waiting if not before[first] & left]
        first = min(ready, key=lambda one: (columns[one].presence != last, one))
        block = waiting.pop(first)
        left, last = left & ~(1 << first), columns[block[-1]].presence
        yield block


def _sum(indices: Iterable[int]) -> int:
    """A set of bits."""
    return sum(1 << index for index in indices)


def _components(after: Sequence[int]) -> list[list[int]]:
    """The items that each reach the other, together."""
    found: dict[int, list[int]] = {}
    for index, reached in enumerate(after):
        first = next((one for one in found if reached >> one & 1 and after[one] >> index & 1), index)
        found.setdefault(first, []).append(index)
    return list(found.values())
