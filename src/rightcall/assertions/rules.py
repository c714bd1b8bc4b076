"""Rules between calls: the constraint templates of DECLARE (G42)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from rightcall.core import doubt
from rightcall.core.assertion import Assertion, Check, Setting
from rightcall.core.broken import Breach, finding
from rightcall.core.calls import Trajectory
from rightcall.core.constraints import (
    BANS,
    BOTH,
    NEITHER,
    ONLY_FORBID,
    TEMPLATES,
    UNARY,
    A,
    B,
    automata,
    outcomes,
    with_others,
)
from rightcall.core.indexing import Found, Index, counted_calls, every_call
from rightcall.core.patterns import Match, Pattern, compile_match
from rightcall.core.verdicts import Evidence
from rightcall.errors import TestSetError, Where


class Called(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A call of `tool`, with arguments that match when `match` is given."""

    tool: str
    match: Match | UnsetType = UNSET


class CalledTimes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A call of `tool`, with arguments that match when `match` is given, and a number of times."""

    tool: str
    match: Match | UnsetType = UNSET
    n: Annotated[int, Meta(ge=1, le=100_000)] = 1


Operand = str | Called
Counting = str | CalledTimes
Pair = Annotated[tuple[Operand, ...], Meta(min_length=2, max_length=2)]


class Rule(Assertion, frozen=True, kw_only=True, tag="rule"):
    """One constraint template of DECLARE holds. Verdict `rule:<template>:<tools>`.

    A rule has one of the templates as its key, such as `response: [lookup_order, issue_refund]`. An operand is the name
    of a tool or `{tool, match}`; those of `existence`, `absence` and `exactly` may hold a number `n`, by default 1.
    `absence` and the `not_…` templates are bans: they see every call, whatever `count` says.
    """

    existence: Counting | UnsetType = UNSET
    absence: Counting | UnsetType = UNSET
    exactly: Counting | UnsetType = UNSET
    init: Operand | UnsetType = UNSET
    end: Operand | UnsetType = UNSET
    responded_existence: Pair | UnsetType = UNSET
    co_existence: Pair | UnsetType = UNSET
    response: Pair | UnsetType = UNSET
    precedence: Pair | UnsetType = UNSET
    succession: Pair | UnsetType = UNSET
    alternate_response: Pair | UnsetType = UNSET
    alternate_precedence: Pair | UnsetType = UNSET
    alternate_succession: Pair | UnsetType = UNSET
    chain_response: Pair | UnsetType = UNSET
    chain_precedence: Pair | UnsetType = UNSET
    chain_succession: Pair | UnsetType = UNSET
    not_co_existence: Pair | UnsetType = UNSET
    not_succession: Pair | UnsetType = UNSET
    not_chain_succession: Pair | UnsetType = UNSET
    choice: Pair | UnsetType = UNSET
    exclusive_choice: Pair | UnsetType = UNSET

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories; `TestSetError` unless it is one template of different operands."""
        given = [name for name in TEMPLATES if getattr(self, name) is not UNSET]
        if len(given) != 1:
            found = " and ".join(f"`{name}`" for name in given) or "none"
            raise TestSetError(f"a rule has one template as its key, such as `response` or `absence`; found {found}")
        (template,) = given
        return RuleCheck(template, *_operands(template, getattr(self, template), setting), setting)


def _operands(
    template: str, value: Operand | Counting | Sequence[Operand], setting: Setting
) -> tuple[tuple[Pattern, Pattern], int]:
    """The patterns of both operands, which are the same where there is one, and the number of times."""
    if template in UNARY:
        assert isinstance(value, str | Called | CalledTimes)
        pattern = _pattern(value, template, setting)
        return (pattern, pattern), value.n if isinstance(value, CalledTimes) else 1
    assert isinstance(value, tuple)
    a, b = (_pattern(operand, f"{template}[{at}]", setting) for at, operand in enumerate(value))
    if a.key == b.key:
        message = f"both operands of `{template}` are the same; such a rule holds always or never"
        raise TestSetError(message, Where(path=f"{template}[1]"))
    return (a, b), 1


