"""Assignment: one column for each row, no column twice, at the least total cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MOST_TO_ASSIGN: Final = 100
"""Rows, and columns, that are assigned in no time that anybody would notice, at most."""


def assign(costs: Sequence[Sequence[int]]) -> list[int | None]:
    """For each row the column it is given, or `None` for some of the rows where there are more rows than columns.

    As many rows as possible are given a column, and the total cost is the least. Among equal totals the columns,
    read row by row, are lexicographically least, `None` coming last. Costs are integers from 0.
    """
    rows = len(costs)
    columns = len(costs[0]) if costs else 0
    width = max(rows, columns)
    # Digits of one number for each row: where totals are equal, the number is what is least.
    base = columns + 1
    places = [base ** (rows - 1 - row) for row in range(rows)]
    scale = base**rows
    weighed = [
        [cost * scale + at * places[row] for at, cost in enumerate(line)] + [columns * places[row]] * (width - columns)
        for row, line in enumerate(costs)
    ]
    return [at if at < columns else None for at in _cheapest(weighed, width)]


def _cheapest(costs: Sequence[Sequence[int]], width: int) -> list[int]:
    """The column of each row, by shortest augmenting paths with potentials (Kuhn 1955, Tomizawa 1971)."""
    owner: list[int | None] = [None] * width
    of_row, of_column = [0] * len(costs), [0] * width
    for row in range(len(costs)):
        _augment(costs, row, owner, of_row, of_column)
    given = {row: column for column, row in enumerate(owner) if row is not None}
    return [given[row] for row in range(len(costs))]


def _augment(
    costs: Sequence[Sequence[int]], start: int, owner: list[int | None], of_row: list[int], of_column: list[int]
) -> None:
    """Give one more row a column, on the path that costs least, and keep the reduced costs from 0."""
    distance: list[int | None] = [None] * len(owner)
    came_from = [start] * len(owner)
    done: dict[int, int] = {}
    row, reached = start, 0
    while True:
        for column, price in enumerate(of_column):
            if column not in done:
                length = reached + costs[row][column] - of_row[row] - price
                known = distance[column]
                if known is None or length < known:
                    distance[column], came_from[column] = length, row
        reached, last = min((length, at) for at, length in enumerate(distance) if length is not None and at not in done)
        done[last] = reached
        following = owner[last]
        if following is None:
            break
        row = following
    _reprice(start, reached, done, owner, of_row, of_column)
    _hand_over(start, last, came_from, owner)


def _reprice(
    start: int,
    reached: int,
    done: dict[int, int],
    owner: list[int | None],
    of_row: list[int],
    of_column: list[int],
) -> None:
    of_row[start] += reached
    for column, length in done.items():
        of_column[column] -= reached - length
        row = owner[column]
        if row is not None:
            of_row[row] += reached - length


def _hand_over(start: int, last: int, came_from: list[int], owner: list[int | None]) -> None:
    """Each row on the path takes the next column and leaves its own to the row before."""
    held = {row: column for column, row in enumerate(owner) if row is not None}
    column = last
    while True:
        row = came_from[column]
        owner[column] = row
        if row == start:
            return
        column = held[row]
