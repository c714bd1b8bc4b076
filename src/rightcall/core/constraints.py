"""DECLARE constraint templates as small automata over the calls (G42).

The templates are those of Pesic and van der Aalst (2006), with the readings over finite traces of Di Ciccio and Montali
(2022). Of a call only its letter matters: whether it is an activation `a`, a target `b`, both or neither. A template of
one operand reads only `a`. The formulas stand in the documentation, and the tests evaluate them on their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from rightcall.core.flow import Budget

NEITHER, A, B, BOTH = range(4)
"""The letters: bit 0 says that the call is an `a`, bit 1 that it is a `b`."""

MAX_STATES: Final = 1_000_000
"""States that all readings of one trajectory may lead to, at most (G22)."""

BROKEN: Final = -1
"""The state that no call leads out of."""

Rows = tuple[tuple[int, int, int, int], ...]


class Automaton(msgspec.Struct, frozen=True, kw_only=True):
    """A row of next states for each state, one a letter; it begins in state 0.

    One call that is neither `a` nor `b` leads where several in a row lead: all automata here have that property.
    """

    rows: Rows
    accepting: frozenset[int]

    def after(self, state: int, letter: int) -> int:
        """The state that a call leads to."""
        return BROKEN if state == BROKEN else self.rows[state][letter]

    def end(self, letters: Iterable[int]) -> int:
        """The state that calls lead to."""
        state, rows = 0, self.rows
        for letter in letters:
            state = rows[state][letter]
            if state == BROKEN:
                break
        return state

    def breaks(self, letters: Sequence[tuple[int, int]]) -> int | None:
        """Of letters at positions, the position of the one after which nothing can help, `None` without one."""
        state = 0
        for position, letter in letters:
            state = self.rows[state][letter]
            if state == BROKEN:
                return position
        return None


def _automaton(*rows: tuple[int, int, int, int], accepting: Iterable[int]) -> Automaton:
    return Automaton(rows=rows, accepting=frozenset(accepting))


def at_least(number: int) -> Automaton:
    """So many `a` or more."""
    rows = [(count, count + 1, count, count + 1) for count in range(number)]
    return _automaton(*rows, (number,) * 4, accepting=[number])


def fewer_than(number: int) -> Automaton:
    """Not so many `a`."""
    rows = [(count, count + 1, count, count + 1) for count in range(number - 1)]
    last = number - 1
    return _automaton(*rows, (last, BROKEN, last, BROKEN), accepting=range(number))


def just(number: int) -> Automaton:
    """So many `a`, no more and no fewer."""
    return Automaton(rows=fewer_than(number + 1).rows, accepting=frozenset((number,)))


COUNTED: Final = {"existence": at_least, "absence": fewer_than, "exactly": just}
"""Templates of one operand and a number."""

SIMPLE: Final[dict[str, Automaton]] = {
    "init": _automaton((BROKEN, 1, BROKEN, 1), (1, 1, 1, 1), accepting=[1]),
    "end": _automaton((0, 1, 0, 1), (0, 1, 0, 1), accepting=[1]),
    "responded_existence": _automaton((0, 1, 2, 2), (1, 1, 2, 2), (2, 2, 2, 2), accepting=[0, 2]),
    "response": _automaton((0, 1, 0, 0), (1, 1, 0, 0), accepting=[0]),
    "precedence": _automaton((0, 1, BROKEN, 1), (1, 1, 1, 1), accepting=[0, 1]),
    "alternate_response": _automaton((0, 1, 0, 1), (1, BROKEN, 0, 1), accepting=[0]),
    "alternate_precedence": _automaton((0, 1, BROKEN, 0), (1, 1, 0, 0), accepting=[0, 1]),
    "chain_response": _automaton((0, 1, 0, 1), (BROKEN, BROKEN, 0, 1), accepting=[0]),
    "chain_precedence": _automaton((0, 1, BROKEN, BROKEN), (0, 1, 0, 1), accepting=[0, 1]),
    "not_co_existence": _automaton((0, 1, 2, BROKEN), (1, 1, BROKEN, BROKEN), (2, BROKEN, 2, BROKEN),
                                   accepting=[0, 1, 2]),
    "not_succession": _automaton((0, 1, 0, 1), (1, 1, BROKEN, BROKEN), accepting=[0, 1]),
    "not_chain_succession": _automaton((0, 1, 0, 1), (0, 1, BROKEN, BROKEN), accepting=[0, 1]),
    "choice": _automaton((0, 1, 1, 1), (1, 1, 1, 1), accepting=[1]),
}  # fmt: skip
"""Templates that are one automaton."""

TOGETHER: Final[dict[str, tuple[str, ...]]] = {
    "succession": ("response", "precedence"),
    "alternate_succession": ("alternate_response", "alternate_precedence"),
    "chain_succession": ("chain_response", "chain_precedence"),
    "exclusive_choice": ("choice", "not_co_existence"),
}
"""Templates that say what others say together."""

TURNED: Final = "responded_existence, turned"
"""`co_existence` asks for `responded_existence` both ways: this is the way back."""

_SWAPPED: Final = Automaton(
    rows=tuple((row[NEITHER], row[B], row[A], row[BOTH]) for row in SIMPLE["responded_existence"].rows),
    accepting=SIMPLE["responded_existence"].accepting,
)

UNARY: Final = (*COUNTED, "init", "end")
BINARY: Final = (
    "responded_existence",
    "co_existence",
    "response",
    "precedence",
    "succession",
    "alternate_response",
    "alternate_precedence",
    "alternate_succession",
    "chain_response",
    "chain_precedence",
    "chain_succession",
    "not_co_existence",
    "not_succession",
    "not_chain_succession",
    "choice",
    "exclusive_choice",
)
TEMPLATES: Final = (*UNARY, *BINARY)
"""All templates, in the order in which they are explained."""

BANS: Final = frozenset({"absence", "not_co_existence", "not_succession", "not_chain_succession"})
"""Templates that forbid and ask for nothing: they see every call (G13, G25)."""

ONLY_FORBID: Final = BANS - {"not_chain_succession"}
"""Bans that fewer calls never break; two calls can be made neighbours by leaving out what was between them."""


def automata(template: str, number: int = 1) -> dict[str, Automaton]:
    """The automata that must all accept, each under the name of what it says."""
    if template in COUNTED:
        return {template: COUNTED[template](number)}
    if template == "co_existence":
        return {"responded_existence": SIMPLE["responded_existence"], TURNED: _SWAPPED}
    return {name: SIMPLE[name] for name in TOGETHER.get(template, (template,))}


Letters = Sequence[tuple[int, ...]]
"""For each call the letters that it may be, in order; runs of calls that are neither stand once."""


class Outcomes(msgspec.Struct, frozen=True):
    """Whether some reading of what a trace does not show passes, and whether some fails."""

    can_pass: bool
    can_fail: bool

    @property
    def are_open(self) -> bool:
        """Whether what is not shown decides."""
        return self.can_pass and self.can_fail


def outcomes(parts: Sequence[Automaton], letters: Letters, missing: Sequence[int]) -> Outcomes:
    """What can come out where calls may be several letters and, between any two, calls of `missing` may not be shown.

    Exact: all states that some reading leads to are followed together. `CannotJudge` at the declared limit.
    """
    budget = Budget(MAX_STATES)
    states = _closed({(0,) * len(parts)}, parts, missing, budget)
    for choices in letters:
        budget.spend(len(states) * len(choices) + 1)
        states = {_step(parts, state, letter) for state in states for letter in choices}
        states = _closed(states, parts, missing, budget)
    passing = [all(at in part.accepting for part, at in zip(parts, state, strict=True)) for state in states]
    return Outcomes(any(passing), not all(passing))


def _step(parts: Sequence[Automaton], state: tuple[int, ...], letter: int) -> tuple[int, ...]:
    return tuple([part.after(at, letter) for part, at in zip(parts, state, strict=True)])


def _closed(
    states: set[tuple[int, ...]], parts: Sequence[Automaton], missing: Sequence[int], budget: Budget
) -> set[tuple[int, ...]]:
    """The states that any number of missing calls lead to."""
    found, fresh = set(states), list(states) if missing else []
    while fresh:
        state = fresh.pop()
        budget.spend(len(missing))
        following = {_step(parts, state, letter) for letter in missing} - found
        found |= following
        fresh.extend(following)
    return found


def with_others(letters: Iterable[tuple[int, int]], made: int) -> Iterator[tuple[int, int]]:
    """Letters at ascending positions, and one that is neither for each run of other calls, out of so many calls."""
    following = 0
    for position, letter in letters:
        if position > following:
            yield following, NEITHER
        yield position, letter
        following = position + 1
    if made > following:
        yield following, NEITHER
