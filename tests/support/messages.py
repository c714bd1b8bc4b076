"""Calls as the messages of a model made them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from random import Random

from msgspec.structs import replace

from rightcall.core.calls import ToolCall


def in_messages(made: Sequence[ToolCall], starts: Sequence[bool]) -> tuple[ToolCall, ...]:
    """The calls, a message beginning wherever it is said."""
    numbers = itertools.accumulate(starts)
    return tuple(replace(one, message=number) for one, number in zip(made, numbers, strict=False))


def shuffled_in_messages(made: Sequence[ToolCall], random: Random) -> tuple[ToolCall, ...]:
    """The calls, those of one message in another order."""
    runs = [list(run) for _, run in itertools.groupby(made, key=lambda one: one.message)]
    for run in runs:
        random.shuffle(run)
    return tuple(itertools.chain(*runs))