def _pattern(operand: Operand | Counting, path: str, setting: Setting) -> Pattern:
    if isinstance(operand, str):
        return compile_match(operand, UNSET, setting)
    try:
        return compile_match(operand.tool, operand.match, setting)
    except TestSetError as error:
        raise error.within(path=path) from None


class RuleCheck:
    """A compiled rule."""

    def __init__(self, template: str, operands: tuple[Pattern, Pattern], number: int, setting: Setting) -> None:
        self.a, self.b = operands
        self.number = number
        self.setting = setting
        self.parts = automata(template, number)
        self.is_ban = self.sees_every_call = template in BANS
        self.only_forbids = template in ONLY_FORBID
        self.is_unary = template in UNARY
        self.calls = every_call if self.is_ban else counted_calls
        tools = self.a.name if self.is_unary else f"{self.a.name},{self.b.name}"
        self.name = f"rule:{template}:{tools}"

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """Follow the calls through the automata of the template; say which call broke it."""
        index = self.calls(trajectory, self.setting)
        a = index.find(self.a)
        b = a if self.is_unary else index.find(self.b)
        hidden = bool(a.doubtful or b.doubtful or (self.is_ban and index.nameless))
        if hidden or trajectory.gaps:
            self._refuse_doubt(trajectory, index, a, b)
        return self._decide(index, a, b)

    def _decide(self, index: Index, a: Found, b: Found) -> Evidence:
        """By what is known: enough where nothing else is, and where nothing else could matter."""
        letters = list(with_others(self._letters(a, b), len(index.counted.calls)))
        for part, automaton in self.parts.items():
            if automaton.end(letter for _, letter in letters) not in automaton.accepting:
                breach = Breach(
                    a=self.a,
                    b=self.b,
                    at_a=a.sure,
                    at_b=b.sure,
                    at=automaton.breaks(letters),
                    number=self.number,
                    counted=index.counted,
                )
                return Evidence((finding(part, breach),))
        return Evidence()

    def _letters(self, a: Found, b: Found) -> list[tuple[int, int]]:
        letters = dict.fromkeys(a.sure, A)
        if not self.is_unary:
            for at in b.sure:
                letters[at] = letters.get(at, NEITHER) | B
        return sorted(letters.items())

    def _refuse_doubt(self, trajectory: Trajectory, index: Index, a: Found, b: Found) -> None:
        """`CannotJudge` where some reading of what is not known passes and some other fails."""
        letters = self._possible_letters(index, a, b)
        missing = self._missing_letters() if trajectory.gaps else ()
        parts = list(self.parts.values())
        if not outcomes(parts, letters, missing).are_open:
            return
        if not outcomes(parts, letters, ()).are_open:
            raise doubt.gap(trajectory)
        if self.is_ban and index.nameless:
            raise doubt.name(index.counted.indices[index.nameless[0]])
        raise doubt.arguments(index.counted, min([*a.doubtful, *b.doubtful]))

    def _possible_letters(self, index: Index, a: Found, b: Found) -> list[tuple[int, ...]]:
        choices: dict[int, tuple[int, ...]] = {at: (letter,) for at, letter in self._letters(a, b)}
        for found, bit in ((a, A), (b, B))[: 1 if self.is_unary else 2]:
            for at in found.doubtful:
                known = choices.get(at, (NEITHER,))
                choices[at] = (*known, *(letter | bit for letter in known))
        for at in index.nameless if self.is_ban else ():
            choices[at] = self._missing_letters()
        runs = with_others(((at, at) for at in sorted(choices)), len(index.counted.calls))
        return [choices.get(at, (NEITHER,)) for at, _ in runs]

    def _missing_letters(self) -> tuple[int, ...]:
        """What a call could be that is not shown: both only if one name can be that of both."""
        if self.is_unary:
            return (NEITHER, A)
        aliases = self.setting.tool_aliases if self.is_ban else {}
        related = aliases.get(self.a.name) == self.b.name or aliases.get(self.b.name) == self.a.name
        if self.a.name != self.b.name:
            return (NEITHER, A, B, BOTH) if related else (NEITHER, A, B)
        only_a = () if self.b.matches is None else (A,)
        only_b = () if self.a.matches is None else (B,)
        return (NEITHER, *only_a, *only_b, BOTH)
