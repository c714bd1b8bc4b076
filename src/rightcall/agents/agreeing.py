"""An agent's calls from two sides: from what it returned, and from the spans that were captured while it ran.

What it returned counts wherever it says which calls were made; else what was captured. Where the two differ, that is
said, and a captured call that was not returned is a gap: no test may pass by its absence.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable

import msgspec

from rightcall.agents import replies
from rightcall.agents.exchange import Reply
from rightcall.agents.reported import identity
from rightcall.core.calls import ToolCall, Trajectory


def combined(returned: Reply, captured: Trajectory) -> Reply:
    """The reply with the calls of both sides taken into account."""
    if returned.calls is None:
        return _captured(returned, captured)
    return returned if captured.tool_calls is None else _compared(returned, returned.calls, captured.tool_calls)


def _captured(returned: Reply, captured: Trajectory) -> Reply:
    """The reply with what was captured, around which stands what was returned."""
    around = returned.trajectory
    made = captured
    if around is not None:
        known = {"messages": around.messages, "output": around.output}
        told = {name: value for name, value in known.items() if value is not None}
        gaps = (*captured.gaps, *around.gaps)
        made = msgspec.structs.replace(captured, gaps=gaps, warnings=(*captured.warnings, *around.warnings), **told)
    output = captured.output if returned.output is None else returned.output
    made = made if made.output is not None else msgspec.structs.replace(made, output=output)
    is_whole = captured.tool_calls is not None or not captured.gaps
    return msgspec.structs.replace(
        returned, output=output, trajectory=made, tool_calls=msgspec.UNSET, is_watched=is_whole
    )


def _compared(returned: Reply, told: tuple[ToolCall, ...], seen: tuple[ToolCall, ...]) -> Reply:
    missing, more = _names(_without(seen, told)), _names(_without(told, seen))
    if missing:
        gap = f"calls that were captured and are not in what the agent returned: {missing}"
        return replies.with_gap(returned, gap)
    if more:
        return returned.noting(f"calls that the agent returned and that were not captured: {more}")
    if not _is_alike(told, seen):
        words = "the calls that the agent returned and those captured differ in arguments or order"
        return returned.noting(f"{words}; those returned are graded")
    return returned


def _is_alike(told: tuple[ToolCall, ...], seen: tuple[ToolCall, ...]) -> bool:
    """Whether the same was called in the same order; calls of one message may have begun in any."""
    at = 0
    for _, group in itertools.groupby(enumerate(told), key=lambda one: _message(*one)):
        asked = [identity(call) for _, call in group]
        if Counter(asked) != Counter(map(identity, seen[at : at + len(asked)])):
            return False
        at += len(asked)
    return True


def _message(place: int, call: ToolCall) -> tuple[str, int]:
    return ("place", place) if call.message is None else ("message", call.message)


def _without(calls: Iterable[ToolCall], others: Iterable[ToolCall]) -> Counter[str]:
    """How many calls of each name there are more than among the others."""
    return Counter(call.name for call in calls) - Counter(call.name for call in others)


def _names(counts: Counter[str]) -> str:
    return ", ".join(f"`{name}`" if count == 1 else f"`{name}` ({count} times)" for name, count in counts.items())
