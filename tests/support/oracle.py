"""A brute-force oracle for lining calls up: the table of section 6 of the rules, read literally."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TypeVar

Wanted = TypeVar("Wanted")
Made = TypeVar("Made")
Compatible = Callable[[Wanted, Made], bool]


def exact(expected: Sequence[Wanted], made: Sequence[Made], fits: Compatible[Wanted, Made]) -> bool:
    """Same length, and position by position compatible."""
    return len(expected) == len(made) and all(fits(e, a) for e, a in zip(expected, made, strict=True))


def in_order(expected: Sequence[Wanted], made: Sequence[Made], fits: Compatible[Wanted, Made]) -> bool:
    """Some choice of calls, in order, is exactly what was expected."""
    return any(exact(expected, chosen, fits) for chosen in itertools.combinations(made, len(expected)))


def superset(expected: Sequence[Wanted], made: Sequence[Made], fits: Compatible[Wanted, Made]) -> bool:
    """Some choice of calls, in any order, is exactly what was expected."""
    return any(exact(expected, chosen, fits) for chosen in itertools.permutations(made, len(expected)))


def subset(expected: Sequence[Wanted], made: Sequence[Made], fits: Compatible[Wanted, Made]) -> bool:
    """Some choice of expected calls, in any order, is exactly what was made."""
    return any(exact(chosen, made, fits) for chosen in itertools.permutations(expected, len(made)))


def any_order(expected: Sequence[Wanted], made: Sequence[Made], fits: Compatible[Wanted, Made]) -> bool:
    """Both at once."""
    return len(expected) == len(made) and superset(expected, made, fits)


MODES = {"exact": exact, "in_order": in_order, "any_order": any_order, "subset": subset, "superset": superset}


def passes(mode: str, expected: Sequence[Wanted], made: Sequence[Made], fits: Compatible[Wanted, Made]) -> bool:
    """Whether the calls line up; an empty expectation means no calls at all, in every mode (G17)."""
    return not made if not expected else MODES[mode](expected, made, fits)


def most_pairs(expected: Sequence[Wanted], made: Sequence[Made], fits: Compatible[Wanted, Made]) -> int:
    """The size of a maximum one-to-one pairing."""
    if not expected:
        return 0
    without = most_pairs(expected[1:], made, fits)
    using = [
        1 + most_pairs(expected[1:], [*made[:at], *made[at + 1 :]], fits)
        for at, call in enumerate(made)
        if fits(expected[0], call)
    ]
    return max([without, *using])
