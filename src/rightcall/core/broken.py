"""The sentence that names the call that broke a rule (G42)."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from rightcall.core.constraints import BANS, TURNED
from rightcall.core.counting import Counted
from rightcall.core.nearest import nearest
from rightcall.core.patterns import Pattern
from rightcall.core.values import visible
from rightcall.core.verdicts import Finding
from rightcall.core.wording import name_of, times, with_arguments


class Breach(msgspec.Struct, frozen=True, kw_only=True):
    """A rule and the calls that broke it.

    `at_a` and `at_b` are the ascending positions of the calls that the operands `a` and `b` take; for templates of one
    operand the two are the same. `at` is the position of the call after which nothing could help, `None` where only a
    call was missing. `number` is the `n` of templates that count.
    """

    a: Pattern
    b: Pattern
    at_a: Sequence[int]
    at_b: Sequence[int]
    at: int | None
    number: int
    counted: Counted

    def call(self, position: int, pattern: Pattern) -> str:
        """A call, by number, that a pattern takes."""
        return f"call {self.counted.indices[position] + 1}, {said(pattern)},"

    def other(self, position: int) -> str:
        """A call, by number and its own name."""
        return f"call {self.counted.indices[position] + 1} was {name_of(self.counted.calls[position])}"

    def near(self, pattern: Pattern, positions: Sequence[int]) -> str:
        """How a call of the tool differs from what the pattern takes."""
        return nearest([pattern], self.counted, positions)

    def turned(self) -> Breach:
        """The same with the operands in each other's place."""
        return msgspec.structs.replace(self, a=self.b, b=self.a, at_a=self.at_b, at_b=self.at_a)


def said(pattern: Pattern) -> str:
    """A pattern as a sentence names it."""
    return f"`{visible(pattern.name)}`{with_arguments(pattern)}"


Said = tuple[str, int | None]
"""A sentence, and the position of the call that it is about."""


def finding(part: str, breach: Breach) -> Finding:
    """What speaks against the trajectory."""
    sentence, position = _SENTENCES[part](breach)
    code = "forbidden" if part in BANS else "missing" if position is None else "rule_broken"
    made = None if position is None else breach.counted.indices[position]
    return Finding(code=code, message=sentence[0].upper() + sentence[1:], made_index=made)


def _existence(breach: Breach) -> Said:
    return _too_few(breach, "at least")


def _too_few(breach: Breach, least: str) -> Said:
    near = breach.near(breach.a, _others(breach))
    if not breach.at_a:
        wanted = "" if breach.number == 1 else f"; {least} {times(breach.number)} is what the rule asks for"
        return f"{said(breach.a)} was never called{wanted}.{near}", None
    asked = f"the rule asks for {least} {times(breach.number)}"
    return f"{said(breach.a)} was called {times(len(breach.at_a))}; {asked}.{near}", None


def _others(breach: Breach) -> list[int]:
    taken = set(breach.at_a)
    return [at for at in range(len(breach.counted.calls)) if at not in taken]


def _absence(breach: Breach) -> Said:
    assert breach.at is not None
    limit = (
        "which is forbidden" if breach.number == 1 else f"once too often: fewer than {times(breach.number)} are allowed"
    )
    return f"{breach.call(breach.at, breach.a)} was made, {limit}.", breach.at


def _exactly(breach: Breach) -> Said:
    if breach.at is None:
        return _too_few(breach, "exactly")
    asked = f"the rule asks for exactly {times(breach.number)}"
    return f"{breach.call(breach.at, breach.a)} was made once too often: {asked}.", breach.at


def _init(breach: Breach) -> Said:
    return _at_an_end(breach, "first", 0)


def _end(breach: Breach) -> Said:
    return _at_an_end(breach, "last", len(breach.counted.calls) - 1)


def _at_an_end(breach: Breach, place: str, position: int) -> Said:
    head = f"the {place} call must be {said(breach.a)}"
    if not breach.counted.calls:
        return f"{head}.", None
    return f"{head}; {breach.other(position)}.{breach.near(breach.a, [position])}", position


