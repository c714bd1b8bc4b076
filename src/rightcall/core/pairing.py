"""Lining calls up: subsequences, maximum one-to-one matchings, and the pairing that explanations use (G18, G19, G22).

Everything here works on *candidates*: for each expected position, the made positions that it accepts,
ascending; expected positions with equal patterns share one tuple. The pure algorithms know nothing of calls.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Hashable, Iterable, Sequence

import msgspec

from rightcall.core.calls import ToolCall
from rightcall.core.flow import Budget, Flow
from rightcall.core.patterns import MatchesArguments, Pattern
from rightcall.core.values import freeze

Candidates = Sequence[tuple[int, ...]]
Accepts = Callable[[Pattern, ToolCall], bool]

SMALL = 100
"""Pairs of a pattern and a call up to which taking the first fit is tried before a search."""

INDEX_FROM = 32
"""Calls of one name from which an index by argument value pays, and patterns from which it pays to find equal ones."""

AT_A_CALL = 100
"""Comparisons that it counts for to compare a call with a pattern that is made ready for each call."""


def accepts(pattern: Pattern, call: ToolCall) -> bool:
    """Whether a call is what the pattern expects; unknown arguments match only "any"."""
    return pattern.name == call.name and pattern.accepts(call)


def may_accept(pattern: Pattern, call: ToolCall) -> bool:
    """The same with unknown arguments matching everything (G11)."""
    return pattern.name == call.name and pattern.may_accept(call)


def candidates(patterns: Sequence[Pattern], calls: Sequence[ToolCall], compatible: Accepts = accepts) -> Candidates:
    """For each pattern the positions of the calls that it accepts, ascending."""
    by_name: dict[str, list[int]] = {}
    for position, call in enumerate(calls):
        by_name.setdefault(call.name, []).append(position)
    budgets: dict[str, Budget] = {}
    indexes: dict[str, _Index] = {}
    # Telling equal patterns apart costs more than it saves where there are few.
    keys: list[Hashable] = [id(each) if len(patterns) < INDEX_FROM else each.key for each in patterns]
    known: dict[Hashable, tuple[int, ...]] = {}
    for key, pattern in zip(keys, patterns, strict=True):
        if key not in known:
            budget = budgets.setdefault(pattern.name, Budget())
            known[key] = _find(pattern, calls, by_name, indexes, compatible, budget)
    return [known[key] for key in keys]


def _find(
    pattern: Pattern,
    calls: Sequence[ToolCall],
    by_name: dict[str, list[int]],
    indexes: dict[str, _Index],
    compatible: Accepts,
    budget: Budget,
) -> tuple[int, ...]:
    positions = by_name.get(pattern.name, [])
    if pattern.matches is None:
        return tuple(positions)
    if len(positions) >= INDEX_FROM and pattern.literals:
        if pattern.name not in indexes:
            indexes[pattern.name] = _Index(positions, calls)
        positions = indexes[pattern.name].narrow(pattern)
    budget.spend(len(positions) * (AT_A_CALL if pattern.compile_at else 1))
    return tuple([position for position in positions if compatible(pattern, calls[position])])


class _Index:
    """The calls of one name by each of their top-level argument values."""

    def __init__(self, positions: Iterable[int], calls: Sequence[ToolCall]) -> None:
        self.buckets: dict[Hashable, list[int]] = {}
        self.unclear: list[int] = []
        for position in positions:
            arguments = calls[position].arguments
            if calls[position].arguments_state != "ok":
                self.unclear.append(position)
            elif isinstance(arguments, dict):
                for key, value in arguments.items():
                    self.buckets.setdefault((key, freeze(value)), []).append(position)

    def narrow(self, pattern: Pattern) -> list[int]:
        """The positions that have the rarest of the pattern's literals, and those of unclear arguments."""
        rarest = min((self.buckets.get((key, freeze(value)), []) for key, value in pattern.literals), key=len)
        return sorted(rarest + self.unclear) if self.unclear else rarest


def is_subsequence(patterns: Sequence[Pattern], calls: Sequence[ToolCall], compatible: Accepts = accepts) -> bool:
    """Whether the patterns appear among the calls in order. Taking the first fit is exact, in one pass."""
    if not patterns:
        return True
    wanted = iter(patterns)
    pattern = next(wanted)
    for call in calls:
        if compatible(pattern, call):
            following = next(wanted, None)
            if following is None:
                return True
            pattern = following
    return False


def longest_in_order(found: Candidates, made: int) -> int:
    """The length of the longest in-order pairing.

    Calls that fit one to one from the start can be paired so without loss; only the rest is searched.
    """
    start = 0
    while start < min(len(found), made) and _holds(found[start], start):
        start += 1
    rest = found[start:]
    if sum(map(len, rest)) <= 4 * (len(rest) + made):
        return start + _longest_sparse(rest, start)
    return start + _longest_dense(rest, start, made)


