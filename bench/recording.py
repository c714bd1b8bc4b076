"""Files of made-up records: each carries its expectations, about 2.3 kB, three quarters of them met."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import msgspec

from bench.calls import attempt, expectation, sentence

PASS_RATE = 0.76
KEYS = (2, 5)


def record(rng: random.Random, number: int) -> dict[str, Any]:
    """One record: 3 to 5 expected calls, 6 to 10 made ones, and the words around them."""
    expected = expectation(rng, rng.randint(3, 5), KEYS)
    return {
        "id": f"record-{number}",
        "prompt": sentence(rng, 30),
        "expected_tool_calls": expected,
        "tool_calls": attempt(rng, expected, rng.randint(6, 10), PASS_RATE, KEYS),
        "output": sentence(rng, 40),
    }


def write(path: Path, count: int) -> None:
    """Write a file of so many records, unless it is there already."""
    if path.exists():
        return
    rng = random.Random(7)
    encode = msgspec.json.Encoder().encode
    unfinished = path.with_suffix(".tmp")
    with unfinished.open("wb") as file:
        for number in range(count):
            file.write(encode(record(rng, number)) + b"\n")
    unfinished.rename(path)
