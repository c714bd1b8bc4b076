"""Patterns of several calls, and walks of calls through them: an automaton that is made while it is walked.

A pattern stands for a set of words, each a list of calls: those of the process trees of process mining, where parts in
any order may interleave. The states are what is left of the pattern, by partial derivatives (Antimirov 1996) with a
rule for interleaving; a walk follows all states at once, so that it decides exactly and takes no choice back.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

import msgspec

from rightcall.core.calls import ToolCall
from rightcall.core.flow import Budget
from rightcall.core.patterns import Pattern


class OneCall(msgspec.Struct, frozen=True):
    """One call that the pattern takes."""

    pattern: Pattern


class InOrder(msgspec.Struct, frozen=True):
    """All parts, one after another."""

    parts: tuple[Tree, ...]


class AnyOrder(msgspec.Struct, frozen=True):
    """All parts, in any order; the calls of two parts may interleave."""

    parts: tuple[Tree, ...]


class OneOf(msgspec.Struct, frozen=True):
    """Exactly one of the parts."""

    parts: tuple[Tree, ...]


class Times(msgspec.Struct, frozen=True):
    """The part, over and over: at least `least` times, at most `most` times (`None`: without end)."""

    part: Tree
    least: int
    most: int | None


Tree = OneCall | InOrder | AnyOrder | OneOf | Times
Move = tuple[int, int, bool]
"""The number of what takes a call, the state after it, and whether that state can do all that the one before could."""

DONE = 0
"""The state in which nothing is left."""


def without_freedom(tree: Tree) -> Tree:
    """A pattern of the same calls that must be made, if any calls may stand between them: nothing in it is optional."""
    match tree:
        case OneCall():
            return tree
        case Times(part, least, _):
            return Times(without_freedom(part), least, least)
        case OneOf(parts):
            needed = tuple(map(without_freedom, parts))
            return InOrder(()) if any(map(may_be_empty, needed)) else OneOf(needed)
        case InOrder(parts) | AnyOrder(parts):
            return type(tree)(tuple(map(without_freedom, parts)))


def with_gaps(tree: Tree) -> Tree:
    """The pattern of every list of calls from which calls may be missing: any call of it may be left out."""
    match tree:
        case OneCall():
            return Times(tree, 0, 1)
        case Times(part, least, most):
            return Times(with_gaps(part), least, most)
        case InOrder(parts) | AnyOrder(parts) | OneOf(parts):
            return type(tree)(tuple(map(with_gaps, parts)))


def may_be_empty(tree: Tree) -> bool:
    """Whether no call at all is enough."""
    match tree:
        case OneCall():
            return False
        case Times(part, least, _):
            return least == 0 or may_be_empty(part)
        case OneOf(parts):
            return any(map(may_be_empty, parts))
        case InOrder(parts) | AnyOrder(parts):
            return all(map(may_be_empty, parts))


class Machine:
    """The states of a pattern, made when they are first reached, each a number. One machine serves one walk.

    `take` holds what takes a call, each pattern once however often it stands in the tree.
    """

    def __init__(self) -> None:
        self.take: list[Pattern] = []
        self.budget = Budget()
        self._numbers: dict[Hashable, int] = {}
        self._states: dict[Hashable, int] = {}
        self._forms: list[tuple[object, ...]] = []
        self._nullable: list[bool] = []
        self._moves: dict[int, tuple[Move, ...]] = {}
        self._state(("done",), True)

    def start(self, tree: Tree) -> int:
        """The state in which the whole tree is left."""
        match tree:
            case OneCall(pattern):
                return self._state(("call", self._number(pattern)), False)
            case InOrder(parts):
                return self.chain([self.start(part) for part in parts])[0]
            case AnyOrder(parts):
                return self._interleaved([self.start(part) for part in parts])
            case OneOf(parts):
                return self._either([self.start(part) for part in parts])
            case Times(part, least, most):
                return self._times(self.start(part), least, most)

    def chain(self, parts: Sequence[int]) -> list[int]:
        """The states in which the parts are left from each on, and at the end `DONE`."""
        rests = [DONE]
        for part in reversed(parts):
            rests.append(self._then(part, rests[-1]))
        return rests[::-1]

    def can_end(self, state: int) -> bool:
        """Whether nothing more is needed."""
        return self._nullable[state]

    def moves(self, state: int) -> tuple[Move, ...]:
        """The moves out of a state, each once."""
        if state not in self._moves:
            self._moves[state] = found = tuple(dict.fromkeys(self._find_moves(state)))
            self.budget.spend(len(found) * len(self._forms[state]))
        return self._moves[state]

    def next_patterns(self, states: Iterable[int]) -> list[Pattern]:
        """What would take the next call in one of the states, each once."""
        return [self.take[number] for number in dict.fromkeys(move[0] for at in states for move in self.moves(at))]

    def _number(self, pattern: Pattern) -> int:
        number = self._numbers.setdefault(pattern.key, len(self.take))
        if number == len(self.take):
            self.take.append(pattern)
        return number

    def _state(self, form: tuple[object, ...], nullable: bool) -> int:
        state = self._states.setdefault(form, len(self._forms))
        if state == len(self._forms):
            self._forms.append(form)
            self._nullable.append(nullable)
        return state

    def _then(self, first: int, rest: int) -> int:
        if DONE in (first, rest):
            return first or rest
        return self._state(("then", first, rest), self._nullable[first] and self._nullable[rest])

    def _interleaved(self, parts: Iterable[int]) -> int:
        left = sorted(part for part in parts if part != DONE)
        if len(left) < 2:
            return left[0] if left else DONE
        return self._state(("interleaved", *left), all(self._nullable[part] for part in left))

    def _either(self, parts: Iterable[int]) -> int:
        choices = sorted(set(parts))
        if len(choices) == 1:
            return choices[0]
        return self._state(("either", *choices), any(self._nullable[part] for part in choices))

    def _times(self, part: int, least: int, most: int | None) -> int:
        if part == DONE or most == 0:
            return DONE
        if self._nullable[part]:
            least = 0
        if least == most == 1:
            return part
        return self._state(("times", part, least, most), least == 0)

    def _find_moves(self, state: int) -> Iterable[Move]:
        match self._forms[state]:
            case ("call", int(number)):
                yield number, DONE, True
            case ("then", int(first), int(rest)):
                yield from self._chained(first, rest)
            case ("interleaved", *parts):
                yield from self._moves_of_any([part for part in parts if isinstance(part, int)])
            case ("either", *parts):
                for part in parts:
                    assert isinstance(part, int)
                    yield from ((number, after, after == DONE) for number, after, _ in self.moves(part))
            case ("times", int(part), int(least), (int() | None) as most):
                rest = self._times(part, max(least - 1, 0), None if most is None else most - 1)
                yield from self._followed(part, rest)

    def _followed(self, first: int, rest: int) -> Iterable[Move]:
        for number, after, keeps in self.moves(first):
            yield number, self._then(after, rest), keeps

    def _chained(self, first: int, rest: int) -> Iterable[Move]:
        """The moves of the first part, and where it may be empty those of the rest; no recursion along the chain."""
        while True:
            yield from self._followed(first, rest)
            if not self._nullable[first]:
                return
            match self._forms[rest]:
                case ("then", int(following), int(last)):
                    first, rest = following, last
                case _:
                    yield from self.moves(rest)
                    return

    def _moves_of_any(self, parts: list[int]) -> Iterable[Move]:
        for at, part in enumerate(parts):
            if at == 0 or parts[at - 1] != part:
                others = parts[:at] + parts[at + 1 :]
                for number, after, keeps in self.moves(part):
                    yield number, self._interleaved([after, *others]), keeps


Takes = Callable[[Pattern, ToolCall], bool]


class Walk:
    """The states that calls have led to. `states` has no order that matters."""

    def __init__(self, machine: Machine, start: int, takes: Takes) -> None:
        self.machine = machine
        self.takes = takes
        self.states = [start]
        self._awaited = self._names()

    @property
    def can_end(self) -> bool:
        """Whether the calls so far are enough."""
        return any(map(self.machine.can_end, self.states))

    def follow(self, call: ToolCall) -> bool:
        """Take the call, as every call must be; whether some state could. If none could, the states stay."""
        taking = self._taking(call)
        states = list(dict.fromkeys(after for state in self.states for after, _ in self._taken(state, taking)))
        self.states = states or self.states
        return bool(states)

    def notice(self, call: ToolCall) -> bool:
        """Take the call or let it pass; whether that made a difference.

        For patterns in which nothing is optional. A state is given up where what follows can do all that it could.
        """
        if call.name not in self._awaited:
            return False
        states: dict[int, None] = {}
        taking = self._taking(call)
        for state in self.states:
            taken = self._taken(state, taking)
            states.update((after, None) for after, _ in taken)
            if not any(keeps for _, keeps in taken):
                states[state] = None
        before, self.states = self.states, list(states)
        if before == self.states:
            return False
        self._awaited = self._names()
        return True

    def _names(self) -> frozenset[str]:
        """The tools of which a call could make a difference."""
        return frozenset(pattern.name for pattern in self.machine.next_patterns(self.states))

    def _taking(self, call: ToolCall) -> frozenset[int]:
        """The numbers of what takes the call, each asked once however many states wait for it."""
        waiting = dict.fromkeys(move[0] for state in self.states for move in self.machine.moves(state))
        return frozenset(number for number in waiting if self.takes(self.machine.take[number], call))

    def _taken(self, state: int, taking: frozenset[int]) -> list[tuple[int, bool]]:
        moves = self.machine.moves(state)
        self.machine.budget.spend(1 + len(moves))
        return [(after, keeps) for number, after, keeps in moves if number in taking]
