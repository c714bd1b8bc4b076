"""Rules between calls: each template is its formula, and an error is exactly where what is not known decides."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest

from rightcall.assertions.rules import Rule
from rightcall.core.calls import ToolCall
from rightcall.core.constraints import BANS, BINARY, TEMPLATES
from rightcall.core.verdicts import Status
from support.grading import call, compiled, hidden, judge, trajectory
from support.ltlf import (
    Formula,
    always,
    atom,
    both,
    either,
    finally_,
    following,
    following_if_any,
    implies,
    no,
    until,
    weak_until,
)
from support.rules import rule

PASS, FAIL, ERROR = Status.PASS, Status.FAIL, Status.ERROR
GAP = ("a line was rejected",)

Word = tuple[str, ...]


def words(longest: int, symbols: str = "abc") -> list[Word]:
    """Every trace of up to so many calls."""
    return [word for length in range(longest + 1) for word in itertools.product(symbols, repeat=length)]


TRACES = words(5)

a, b = atom("a"), atom("b")


def times(number: int) -> Formula:
    """At least so many calls of `a`."""
    return finally_(a if number == 1 else both(a, following(times(number - 1))))


RESPONSE = always(implies(a, finally_(b)))
PRECEDENCE = weak_until(no(b), a)
ALTERNATE_RESPONSE = always(implies(a, following(until(no(a), b))))
ALTERNATE_PRECEDENCE = both(PRECEDENCE, always(implies(b, following_if_any(PRECEDENCE))))
CHAIN_RESPONSE = always(implies(a, following(b)))
CHAIN_PRECEDENCE = both(no(b), always(implies(following(b), a)))
CO_EXISTENCE = both(implies(finally_(a), finally_(b)), implies(finally_(b), finally_(a)))
NOT_CO_EXISTENCE = no(both(finally_(a), finally_(b)))
CHOICE = either(finally_(a), finally_(b))

FORMULAS: dict[str, Formula] = {
    "init": a,
    "end": finally_(both(a, no(following(either(a, no(a)))))),
    "responded_existence": implies(finally_(a), finally_(b)),
    "co_existence": CO_EXISTENCE,
    "response": RESPONSE,
    "precedence": PRECEDENCE,
    "succession": both(RESPONSE, PRECEDENCE),
    "alternate_response": ALTERNATE_RESPONSE,
    "alternate_precedence": ALTERNATE_PRECEDENCE,
    "alternate_succession": both(ALTERNATE_RESPONSE, ALTERNATE_PRECEDENCE),
    "chain_response": CHAIN_RESPONSE,
    "chain_precedence": CHAIN_PRECEDENCE,
    "chain_succession": both(CHAIN_RESPONSE, CHAIN_PRECEDENCE),
    "not_co_existence": NOT_CO_EXISTENCE,
    "not_succession": always(implies(a, no(following(finally_(b))))),
    "not_chain_succession": always(implies(a, no(following(b)))),
    "choice": CHOICE,
    "exclusive_choice": both(CHOICE, NOT_CO_EXISTENCE),
}
COUNTING = [
    (template, number, formula)
    for number in (1, 2, 3)
    for template, formula in [
        ("existence", times(number)),
        ("absence", no(times(number))),
        ("exactly", both(times(number), no(times(number + 1)))),
    ]
]


RULES: list[tuple[Rule, Formula]] = [(rule(template), formula) for template, formula in FORMULAS.items()]
RULES += [(rule(template, {"tool": "a", "n": number}), formula) for template, number, formula in COUNTING]


def named(thing: Any) -> str:
    return msgspec.json.encode(thing).decode() if isinstance(thing, Rule) else ""


def test_every_template_has_its_formula() -> None:
    """None is tested by nothing."""
    assert {*FORMULAS, "existence", "absence", "exactly"} == set(TEMPLATES)


@pytest.mark.parametrize(("subject", "formula"), RULES, ids=named)
def test_a_template_is_its_formula(subject: Rule, formula: Formula) -> None:
    """On every trace of up to five calls of three tools it agrees with the formula, evaluated literally (G42)."""
    (check,) = compiled(subject)
    for word in TRACES:
        made = trajectory(*map(call, word))
        found = not check.check(made).findings
        assert (word, found) == (word, formula([frozenset(tool) for tool in word], 0))


ATOMS = {"a": {"a"}, "b": {"b"}, "t": {"a", "b"}, "c": set[str]()}
"""Calls of one tool of which one operand may take any, the other, both or none."""
OVERLAPPING = [
    {"tool": "t", "match": {"mode": "partial", "args": {"a": True}}},
    {"tool": "t", "match": {"mode": "partial", "args": {"b": True}}},
]


def overlapping_call(symbol: str) -> ToolCall:
    return call("t", dict.fromkeys(sorted(ATOMS[symbol]), True))


@pytest.mark.parametrize("template", BINARY)
def test_one_call_may_be_what_both_operands_take(template: str) -> None:
    """The formula decides then too (G42)."""
    (check,) = compiled(rule(template, *OVERLAPPING))
    for word in words(4, "abtc"):
        found = not check.check(trajectory(*map(overlapping_call, word))).findings
        assert (word, found) == (word, FORMULAS[template]([frozenset(ATOMS[symbol]) for symbol in word], 0))


def inserted(word: Word, most: int) -> set[Word]:
    """The trace with up to so many calls added, anywhere."""
    found = {word}
    for _ in range(most):
        found |= {(*one[:at], tool, *one[at:]) for one in found for at in range(len(one) + 1) for tool in "abc"}
    return found


def verdicts_of(subject: Rule, longest: int) -> dict[Word, Status]:
    (check,) = compiled(subject)
    made = words(longest)
    return {word: FAIL if check.check(trajectory(*map(call, word))).findings else PASS for word in made}


@pytest.mark.parametrize(("subject", "formula"), RULES, ids=named)
def test_over_a_gap_a_verdict_stands_exactly_if_no_calls_could_overturn_it(subject: Rule, formula: Formula) -> None:
    """Adding up to four calls anywhere, by brute force, says where it is an error (G12)."""
    known = verdicts_of(subject, 6)
    for word in words(2):
        possible = {known[more] for more in inserted(word, 4)}
        gapped = judge(subject, trajectory(*map(call, word), gaps=GAP)).status
        assert (word, gapped) == (word, ERROR if len(possible) == 2 else known[word])


STABLE_PASS = {
    "existence": {True},
    "choice": {True},
    "responded_existence": {True, False},
    "co_existence": {True, False},
}
STABLE_FAIL = {
    "absence": {True},
    "not_co_existence": {True},
    "not_succession": {True},
    "exactly": {True, False},
    "exclusive_choice": {True, False},
}


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_table_of_verdicts_that_stand_over_a_gap(template: str) -> None:
    """Whether passes and fails of a template stand, over all traces of up to four calls: as the page says (G12)."""
    subject = rule(template, {"tool": "a", "n": 2} if template in ("existence", "absence", "exactly") else "a")
    stands: dict[Status, set[bool]] = {PASS: set(), FAIL: set()}
    for word in words(4):
        made = [call(tool) for tool in word]
        known = judge(subject, made).status
        stands[known].add(judge(subject, trajectory(*made, gaps=GAP)).status == known)
    assert stands == {PASS: STABLE_PASS.get(template, {False}), FAIL: STABLE_FAIL.get(template, {False})}


@pytest.mark.parametrize("template", ["existence", "choice"])
def test_a_pass_of_what_only_asks_stands_over_a_gap(template: str) -> None:
    """What was seen is not undone by more calls (G12)."""
    assert judge(rule(template), trajectory(call("a"), gaps=GAP)).status == PASS
    assert judge(rule(template), trajectory(call("c"), gaps=GAP)).findings[0].code == "gap"


@pytest.mark.parametrize("template", sorted(BANS))
def test_no_pass_of_a_ban_stands_over_a_gap(template: str) -> None:
    """What may not have been shown may be what is forbidden (G12, G25)."""
    assert judge(rule(template), trajectory(call("c"), gaps=GAP)).status == ERROR


SYMBOLS = {
    "a": call("t", {"x": 1}), "b": call("t", {"x": 2}), "c": call("t", {"x": 3}), "?": hidden("t"), "o": call("o")
}  # fmt: skip
READINGS = {"?": ("a", "b", "c", "both")}


@pytest.mark.parametrize("template", [*BINARY, "init", "end", "existence", "absence", "exactly"])
def test_unknown_arguments_are_an_error_exactly_where_they_decide(template: str) -> None:
    """Every reading of the calls whose arguments are hidden is tried, each by itself (G11)."""
    first, second = ({"tool": "t", "match": {"mode": "partial", "args": {"x": number}}} for number in (1, 2))
    formula = FORMULAS.get(template) or next(
        found for name, number, found in COUNTING if (name, number) == (template, 1)
    )
    subject = rule(template, first, second)
    for word in words(4, "ab?o"):
        choices = [READINGS.get(symbol, (symbol,)) for symbol in word]
        atoms = {"a": {"a"}, "b": {"b"}, "both": {"a", "b"}}
        possible = {
            formula([frozenset(atoms.get(symbol, ())) for symbol in reading], 0)
            for reading in itertools.product(*choices)
        }
        want = ERROR if len(possible) == 2 else PASS if possible == {True} else FAIL
        assert (word, judge(subject, [SYMBOLS[symbol] for symbol in word]).status) == (word, want)


@pytest.mark.parametrize("template", sorted(BANS))
def test_a_ban_does_not_pass_over_malformed_arguments_nor_over_a_call_without_a_name(template: str) -> None:
    """What cannot be read may be what is forbidden (G9, G25)."""
    first, second = ({"tool": "t", "match": {"mode": "partial", "args": {"x": number}}} for number in (1, 2))
    malformed = call("t", None, arguments_state="malformed")
    assert judge(rule(template, first, second), [SYMBOLS["a"], malformed]).status in (ERROR, FAIL)
    made = [call("b"), call("")] if template == "absence" else [call("a"), call("")]
    assert judge(rule(template), made).findings[0].code == "name_unknown"


@pytest.mark.parametrize("template", ["existence", "response", "precedence"])
def test_malformed_arguments_match_no_operand_that_names_arguments(template: str) -> None:
    """They are known to be no such arguments where nothing is forbidden (G9)."""
    first, second = ({"tool": "t", "match": {"mode": "partial", "args": {"x": number}}} for number in (1, 2))
    malformed = call("t", None, arguments_state="malformed")
    want = {"existence": FAIL, "response": FAIL, "precedence": FAIL}[template]
    made = {"existence": [malformed], "response": [SYMBOLS["a"], malformed], "precedence": [malformed, SYMBOLS["b"]]}
    assert judge(rule(template, first, second), made[template]).status == want