def _holds(positions: tuple[int, ...], position: int) -> bool:
    at = bisect.bisect_left(positions, position)
    return at < len(positions) and positions[at] == position


def _longest_sparse(found: Candidates, start: int) -> int:
    """By the ends of the best pairings so far of each length (Hunt and Szymanski 1977)."""
    ends: list[int] = []
    for positions in found:
        for position in reversed(positions):
            if position < start:
                break
            at = bisect.bisect_left(ends, position)
            ends[at : at + 1] = [position]
    return len(ends)


def _longest_dense(found: Candidates, start: int, made: int) -> int:
    """By one row of the longest common subsequence table as the bits of an integer (Hyyrö 2004)."""
    full = (1 << (made - start)) - 1
    row = full
    shared = {id(positions): positions for positions in found}
    masks = {key: mask_of(positions) >> start for key, positions in shared.items()}
    for positions in found:
        taken = row & masks[id(positions)]
        row = ((row + taken) | (row - taken)) & full
    return made - start - row.bit_count()


def mask_of(positions: Sequence[int]) -> int:
    """The ascending positions as the bits of an integer."""
    if len(positions) < 64:
        return sum(1 << position for position in positions)
    bits = bytearray(positions[-1] // 8 + 1)
    for position in positions:
        bits[position >> 3] |= 1 << (position & 7)
    return int.from_bytes(bits, "little")


def pair(found: Candidates) -> list[int | None]:
    """For each expected position the made position it is paired with, or `None`.

    Of all maximum one-to-one matchings it is the one that covers the lexicographically earliest expected
    positions and, among those, has the lexicographically least made positions (G19).
    """
    if _are_apart(found):
        return [positions[0] if positions else None for positions in found]
    return Flow(found).pairs()


def _are_apart(found: Candidates) -> bool:
    """Whether the first choices are all different, so that no two patterns compete."""
    first = [positions[0] for positions in found if positions]
    return len(set(first)) == len(first)


def size_of_matching(found: Candidates) -> int:
    """How many pairs a maximum matching has."""
    if _are_apart(found):
        return sum(1 for positions in found if positions)
    return sum(Flow(found).cover())


class Groups(msgspec.Struct, frozen=True):
    """Patterns by name, for only patterns of one name compete for calls.

    `lone` has what decides on the arguments of the only pattern of its name, `crowds` the other patterns.
    """

    lone: dict[str, MatchesArguments | None]
    crowds: dict[str, list[Pattern]]


def grouped(patterns: Sequence[Pattern]) -> Groups:
    """Sort patterns by name."""
    groups: dict[str, list[Pattern]] = {}
    for pattern in patterns:
        groups.setdefault(pattern.name, []).append(pattern)
    lone = {name: each[0].matches for name, each in groups.items() if len(each) == 1 and each[0].compile_at is None}
    return Groups(lone, {name: group for name, group in groups.items() if name not in lone})


def count_pairs(groups: Groups, calls: Sequence[ToolCall]) -> int:
    """How many pairs a maximum matching has, name by name."""
    waiting = groups.lone.copy()
    crowds: dict[str, list[ToolCall]] = {}
    for call in calls:
        name = call.name
        if name in waiting:
            matches = waiting[name]
            if matches is None or (call.arguments_state == "ok" and matches(call.arguments)):
                del waiting[name]
        elif name in groups.crowds:
            crowds.setdefault(name, []).append(call)
    paired = len(groups.lone) - len(waiting)
    for name, made in crowds.items():
        paired += _most_pairs(groups.crowds[name], made)
    return paired


def _most_pairs(patterns: Sequence[Pattern], calls: Sequence[ToolCall]) -> int:
    if all(pattern.matches is None for pattern in patterns):
        return min(len(patterns), len(calls))
    if len(patterns) * len(calls) > SMALL:
        return size_of_matching(candidates(patterns, calls))
    paired, hopeless = _first_fits(patterns, calls)
    if paired == min(len(patterns) - hopeless, len(calls)):
        return paired
    return size_of_matching(candidates(patterns, calls))


def _first_fits(patterns: Sequence[Pattern], calls: Sequence[ToolCall]) -> tuple[int, int]:
    """How many pairs taking the first fit finds, and how many patterns fit no call at all."""
    free, hopeless = list(calls), 0
    for pattern in patterns:
        for at, call in enumerate(free):
            if pattern.accepts(call):
                del free[at]
                break
        else:
            hopeless += not any(map(pattern.accepts, calls))
    return len(calls) - len(free), hopeless
