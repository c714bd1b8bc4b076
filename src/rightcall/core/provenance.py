"""What a call could know: the results of the calls that were answered before the model asked for it.

A call is *earlier* than another if it stands before it in the trajectory and its result was there when the other was
asked for: calls of one message do not know one another's results, nor what was called inside of one another, and a
call inside another does not know that one's result. Times never take part (G13).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import UnsetType

from rightcall.core import jsontext
from rightcall.core.calls import FAILED_STATUSES, UNSETTLED_STATUSES, ToolCall, Trajectory
from rightcall.core.judging import CannotJudge
from rightcall.core.masking import is_masked
from rightcall.core.paths import Step, values_at
from rightcall.core.values import SCALARS, freeze

NO_RESULT: Final[Any] = object()
"""A call that failed or was refused: it is known to have given nothing."""

UNKNOWN_RESULT: Final[Any] = object()
"""A result that the trace does not show."""


class Undecided(CannotJudge):
    """A value may or may not come from a result that is not known (G11)."""


class PlacedCall(ToolCall, frozen=True, kw_only=True):
    """A call that knows what was there before it."""

    earlier: Earlier

    @property
    def lacks_results(self) -> bool:
        """Whether a result that it could have used is not known."""
        return self.earlier.doubt() is not None


def placed(trajectory: Trajectory) -> Trajectory:
    """The trajectory, its calls knowing what was there before them."""
    calls = trajectory.tool_calls
    if calls is None:
        return trajectory
    results = Results(trajectory)
    return msgspec.structs.replace(
        trajectory, tool_calls=tuple([_placed(call, Earlier(results, index)) for index, call in enumerate(calls)])
    )


def _placed(call: ToolCall, earlier: Earlier) -> PlacedCall:
    fields = {name: getattr(call, name) for name in ToolCall.__struct_fields__}
    return PlacedCall(**fields, earlier=earlier)


_LEAVES: Final = SCALARS | {UnsetType}


def uses_results(value: Any) -> bool:
    """Whether an assertion, an expected value or a part of one asks where values come from."""
    waiting = [value]
    for item in waiting:
        if isinstance(item, dict):
            inner: Any = item.values()
        elif isinstance(item, list | tuple):
            inner = item
        elif getattr(item, "uses_results", False):
            return True
        else:
            inner = msgspec.structs.astuple(item) if isinstance(item, msgspec.Struct) else ()
        # Most of what stands in expectations holds nothing, and this is asked of every one of them.
        if not _LEAVES.issuperset(map(type, inner)):
            waiting += [each for each in inner if each.__class__ not in _LEAVES]
    return False


def result_of(call: ToolCall) -> Any:
    """The result as data, JSON text decoded once; `NO_RESULT` or `UNKNOWN_RESULT` where there is none to be seen."""
    if call.status in FAILED_STATUSES:
        return NO_RESULT
    if call.result is None or is_masked(call.result):
        return UNKNOWN_RESULT
    if not isinstance(call.result, str) or call.result.lstrip()[:1] not in ("{", "["):
        return call.result
    try:
        return jsontext.decode(call.result)
    except jsontext.JSONError:
        return UNKNOWN_RESULT  # text that begins as JSON and is none was cut


def _hides(result: Any) -> bool:
    """Whether a result, or a value in it, is not shown."""
    waiting = [result]
    for item in waiting:
        if item is UNKNOWN_RESULT or is_masked(item):
            return True
        if isinstance(item, dict | list | tuple):
            waiting += item.values() if isinstance(item, dict) else item
    return False


def unknown(number: int, call: ToolCall) -> Undecided:
    """The result of a call is not known, and it matters."""
    status = f": its status is `{call.status}`" if call.status in UNSETTLED_STATUSES else ""
    return Undecided(
        "result_unknown", f"The result of call {number} is not recorded{status}; the verdict depends on it."
    )


class Given(msgspec.Struct, frozen=True):
    """What the calls of a tool gave at a path: the positions of the calls by value, and those of unknown results.

    `shown` has the values by position. `is_counted` says that one call was meant by its number.
    """

    by_value: dict[Any, list[int]]
    unknown: list[int]
    shown: dict[int, list[Any]]
    is_counted: bool


class Results:
    """The results of the calls of one trajectory, and which call could know which."""

    def __init__(self, trajectory: Trajectory) -> None:
        self.calls = trajectory.tool_calls or ()
        self.gaps = trajectory.gaps
        self._groups = [_group(index, call) for index, call in enumerate(self.calls)]
        self._first: dict[Any, int] = {}
        for index, group in enumerate(self._groups):
            self._first.setdefault(group, index)
        self._is_flat = all(call.parent is None for call in self.calls)
        self._given: dict[Any, Given] = {}

    @functools.cached_property
    def unknown(self) -> list[int]:
        """The calls whose result, or part of it, is not known, or of which it is not known what they are."""
        return [at for at, call in enumerate(self.calls) if _hides(result_of(call)) or not call.name.strip()]

    def gap(self) -> Undecided | None:
        """What to say where calls may be missing."""
        if not self.gaps:
            return None
        return Undecided("gap", f"Calls may be missing ({self.gaps[0]}); the verdict depends on them.")

    def first_unseen(self, index: int) -> int:
        """The first call that the one at an index cannot know, as those of its message."""
        return self._first[self._groups[index]]

    def sees(self, index: int, other: int) -> bool:
        """Whether the call at an index could know the result of another one."""
        if other >= self.first_unseen(index):
            return False
        if self._is_flat:
            return True
        around = {self._groups[one]: one for one in self._parents(index)}
        if other in around.values():
            return False
        lineage = (other, *self._parents(other))
        return all(around.get(self._groups[one], one) == one for one in lineage)

    def _parents(self, index: int) -> Iterator[int]:
        """The calls that one was made inside, the nearest first."""
        while (parent := self.calls[index].parent) is not None and 0 <= parent < index:
            yield parent
            index = parent

    def given(self, tool: str, call: int | None, steps: tuple[Step, ...], aliases: Mapping[str, str]) -> Given:
        """What the calls of a tool, or one of them by its number, gave at a path."""
        key = (tool, call, steps)
        if key not in self._given:
            self._given[key] = self._collect(tool, call, steps, aliases)
        return self._given[key]

    def _collect(self, tool: str, call: int | None, steps: tuple[Step, ...], aliases: Mapping[str, str]) -> Given:
        meant = [at for at, one in enumerate(self.calls) if aliases.get(one.name, one.name) == tool or one.name == tool]
        nameless = [at for at, one in enumerate(self.calls) if not one.name.strip()]
        given = Given({}, [], {}, call is not None)
        for at in meant if call is None else meant[call - 1 : call]:
            self._add(given, at, steps)
        # A call without a name could be of the tool, and then shifts which call is the Nth.
        given.unknown.extend(nameless)
        given.unknown.sort()
        return given

    def _add(self, given: Given, at: int, steps: tuple[Step, ...]) -> None:
        result = result_of(self.calls[at])
        found = [] if result is NO_RESULT else [result] if result is UNKNOWN_RESULT else list(values_at(result, steps))
        given.shown[at] = [value for value in found if value is not UNKNOWN_RESULT and not is_masked(value)]
        if len(given.shown[at]) < len(found):
            given.unknown.append(at)
        for value in given.shown[at]:
            given.by_value.setdefault(freeze(value), []).append(at)


def _group(index: int, call: ToolCall) -> Any:
    """Equal for the calls of one message; a call of no known message is alone."""
    return index if call.message is None else (call.message, call.agent, call.agent_path, call.parent)


class Earlier(msgspec.Struct, frozen=True, eq=False):
    """The results that the call at an index could know."""

    results: Results
    index: int

    def gave(self, given: Given, value: Any) -> bool:
        """Whether one of them gave this value. Raises `Undecided` where that is not known."""
        if given.is_counted:
            self._refuse_shifts(given)
        end = self.results.first_unseen(self.index)
        for at in given.by_value.get(freeze(value), ()):
            if at >= end:
                break
            if self.results.sees(self.index, at):
                return True
        self._refuse_doubt(given)
        return False

    def _refuse_shifts(self, given: Given) -> None:
        """Which call is the Nth is known only if every call is recorded with its name."""
        self._refuse_gaps()
        for at, call in enumerate(self.results.calls[: self.index]):
            if not call.name.strip():
                raise unknown(at + 1, call)

    def _refuse_doubt(self, given: Given) -> None:
        for at in given.unknown:
            if self.results.sees(self.index, at):
                raise unknown(at + 1, self.results.calls[at])
        self._refuse_gaps()

    def _refuse_gaps(self) -> None:
        if gap := self.results.gap():
            raise gap

    def doubt(self) -> Undecided | None:
        """The first result that is not known, or the gap that may hold one; `None` where all is known."""
        for at in self.results.unknown:
            if at >= self.index:
                break
            if self.results.sees(self.index, at):
                return unknown(at + 1, self.results.calls[at])
        return self.results.gap()

    def shown(self, given: Given) -> Iterator[tuple[int, list[Any]]]:
        """What the calls gave that it could know: the number of each, and its values."""
        for at, values in given.shown.items():
            if self.results.sees(self.index, at):
                yield at + 1, values
