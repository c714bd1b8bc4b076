"""The call that comes nearest to one that was wanted, as a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rightcall.core.counting import Counted
from rightcall.core.explaining import Effort, closest
from rightcall.core.patterns import Pattern
from rightcall.core.values import visible
from rightcall.core.wording import mismatch


def nearest(patterns: Iterable[Pattern], counted: Counted, positions: Sequence[int]) -> str:
    """How the nearest of the calls differs from the first pattern that has its tool, after a space; empty without."""
    for pattern in patterns:
        rivals = [at for at in positions if counted.calls[at].name == pattern.name]
        if rivals and pattern.matches is not None:
            at = closest(pattern, counted.calls, rivals, Effort())
            near = mismatch(pattern, counted.calls[at])
            return f" Expected {visible(pattern.name)} {near.wanted}; call {counted.indices[at] + 1} {near.found}."
    return ""
