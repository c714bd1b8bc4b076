"""A reference for alignments: every way to put calls side by side, by brute force, and the one that costs least."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from rightcall.core.assertion import Compiled
from rightcall.core.calls import ToolCall
from rightcall.core.patterns import ExpectedCall
from rightcall.core.rows import Row
from support.grading import trajectory

Beside = dict[int, tuple[int, str]]
"""By expected position: the made position beside it, and the mark."""

Fits = Callable[[ExpectedCall, ToolCall], bool]


def fits(expected: ExpectedCall, made: ToolCall) -> bool:
    """Compatibility of partial arguments that are objects of scalars, spelt out."""
    wanted = expected.arguments if isinstance(expected.arguments, dict) else {}
    return expected.name == made.name and all(made.arguments.get(key) == value for key, value in wanted.items())


def differing(expected: ExpectedCall, made: ToolCall) -> int:
    """How many of the listed arguments differ."""
    wanted: dict[str, Any] = expected.arguments if isinstance(expected.arguments, dict) else {}
    return sum(made.arguments.get(key) != value for key, value in wanted.items())


def longest_in_order(expected: Sequence[ExpectedCall], made: Sequence[ToolCall]) -> int:
    """The most matches in order: the textbook table."""
    table = [[0] * (len(made) + 1) for _ in range(len(expected) + 1)]
    for i, wanted in enumerate(expected):
        for j, call in enumerate(made):
            here = table[i][j] + 1 if fits(wanted, call) else 0
            table[i + 1][j + 1] = max(here, table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


def everything(expected: Sequence[ExpectedCall], made: Sequence[ToolCall], ordered: bool) -> Iterator[Beside]:
    """Every alignment that the model allows."""
    places = [*range(len(made)), *[None] * len(expected)]
    for chosen in set(itertools.permutations(places, len(expected))):
        pairs = [(index, at) for index, at in enumerate(chosen) if at is not None]
        if any(expected[index].name != made[at].name for index, at in pairs):
            continue
        marks = [
            (("match", "moved") if ordered else ("match",)) if fits(expected[index], made[at]) else ("differs",)
            for index, at in pairs
        ]
        for named in itertools.product(*marks):
            beside = {index: (at, mark) for (index, at), mark in zip(pairs, named, strict=True)}
            matches = [at for at, mark in beside.values() if mark == "match"]
            if not ordered or matches == sorted(matches):
                yield beside


def cost(beside: Beside, expected: Sequence[ExpectedCall], made: Sequence[ToolCall]) -> tuple[Any, ...]:
    """What is minimised, stage by stage, and the order of what costs the same."""
    stages: list[Any] = []
    for mark in ("match", "moved"):
        indices = [index for index in sorted(beside) if beside[index][1] == mark]
        stages += [-len(indices), indices, [beside[index][0] for index in indices]]
    pairs = [(index, at) for index, (at, mark) in beside.items() if mark == "differs"]
    stages += [-len(pairs), sum(differing(expected[index], made[at]) for index, at in pairs)]
    stages += [[dict(pairs).get(index, len(made)) for index in range(len(expected))]]
    return tuple(stages)


def cheapest(expected: Sequence[ExpectedCall], made: Sequence[ToolCall], ordered: bool) -> Beside:
    """The alignment that costs least; if it pairs too few, the least that has the pairs of the largest pairing."""
    every = list(everything(expected, made, ordered))
    best = min(every, key=lambda beside: cost(beside, expected, made))
    largest = min(everything(expected, made, False), key=lambda beside: cost(beside, expected, made))
    if len(paired(best)) == len(paired(largest)):
        return best
    same = [beside for beside in every if paired(beside) == paired(largest)]
    return min(same, key=lambda beside: cost(beside, expected, made))


def paired(beside: Beside) -> dict[int, int]:
    """The pairs whose arguments match."""
    return {index: at for index, (at, mark) in beside.items() if mark != "differs"}


def shown(rows: Sequence[Row]) -> Beside:
    """What stands beside what in the rows of an alignment."""
    return {
        row.expected_index: (row.made_index, row.mark)
        for row in rows
        if row.expected_index is not None and row.made_index is not None
    }


def rows_of(one: Compiled, made: Iterable[ToolCall]) -> tuple[Row, ...]:
    """The alignment that a check shows."""
    check: Any = one.check
    rows: tuple[Row, ...] = check.align(trajectory(*made))
    return rows
