"""Keeping things until they are needed, in memory or wherever somebody keeps them, and sorting more than memory holds.

A reader is handed what keeps things (`Keep`), since it may not open files itself. Without one, memory keeps them.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final, Generic, Protocol, TypeVar

Thing = TypeVar("Thing")
Row = TypeVar("Row", bound=tuple[Any, ...])

HELD: Final = 50_000
"""Rows that are sorted in memory; more are sorted in runs of so many, which are then merged."""

_BLOCK: Final = 256


class Keeper(Protocol[Thing]):
    """Keeps things of one kind, and gives each back, as often as it is asked, for the ticket it was kept under."""

    def keep(self, thing: Thing, /) -> int:
        """Keep a thing and return its ticket."""

    def fetch(self, ticket: int, /) -> Thing:
        """Give back what a ticket stands for."""


class Keep(Protocol):
    """Makes a keeper of things of a kind: a type that a decoder can be made for."""

    def __call__(self, kind: Any, /) -> Keeper[Any]:
        """A new keeper."""


class Memory(Generic[Thing]):
    """Keeps things as they are, in memory."""

    def __init__(self, kind: Any = None) -> None:
        self._things: list[Thing] = []

    def keep(self, thing: Thing, /) -> int:
        """Keep a thing and return its ticket."""
        self._things.append(thing)
        return len(self._things) - 1

    def fetch(self, ticket: int, /) -> Thing:
        """Give back what a ticket stands for."""
        return self._things[ticket]


def in_order(rows: Iterable[Row], keeper: Keeper[list[Row]], held: int = HELD) -> Iterator[Row]:
    """All rows in ascending order (an external merge sort): at most `held` are in memory, and some of each run.

    All rows are taken before the first is given. Rows must be all different, or equal ones interchangeable.
    """
    source = iter(rows)
    run = sorted(islice(source, held))
    if len(run) < held:
        return iter(run)
    runs: list[list[int]] = []
    while run:
        runs.append([keeper.keep(run[at : at + _BLOCK]) for at in range(0, len(run), _BLOCK)])
        run = sorted(islice(source, held))
    return heapq.merge(*(_fetched(keeper, tickets) for tickets in runs))


def _fetched(keeper: Keeper[list[Row]], tickets: list[int]) -> Iterator[Row]:
    for ticket in tickets:
        yield from keeper.fetch(ticket)
