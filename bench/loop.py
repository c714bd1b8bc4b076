"""What an engineer writes without a tool: a loop with `==` on dicts.

A good one: it pairs greedily for precision and recall in every mode. It takes `True` for 1, and where patterns
compete for calls greedy pairing finds fewer pairs than there are; the cases measured here hold neither.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.calls import Call

Same = Callable[[dict[str, Any], dict[str, Any]], bool]

SAME: dict[str, Same] = {
    "partial": lambda wanted, given: wanted.items() <= given.items(),
    "exact": lambda wanted, given: wanted == given,
    "ignore": lambda wanted, given: True,
}


def evaluate(expected: list[Call], made: list[Call], match: str, same: Same) -> dict[str, Any]:
    """Status, precision and recall."""
    paired = count_pairs(expected, made, same)
    if match == "in_order":
        passed = is_in_order(expected, made, same)
    elif match == "any_order":
        passed = paired == len(expected) == len(made)
    else:
        passed = paired == len(expected)
    return {
        "status": "pass" if passed else "fail",
        "precision": paired / len(made) if made else None,
        "recall": paired / len(expected) if expected else None,
    }


def count_pairs(expected: list[Call], made: list[Call], same: Same) -> int:
    """How many expected calls find a call of their own, first come, first served."""
    free = list(made)
    for wanted in expected:
        for at, call in enumerate(free):
            if call["name"] == wanted["name"] and same(wanted["arguments"], call["arguments"]):
                del free[at]
                break
    return len(made) - len(free)


def is_in_order(expected: list[Call], made: list[Call], same: Same) -> bool:
    """Whether the expected calls were made one after another, others in between or not."""
    at = 0
    for call in made:
        if at == len(expected):
            break
        if call["name"] == expected[at]["name"] and same(expected[at]["arguments"], call["arguments"]):
            at += 1
    return at == len(expected)
