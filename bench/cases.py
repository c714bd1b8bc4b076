"""The cases of the evaluation benchmark: 5 expected calls, 10 made, three quarters right, the same for everyone."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from bench.calls import Call, attempt, expectation

PASS_RATE = 0.75
EXPECTED = 5
MADE = 10
KEYS = (4, 4)
ATTEMPTS = 20

MATCHES = ("in_order", "any_order", "superset")
ARGUMENTS = ("partial", "exact", "ignore")
SETTINGS = tuple(f"{match}/{arguments}" for match in MATCHES for arguments in ARGUMENTS)


class Case(NamedTuple):
    """One test and what agents made of it: evaluations of the same expected calls."""

    expected: list[Call]
    attempts: list[list[Call]]


def cases(evaluations: int) -> list[Case]:
    """Cases for so many evaluations, at least one of `ATTEMPTS` attempts."""
    rng = random.Random(11)
    return [_case(rng) for _ in range(max(1, evaluations // ATTEMPTS))]


def _case(rng: random.Random) -> Case:
    expected = expectation(rng, EXPECTED, KEYS)
    return Case(expected, [attempt(rng, expected, MADE, PASS_RATE, KEYS) for _ in range(ATTEMPTS)])


def as_json(made: list[Case]) -> list[dict[str, Any]]:
    """What peers read."""
    return [case._asdict() for case in made]
