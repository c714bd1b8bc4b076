"""Agents whose spans stand beside the call that started them, put back inside it."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final

import msgspec

from rightcall.traces.conventions.model import Around, Part
from rightcall.traces.merging import Execution
from rightcall.traces.spans import Group, Span
from rightcall.traces.twins import above

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
        found = [run for run in found if _is_beside(agent, {*above(parents, run), -1}, parents[agent])]
        if len(found) == 1:
            parents[agent] = found[0]
    return msgspec.structs.replace(group, parents=tuple(parents))


def _lasts(run: Span, agent: Span) -> bool:
    if run.start is None or run.end is None or agent.start is None or agent.end is None:
        return False
    return run.start <= agent.start and agent.end <= run.end


def _is_beside(agent: int, above_run: Set[int], above_agent: int) -> bool:
    return above_agent in above_run and agent not in above_run
