"""Where the calls of a trajectory are that patterns take: found once for all assertions of a test.

What was found is kept for the trajectories last looked at, under the identity of their calls and of the setting that
the patterns were compiled with: nothing but time depends on it.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence
from typing import Any

import msgspec

from rightcall.core.assertion import Setting
from rightcall.core.calls import UNKNOWN_STATES, ToolCall, Trajectory
from rightcall.core.counting import Counted, numbered, select
from rightcall.core.patterns import Pattern

KEPT = 2
"""Trajectories that are remembered: those of threads that grade at the same time."""


class Found(msgspec.Struct, frozen=True):
    """Ascending positions of the calls that a pattern takes, and of those that it may take, for all that is known."""

    sure: Sequence[int]
    doubtful: Sequence[int]


class Index:
    """The calls that count, by name. `unreadable` are the states of arguments that cannot be told to match or not."""

    def __init__(self, counted: Counted, aliases: dict[str, str], unreadable: frozenset[str]) -> None:
        self.counted = counted
        self.unreadable = unreadable
        self.by_name: dict[str, list[int]] = {}
        self.nameless: list[int] = []
        self._found: dict[Hashable, tuple[Pattern, Found]] = {}
        for at, call in enumerate(counted.calls):
            self.by_name.setdefault(call.name, []).append(at)
            alias = aliases.get(call.name, call.name)
            if alias != call.name:
                self.by_name.setdefault(alias, []).append(at)
            if not call.name.strip():
                self.nameless.append(at)

    def find(self, pattern: Pattern) -> Found:
        """Where the calls are that the pattern takes."""
        known = self._found.get(pattern.key)
        if known is None:
            # The pattern is kept with what was found: its key may be its identity, which must not pass to another.
            known = self._found[pattern.key] = (pattern, self._look(pattern))
        return known[1]

    def _look(self, pattern: Pattern) -> Found:
        positions = self.by_name.get(pattern.name, [])
        if pattern.matches is None:
            return Found(positions, ())
        sure: list[int] = []
        doubtful: list[int] = []
        for at in positions:
            call = self.counted.calls[at]
            if call.arguments_state in self.unreadable:
                doubtful.append(at)
            elif pattern.accepts(call):
                sure.append(at)
            elif pattern.doubt(call) is not None:
                doubtful.append(at)
        return Found(sure, doubtful)


class _Same:
    """A thing that is equal to itself only, whatever it holds."""

    __slots__ = ("thing",)

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


def counted_calls(trajectory: Trajectory, setting: Setting) -> Index:
    """The calls that count, under the names that expectations use. Malformed arguments match nothing but "any"."""
    return _counted(_Same(trajectory.tool_calls or ()), _Same(setting))


def every_call(trajectory: Trajectory, setting: Setting) -> Index:
    """All calls, as bans see them: under both their names, and malformed arguments may be anything (G9, G13)."""
    return _every(_Same(trajectory.tool_calls or ()), _Same(setting))


@functools.lru_cache(maxsize=KEPT)
def _counted(calls: _Same, setting: _Same) -> Index:
    rules: Setting = setting.thing
    return Index(select(calls.thing, rules.count, rules.tool_aliases), {}, UNKNOWN_STATES)


@functools.lru_cache(maxsize=KEPT)
def _every(calls: _Same, setting: _Same) -> Index:
    rules: Setting = setting.thing
    shown = list(numbered(calls.thing, rules.every_call))
    made: Sequence[ToolCall] = [call for _, call in shown]
    counted = Counted(calls=made, indices=[index for index, _ in shown])
    return Index(counted, dict(rules.tool_aliases), UNKNOWN_STATES | {"malformed"})
