"""Agents whose spans stand beside the call that started them, put back inside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from rightcall.traces.conventions.model import Around, Part
from rightcall.traces.merging import Execution
from rightcall.traces.spans import Group, Span

_PAIRS: Final = 1_000_000
"""Pairs of a call and an agent beyond which nobody looks where the agents belong: it would take too long."""


def nested(group: Group, parts: Sequence[Part | None]) -> Group:
    """The group with each loose agent under the one execution during which it ran.

    Only where it is certain: one execution alone, below the span that the agent stands under, lasted from before
    its start until after its end.
    """
    runs = [index for index, part in enumerate(parts) if isinstance(part, Execution)]
    loose = [index for index, part in enumerate(parts) if isinstance(part, Around) and part.loose]
    parents = list(group.parents)
    if len(runs) * len(loose) > _PAIRS:
        return group
    for agent in loose:
        found = [run for run in runs if _lasts(group.spans[run], group.spans[agent])]
        found = [run for run in found if parents[agent] in _above(parents, run) and agent not in _above(parents, run)]
        if len(found) == 1:
            parents[agent] = found[0]
    return msgspec.structs.replace(group, parents=tuple(parents))


def _lasts(run: Span, agent: Span) -> bool:
    if run.start is None or run.end is None or agent.start is None or agent.end is None:
        return False
    return run.start <= agent.start and agent.end <= run.end


def _above(parents: Sequence[int], index: int) -> set[int]:
    return set(_path(parents, index))


def _path(parents: Sequence[int], index: int) -> Iterator[int]:
    seen: set[int] = set()
    at = parents[index]
    while at >= 0 and at not in seen:
        seen.add(at)
        yield at
        at = parents[at]
    yield -1
