"""The longest in-order pairing itself: which expected call goes with which call made, none of them crossing.

`pairing.longest_in_order` gives its length, for the details of every failure; the pairing is only made to be shown.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Final

from rightcall.core.pairing import Candidates, mask_of

Pairs = list[int | None]

MOST_CELLS: Final = 200_000_000
"""Pairs of an expected call and a call made that are searched for the longest chain, at most: 14,000 by 14,000."""


def longest_chain(found: Candidates, made: int) -> Pairs | None:
    """For each expected position the made position that it is chained to, or `None`; `None` beyond the limit.

    Of all longest chains it is the one that holds the lexicographically earliest expected positions and, among
    those, the earliest made positions.
    """
    start, pairs = _first_fits(found)
    if len(pairs) == len(found):
        return pairs
    if (len(found) - len(pairs)) * (made - start) > MOST_CELLS:
        return None
    return pairs + _search(found[len(pairs) :], start, made)


def _first_fits(found: Candidates) -> tuple[int, Pairs]:
    """A beginning that is sure to be part of that chain, and the first made position after it.

    If every expected call has a first fit after the one before, that is the chain; else the calls are that fit one
    to one from the start.
    """
    at, fits = 0, list[int | None]()
    for positions in found:
        position = _next(positions, at)
        if position is None:
            break
        fits.append(position)
        at = position + 1
    if len(fits) == len(found):
        return at, fits
    start = next((index for index, position in enumerate(fits) if position != index), len(fits))
    return start, fits[:start]


def _next(positions: Sequence[int], start: int) -> int | None:
    """The first of the ascending positions that is at least `start`."""
    at = bisect.bisect_left(positions, start)
    return positions[at] if at < len(positions) else None


def _search(found: Candidates, start: int, made: int) -> Pairs:
    """Take an expected call whenever a longest chain can begin with it, with the first call made that is left."""
    ends = _Ends(found, start, made)
    pairs: Pairs = []
    at, left = start, ends.longest(0, start)
    for index, positions in enumerate(found):
        position = _next(positions, at)
        if position is not None and 1 + ends.longest(index + 1, position + 1) == left:
            pairs.append(position)
            at, left = position + 1, left - 1
        else:
            pairs.append(None)
    return pairs


class _Ends:
    """How long the longest chain is of the expected calls from one position and the calls made from another.

    Rows of the longest common subsequence table as the bits of integers (Hyyrö 2004), built from the end: a zero
    is a place where the length grows.
    """

    def __init__(self, found: Candidates, start: int, made: int) -> None:
        self.made = made
        full = (1 << (made - start)) - 1
        masks: dict[int, int] = {}
        row = full
        self.rows = [row]
        for positions in reversed(found):
            if id(positions) not in masks:
                masks[id(positions)] = mask_of([made - 1 - at for at in reversed(positions) if at >= start])
            taken = row & masks[id(positions)]
            row = ((row + taken) | (row - taken)) & full
            self.rows.append(row)
        self.rows.reverse()

    def longest(self, index: int, position: int) -> int:
        """The length for the expected calls from `index` and the calls made from `position`."""
        width = self.made - position
        return width - (self.rows[index] & ((1 << width) - 1)).bit_count()


def longest_rising(pairs: Sequence[int | None]) -> Pairs:
    """Only those of the pairs that are in order, as many as possible: the longest increasing subsequence."""
    tails: list[int] = []
    ends: list[int] = []
    before: dict[int, int | None] = {}
    for index, made in enumerate(pairs):
        if made is not None:
            at = bisect.bisect_left(ends, made)
            before[index] = tails[at - 1] if at else None
            ends[at : at + 1] = [made]
            tails[at : at + 1] = [index]
    rising: Pairs = [None] * len(pairs)
    index_or_none = tails[-1] if tails else None
    while index_or_none is not None:
        rising[index_or_none] = pairs[index_or_none]
        index_or_none = before[index_or_none]
    return rising
