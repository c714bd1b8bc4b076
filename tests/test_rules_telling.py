"""Rules between calls: which calls they see, how they are named and explained, and which of them are refused."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.assertions.rules import Rule
from rightcall.core.assertion import grade
from rightcall.core.constraints import BANS, TEMPLATES
from rightcall.core.counting import Count
from rightcall.core.results import Outcome, attempt_outcome
from rightcall.core.verdicts import Status
from rightcall.errors import TestSetError
from support.grading import call, compiled, hidden, judge, trajectory
from support.rules import rule

PASS, FAIL, ERROR = Status.PASS, Status.FAIL, Status.ERROR


@pytest.mark.parametrize("template", sorted(BANS))
def test_count_and_aliases_never_narrow_a_ban(template: str) -> None:
    """Every call is seen, under the name it was recorded with and the one that expectations use (G13, G25)."""
    outside = {"kind": "output", "requestor": "user", "agent": "nested"}
    made = [call("a", **outside), call("b", **outside)]
    narrow = Count(kinds=("client",), agents=("lead",))
    assert judge(rule(template), made, count=narrow).status == FAIL
    assert judge(rule(template), made, tool_aliases={"a": "x", "b": "y"}).status == FAIL
    assert judge(rule(template, "x", "y"), made, tool_aliases={"a": "x", "b": "y"}).status == FAIL


def test_count_says_which_calls_other_rules_are_about() -> None:
    """An output tool is no call, so that it does not come between (G13)."""
    made = [call("a"), call("final", kind="output"), call("b")]
    assert judge(rule("chain_response"), made).status == PASS
    assert judge(rule("chain_response"), made, count=Count(kinds=("client", "output"))).status == FAIL


def test_bans_are_not_softened_by_a_rate_over_assertions() -> None:
    """An attempt in which one failed has failed (G25, G36)."""
    checks = compiled(rule("not_succession"), rule("existence"), rule("choice"))
    assert attempt_outcome(grade(trajectory(call("a"), call("b")), checks), Fraction(1, 2)) == Outcome.FAIL


ONE = {"tool": "a", "match": {"mode": "subset", "args": {"x": 1}}}
REASONS: list[tuple[Rule, str, str, int | None]] = [
    (rule("existence"), "c", "`a` was never called.", None),
    (rule("existence", {"tool": "a", "n": 2}), "ac", "`a` was called 1 time; the rule asks for at least 2 times.",
     None),
    (rule("existence", ONE), "ba", '`a` with arguments {"x":1} was never called. '
     "Expected a with x = 1; call 2 had no x.", None),
    (rule("absence"), "ca", "Call 2, `a`, was made, which is forbidden.", 1),
    (rule("absence", {"tool": "a", "n": 2}), "aca", "Call 3, `a`, was made, once too often: fewer than 2 times are "
     "allowed.", 2),
    (rule("exactly"), "aa", "Call 2, `a`, was made once too often: the rule asks for exactly 1 time.", 1),
    (rule("exactly", {"tool": "a", "n": 2}), "a", "`a` was called 1 time; the rule asks for exactly 2 times.", None),
    (rule("init"), "ca", "The first call must be `a`; call 1 was c.", 0),
    (rule("init"), "", "The first call must be `a`. No tool calls were made.", None),
    (rule("end"), "ac", "The last call must be `a`; call 2 was c.", 1),
    (rule("responded_existence"), "ca", "Call 2, `a`, asks for a call of `b`, which was never made.", 1),
    (rule("co_existence"), "cb", "Call 2, `b`, asks for a call of `a`, which was never made.", 1),
    (rule("response"), "abaa", "Call 3, `a`, was not followed by `b`.", 2),
    (rule("precedence"), "cba", "Call 2, `b`, was not preceded by `a`.", 1),
    (rule("succession"), "b", "Call 1, `b`, was not preceded by `a`.", 0),
    (rule("alternate_response"), "acab", "Call 1, `a`, was not followed by `b` before the next one, call 3.", 2),
    (rule("alternate_response"), "aba", "Call 3, `a`, was not followed by `b`.", 2),
    (rule("alternate_precedence"), "abcb", "Call 4, `b`, was not preceded by `a` since the one before it, call 2.", 3),
    (rule("alternate_precedence"), "cb", "Call 2, `b`, was not preceded by `a`.", 1),
    (rule("chain_response"), "accb", "Call 1, `a`, was not immediately followed by `b`: call 2 was c.", 0),
    (rule("chain_response"), "ca", "Call 2, `a`, was not immediately followed by `b`: it was the last call.", 1),
    (rule("chain_precedence"), "accb", "Call 4, `b`, was not immediately preceded by `a`: call 3 was c.", 3),
    (rule("chain_succession"), "b", "Call 1, `b`, was not immediately preceded by `a`: it was the first call.", 0),
    (rule("not_co_existence"), "bca", "Call 3, `a`, and call 1, `b`, must not both be made.", 2),
    (rule("not_succession"), "bacb", "Call 4, `b`, was made after call 2, `a`.", 3),
    (rule("not_chain_succession"), "acab", "Call 4, `b`, was made immediately after call 3, `a`.", 3),
    (rule("choice"), "c", "Neither `a` nor `b` was called.", None),
    (rule("exclusive_choice"), "ab", "Call 1, `a`, and call 2, `b`, must not both be made.", 1),
]  # fmt: skip


@pytest.mark.parametrize(("subject", "word", "reason", "made_index"), REASONS)
def test_a_reason_names_the_call_that_broke_the_rule(
    subject: Rule, word: str, reason: str, made_index: int | None
) -> None:
    """One plain sentence, and the index of that call among all (G42)."""
    verdict = judge(subject, [call(tool) for tool in word])
    assert (verdict.reason, verdict.findings[0].made_index) == (reason, made_index)


@settings(max_examples=60)
@given(st.sampled_from(TEMPLATES), st.lists(st.sampled_from("abc"), max_size=12))
def test_every_failure_can_be_put_into_words(template: str, word: list[str]) -> None:
    """No trace is too odd for a sentence, and what it names is among the calls (G4)."""
    verdict = judge(rule(template), [call(tool) for tool in word])
    assert bool(verdict.reason) == (verdict.status == FAIL)
    made = {finding.made_index for finding in verdict.findings} - {None}
    assert made <= set(range(len(word)))


PAGE = (Path(__file__).parents[1] / "docs" / "assertions" / "rule.md").read_text("utf-8")
EXAMPLES = re.findall(r"^\| `(\w+)` \|.*\| `([abc ]+)` \| `([abc ]+)` \|$", PAGE, re.MULTILINE)


def test_the_page_has_every_template_once_in_order() -> None:
    """None is left out, and the examples below are of all (G42)."""
    assert [template for template, _, _ in EXAMPLES] == list(TEMPLATES)


@pytest.mark.parametrize(("template", "passes", "fails"), EXAMPLES)
def test_the_examples_of_the_page_come_out_as_it_says(template: str, passes: str, fails: str) -> None:
    """One trace that passes and one that fails, for each template (G42)."""
    statuses = [judge(rule(template), [call(tool) for tool in word.split()]).status for word in (passes, fails)]
    assert statuses == [PASS, FAIL]


def test_names_and_ids_of_verdicts() -> None:
    """The template and its tools; rules of one name are told apart by their ids (G6, G42)."""
    rules = [rule("response"), rule("response"), rule("absence", ONE), rule("init", name="begins")]
    checks = compiled(*rules)
    assert [check.id for check in checks] == ["rule:response:a,b", "rule:response:a,b[2]", "rule:absence:a", "begins"]
    assert [check.ban for check in checks] == [False, False, True, False]


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({}, "", "a rule has one template as its key, such as `response` or `absence`; found none"),
    ({"init": "a", "end": "a"}, "", "a rule has one template as its key, such as `response` or `absence`; found `init` "
     "and `end`"),
    ({"response": ["a", "a"]}, "response[1]", "both operands of `response` are the same; such a rule holds always or "
     "never"),
    ({"choice": [ONE, {**ONE}]}, "choice[1]", "both operands of `choice` are the same; such a rule holds always or "
     "never"),
    ({"response": ["a", {"tool": "b", "match": {"mode": "exact"}}]}, "response[1].match", "mode `exact` needs `args`"),
    ({"absence": {"tool": "b", "match": {"mode": "regex"}}}, "absence.match", "mode `regex` needs `pattern`"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "path", "message"), REFUSED)
def test_a_rule_that_cannot_be_is_refused_with_its_path(written: dict[str, Any], path: str, message: str) -> None:
    """It is never a failed verdict (G27)."""
    with pytest.raises(TestSetError) as caught:
        compiled(msgspec.convert(written, Rule))
    assert (caught.value.where.path, caught.value.message) == (path, message)


def test_a_thousand_rules_on_ten_thousand_calls() -> None:
    """Each kind of call is looked for once, however many rules ask for it (G22)."""
    tools = [f"tool_{number}" for number in range(20)]
    rules = [rule("response", tools[number % 19], tools[number % 19 + 1]) for number in range(1_000)]
    made = trajectory(*[call(tools[number % 20]) for number in range(10_000)])
    assert {bool(check.check(made).findings) for check in compiled(*rules)} == {False}


def test_what_was_found_is_not_taken_for_another_trajectory_or_setting() -> None:
    """The same rule on other calls, and other rules on the same calls, are looked at anew (G5)."""
    subject = rule("existence", ONE)
    checks = compiled(subject)
    right, wrong = trajectory(call("a", {"x": 1})), trajectory(call("a", {"x": 2}))
    found = [bool(checks[0].check(made).findings) for made in (right, wrong, right, wrong)]
    assert found == [False, True, False, True]
    assert judge(rule("existence", {**ONE, "match": {"mode": "subset", "args": {"x": 2}}}), right).status == FAIL


def test_too_many_unknown_calls_are_an_error_and_no_hang() -> None:
    """Counting what may be is limited as all lining up is, and the reason names the limit (G22)."""
    subject = rule("exactly", {**ONE, "n": 4_000})
    verdict = judge(subject, [hidden("a")] * 4_000)
    assert (verdict.status, verdict.findings[0].code) == (ERROR, "limit")
