"""How much is measured."""

from __future__ import annotations

from typing import NamedTuple


class Scale(NamedTuple):
    """Sizes of the benchmarks. `rounds` is how often each is repeated.

    `records` is the length of the large file, which is measured in so many `slices`, a round each. `megabytes` is the
    size of the largest file whose reading is watched for memory. `turns` are those that agents are asked.
    """

    rounds: int = 15
    slices: int = 10
    evaluations: int = 400
    records: int = 200_000
    calls: int = 100_000
    megabytes: int = 200
    turns: int = 10_000
    peers: bool = True


FULL = Scale()
QUICK = Scale(rounds=3, slices=3, evaluations=40, records=300, calls=400, megabytes=1, turns=400, peers=False)
"""Shows that everything runs; its figures mean little."""