def _responded_existence(breach: Breach) -> Said:
    asked = f"asks for a call of {said(breach.b)}, which was never made"
    return f"{breach.call(breach.at_a[0], breach.a)} {asked}.{breach.near(breach.b, _every(breach))}", breach.at_a[0]


def _every(breach: Breach) -> range:
    return range(len(breach.counted.calls))


def _response(breach: Breach) -> Said:
    answered = breach.at_b[-1] + 1 if breach.at_b else 0
    at = breach.at_a[bisect.bisect_left(breach.at_a, answered)]
    later = range(at, len(breach.counted.calls))
    return f"{breach.call(at, breach.a)} was not followed by {said(breach.b)}.{breach.near(breach.b, later)}", at


def _precedence(breach: Breach) -> Said:
    assert breach.at is not None
    earlier = breach.near(breach.a, range(breach.at))
    return f"{breach.call(breach.at, breach.b)} was not preceded by {said(breach.a)}.{earlier}", breach.at


def _alternate_response(breach: Breach) -> Said:
    if breach.at is None:
        at = breach.at_a[-1]
        return f"{breach.call(at, breach.a)} was not followed by {said(breach.b)}.", at
    at = breach.at_a[bisect.bisect_left(breach.at_a, breach.at) - 1]
    again = f"before the next one, call {breach.counted.indices[breach.at] + 1}"
    return f"{breach.call(at, breach.a)} was not followed by {said(breach.b)} {again}.", breach.at


def _alternate_precedence(breach: Breach) -> Said:
    assert breach.at is not None
    before = bisect.bisect_left(breach.at_b, breach.at) - 1
    if before < 0:
        return _precedence(breach)
    since = f"since the one before it, call {breach.counted.indices[breach.at_b[before]] + 1}"
    return f"{breach.call(breach.at, breach.b)} was not preceded by {said(breach.a)} {since}.", breach.at


def _chain_response(breach: Breach) -> Said:
    at = breach.at_a[-1] if breach.at is None else breach.at - 1
    instead = "it was the last call" if breach.at is None else breach.other(breach.at)
    return f"{breach.call(at, breach.a)} was not immediately followed by {said(breach.b)}: {instead}.", at


def _chain_precedence(breach: Breach) -> Said:
    assert breach.at is not None
    instead = "it was the first call" if breach.at == 0 else breach.other(breach.at - 1)
    return f"{breach.call(breach.at, breach.b)} was not immediately preceded by {said(breach.a)}: {instead}.", breach.at


def _not_co_existence(breach: Breach) -> Said:
    one, other = breach.at_a[0], breach.at_b[0]
    if one == other:
        return f"{breach.call(one, breach.a)} is {said(breach.b)} too, and the two must not both be made.", one
    both = f"{breach.call(one, breach.a)} and {breach.call(other, breach.b)} must not both be made."
    return both, max(one, other)


def _not_succession(breach: Breach) -> Said:
    assert breach.at is not None
    return (
        f"{breach.call(breach.at, breach.b)} was made after {_end_of(breach.call(breach.at_a[0], breach.a))}",
        breach.at,
    )


def _not_chain_succession(breach: Breach) -> Said:
    assert breach.at is not None
    before = _end_of(breach.call(breach.at - 1, breach.a))
    return f"{breach.call(breach.at, breach.b)} was made immediately after {before}", breach.at


def _end_of(words: str) -> str:
    return f"{words.removesuffix(',')}."


def _choice(breach: Breach) -> Said:
    return f"neither {said(breach.a)} nor {said(breach.b)} was called.", None


_SENTENCES: Final[dict[str, Callable[[Breach], Said]]] = {
    "existence": _existence,
    "absence": _absence,
    "exactly": _exactly,
    "init": _init,
    "end": _end,
    "responded_existence": _responded_existence,
    TURNED: lambda breach: _responded_existence(breach.turned()),
    "response": _response,
    "precedence": _precedence,
    "alternate_response": _alternate_response,
    "alternate_precedence": _alternate_precedence,
    "chain_response": _chain_response,
    "chain_precedence": _chain_precedence,
    "not_co_existence": _not_co_existence,
    "not_succession": _not_succession,
    "not_chain_succession": _not_chain_succession,
    "choice": _choice,
}
