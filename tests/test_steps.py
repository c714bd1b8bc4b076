"""Steps that are made of other steps: decided exactly, explained, and stable where more calls cannot matter."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.assertions import ToolSequence
from rightcall.assertions.sequence import Step
from rightcall.core.patterns import Match
from rightcall.core.verdicts import Status
from rightcall.errors import TestSetError
from support.grading import call, compiled, hidden, judge, trajectory
from support.step_oracle import Word, is_subsequence, sequence_words

PASS, FAIL, ERROR = Status.PASS, Status.FAIL, Status.ERROR
LONGEST = 5
TRACES: list[Word] = [made for length in range(LONGEST + 1) for made in itertools.product("abc", repeat=length)]

A, B, C = ({"tool": name} for name in "abc")


def steps(*written: Any) -> tuple[Step, ...]:
    """Steps as a file writes them."""
    return msgspec.convert(written, tuple[Step, ...])


def strict(*written: Any) -> ToolSequence:
    """A sequence that allows no other calls."""
    return ToolSequence(steps=steps(*written), strict=True)


def loose(*written: Any) -> ToolSequence:
    """A sequence between whose calls others may come."""
    return ToolSequence(steps=steps(*written))


def combined(parts: list[Any]) -> list[Any]:
    """Every step that is made of one or two of these."""
    pairs = [list(pair) for pair in itertools.combinations_with_replacement(parts, 2)]
    made: list[Any] = [{shape: pair} for pair in pairs for shape in ("any_order", "one_of")]
    made += [{"in_order": list(pair)} for pair in itertools.product(parts, repeat=2)]
    limits: list[dict[str, int]] = [{}, {"min": 0}, {"min": 2}, {"max": 2}, {"min": 0, "max": 1}, {"min": 2, "max": 2}]
    made += [{"optional": part} for part in parts]
    return made + [{"repeat": {"step": part, **limit}} for part in parts for limit in limits]


SMALL = combined([A, B])
"""Every step one level deep over two tools."""
MIXED = [
    {"any_order": [A, {"in_order": [A, B]}]},
    {"repeat": {"step": {"one_of": [A, {"in_order": [B, C]}]}, "min": 2}},
]
PATTERNS = [[step] for step in SMALL] + [[step, last] for step in SMALL for last in (A, C)] + [[step] for step in MIXED]
DEEP = combined(SMALL)
"""Every step two levels deep over two tools: some thousands, of which some are drawn."""


def verdicts(sequence: ToolSequence) -> list[tuple[Word, Status]]:
    """What is said of every trace."""
    (check,) = compiled(sequence)
    fails = [bool(check.check(trajectory(*map(call, made))).findings) for made in TRACES]
    return [(made, FAIL if fail else PASS) for made, fail in zip(TRACES, fails, strict=True)]


def expected(words: frozenset[Word], *, between: bool) -> list[tuple[Word, Status]]:
    """What the list of words says of every trace."""
    right = [any(is_subsequence(word, made) for word in words) if between else made in words for made in TRACES]
    return [(made, PASS if is_right else FAIL) for made, is_right in zip(TRACES, right, strict=True)]


@pytest.mark.parametrize("written", PATTERNS, ids=str)
def test_a_strict_sequence_takes_exactly_its_words(written: list[Any]) -> None:
    """On every trace of up to five calls of three tools it agrees with listing all words (G41)."""
    assert verdicts(strict(*written)) == expected(sequence_words(steps(*written), LONGEST), between=False)


def has_limit(written: Any) -> bool:
    return "max" in str(written)


@pytest.mark.parametrize("written", [each for each in PATTERNS if not has_limit(each)], ids=str)
def test_a_sequence_takes_whatever_holds_one_of_its_words(written: list[Any]) -> None:
    """Other calls may come before, between and after (G24, G41)."""
    assert verdicts(loose(*written)) == expected(sequence_words(steps(*written), LONGEST), between=True)


@settings(max_examples=40)
@given(st.lists(st.sampled_from(DEEP + SMALL + [C]), min_size=1, max_size=3))
def test_steps_inside_steps_are_decided_exactly(written: list[Any]) -> None:
    """Two levels deep, up to three steps: the verdicts are those of the words (G41)."""
    words = sequence_words(steps(*written), LONGEST)
    assert verdicts(strict(*written)) == expected(words, between=False)
    if not has_limit(written):
        assert verdicts(loose(*written)) == expected(words, between=True)


def inserted(made: Word, most: int, tools: str = "abcx") -> list[Word]:
    """The trace with up to so many calls added, anywhere."""
    found = {made}
    for _ in range(most):
        found |= {(*word[:at], tool, *word[at:]) for word in found for at in range(len(word) + 1) for tool in tools}
    return sorted(found)


@pytest.mark.parametrize("written", [[step] for step in SMALL[:10]] + [[step, C] for step in SMALL[:6]], ids=str)
def test_a_strict_verdict_stands_over_a_gap_only_if_no_calls_could_overturn_it(written: list[Any]) -> None:
    """With calls missing it is an error exactly where some calls, anywhere, give the other verdict (G12)."""
    sequence = strict(*written)
    (check,) = compiled(sequence)
    for made in TRACES[:10]:
        known = judge(sequence, trajectory(*map(call, made))).status
        possible = {
            bool(check.check(trajectory(*map(call, more))).findings) for more in inserted(made, len(written) + 1)
        }
        gapped = judge(sequence, trajectory(*map(call, made), gaps=("a line was rejected",))).status
        assert (made, gapped) == (made, ERROR if len(possible) == 2 else known)


@pytest.mark.parametrize("written", [[{"any_order": [A, B]}], [{"one_of": [A, B]}, C], [{"repeat": {"step": A}}, B]])
def test_a_pass_with_calls_in_between_survives_more_calls_and_a_fail_does_not(written: list[Any]) -> None:
    """With calls missing a pass stays one and a fail is an error (G12)."""
    sequence = loose(*written)
    for made in TRACES[:14]:
        known = judge(sequence, trajectory(*map(call, made))).status
        gapped = judge(sequence, trajectory(*map(call, made), gaps=("a line was rejected",))).status
        assert (made, gapped) == (made, PASS if known == PASS else ERROR)


def with_x(number: int) -> dict[str, Any]:
    return {"tool": "a", "match": {"mode": "subset", "args": {"x": number}}}


UNKNOWN: list[tuple[ToolSequence, list[Any], Status]] = [
    (loose({"any_order": [with_x(1), B]}), [hidden("a"), call("b")], ERROR),
    (loose({"any_order": [with_x(1), B]}), [hidden("a")], FAIL),
    (loose({"any_order": [A, B]}), [call("b"), hidden("a")], PASS),
    (loose({"one_of": [with_x(1), B]}), [hidden("a"), call("b")], PASS),
    (strict(with_x(1)), [hidden("a")], ERROR),
    (strict(with_x(1)), [hidden("a"), call("b")], FAIL),
    (strict({"any_order": [with_x(1), with_x(2)]}), [hidden("a"), call("a", {"x": 1})], ERROR),
    (strict({"any_order": [with_x(1), with_x(2)]}), [hidden("a"), call("a", {"x": 3})], FAIL),
    (strict({"any_order": [with_x(1), A]}), [call("a", {"x": 1}), hidden("a")], PASS),
]


@pytest.mark.parametrize(("sequence", "made", "want"), UNKNOWN)
def test_unknown_arguments_matter_only_where_they_could_change_the_verdict(
    sequence: ToolSequence, made: list[Any], want: Status
) -> None:
    """Graded with the unknown at its best and at its worst (G11)."""
    verdict = judge(sequence, made)
    assert verdict.status == want
    if want == ERROR:
        assert verdict.findings[0].code == "arguments_unknown"


REASONS: list[tuple[ToolSequence, list[Any], str]] = [
    (
        loose(A, {"any_order": [B, C]}), [call("a"), call("c")],
        "matched 1 of 2 steps; step 2, `b` and `c` in any order, is not complete: `b` was not called after call 2.",
    ),
    (
        loose({"one_of": [with_x(1), B]}, C), [call("a", {"x": 2}), call("c")],
        "matched 0 of 2 steps; step 1, `a` or `b`, is not complete: `a` or `b` was not called. "
        "Expected a with x = 1; call 1 had x = 2.",
    ),
    (
        loose({"repeat": {"step": A, "min": 3}}, B), [call("a"), call("a"), call("b")],
        "matched 0 of 2 steps; step 1, `a` at least 3 times, is not complete: `a` was not called after call 2.",
    ),
    (
        loose({"optional": B}, A, {"one_of": [B, C]}), [call("a")],
        "matched 2 of 3 steps; step 3, `b` or `c`, is not complete: `b` or `c` was not called after call 1.",
    ),
    (
        strict(A, {"optional": B}, C), [call("a"), call("x"), call("c")],
        "matched 1 of 3 steps; call 2, x, does not fit: expected `b` or `c` after call 1.",
    ),
    (
        strict(A, with_x(1)), [call("a"), call("a", {"x": 2})],
        "matched 1 of 2 steps; call 2, a, does not fit: expected `a` after call 1. "
        "Expected a with x = 1; call 2 had x = 2.",
    ),
    (strict(A, B), [call("a")], "matched 1 of 2 steps; `b` was expected after call 1, and no further call was made."),
    (strict(A), [call("a"), call("b")], "matched 1 of 1 steps; call 2, b, does not fit: no further call was expected."),
    (strict(A), [], "matched 0 of 1 steps; `a` was expected, and no further call was made. No tool calls were made."),
]  # fmt: skip


@pytest.mark.parametrize(("sequence", "made", "want"), REASONS)
def test_a_reason_says_how_far_the_calls_led_and_what_was_due(
    sequence: ToolSequence, made: list[Any], want: str
) -> None:
    """Steps matched, the call that does not fit or the last that did, and the closest difference (G24, G41)."""
    assert judge(sequence, made).reason == want


def test_details_count_the_steps() -> None:
    """All of them on a pass, also where the last ones are left out (G24)."""
    sequence = strict(A, {"optional": B}, {"optional": C})
    assert judge(sequence, [call("a")]).details == {"matched_steps": 3, "steps": 3}


REFUSED: list[tuple[ToolSequence, str, str]] = [
    (strict({}), "steps[0]", "a step has one of the keys `tool`, `any_order`, `in_order`, `one_of`, `optional` and "
     "`repeat`; found none of them"),
    (strict({"optional": {"tool": "a", "one_of": [A]}}), "steps[0].optional", "a step has one of the keys `tool`, "
     "`any_order`, `in_order`, `one_of`, `optional` and `repeat`; found `tool` and `one_of`"),
    (strict(A, {"one_of": [A], "match": {"mode": "ignore"}}), "steps[1].match", "`match` has no effect without `tool`"),
    (strict({"any_order": [A, {"tool": "b", "match": {"mode": "regex", "pattern": "("}}]}),
     "steps[0].any_order[1].match.pattern", "not a regular expression: expecting ')'"),
    (strict({"repeat": {"step": A, "min": 3, "max": 2}}), "steps[0].repeat.max",
     "expected a `max` of at least `min`, 3, found 2"),
    (strict({"repeat": {"step": A, "min": 0, "max": 0}}), "steps[0].repeat.max",
     "expected a `max` of at least 1, found 0"),
    (loose({"in_order": [A, {"repeat": {"step": A, "max": 2}}]}), "steps[0].in_order[1].repeat.max",
     "`max` limits nothing where other calls may come in between, and calls of the same tool are such calls; write "
     "`strict: true` beside `steps`, or a rule such as `absence` with `n`"),
]  # fmt: skip


@pytest.mark.parametrize(("sequence", "path", "message"), REFUSED)
def test_a_step_that_cannot_be_is_refused_with_its_path(sequence: ToolSequence, path: str, message: str) -> None:
    """It is never a failed verdict (G27)."""
    with pytest.raises(TestSetError) as caught:
        compiled(sequence)
    assert (caught.value.where.path, caught.value.message) == (path, message)


def test_many_steps_in_any_order_are_no_product_of_their_orders() -> None:
    """Forty tools in any order: one state a call where each call fits one step (G22)."""
    tools = [f"tool_{number}" for number in range(40)]
    made = [call(name) for name in reversed(tools)]
    every = {"any_order": [{"tool": name} for name in tools]}
    assert judge(strict(every), made).status == PASS
    assert judge(loose(every), [*made, *made][1:-1]).status == PASS
    assert judge(loose(every), made[1:] * 3).status == FAIL


def test_equal_steps_in_any_order_are_counted() -> None:
    """Sixty equal steps are no more work than their number (G22)."""
    sequence = strict({"any_order": [A] * 60 + [B]})
    assert judge(sequence, [call("a")] * 30 + [call("b")] + [call("a")] * 30).status == PASS
    assert judge(sequence, [call("a")] * 61).status == FAIL


def test_steps_that_compete_without_end_are_an_error_and_no_hang() -> None:
    """A declared limit, which the reason names (G22)."""
    choosy = [{"tool": "a", "match": {"mode": "regex", "pattern": f"[{number}9]"}} for number in range(100, 130)]
    verdict = judge(strict({"any_order": choosy}), [call("a", {"x": 9})] * 30)
    assert (verdict.status, verdict.findings[0].code) == (ERROR, "limit")


def test_long_sequences_are_followed_in_one_pass() -> None:
    """Ten thousand strict steps, and ten thousand optional ones in a row that no call needs (G22)."""
    assert judge(strict(*[A] * 10_000), [call("a")] * 10_000).status == PASS
    assert judge(strict(*[{"optional": A}] * 300, B), [call("a")] * 200 + [call("b")]).status == PASS
    assert judge(strict({"repeat": {"step": A, "min": 9_000}}), [call("a")] * 10_000).status == PASS


def test_equal_patterns_are_one_and_arguments_decide() -> None:
    """One call takes one step only, so two equal steps need two calls (G41)."""
    one = Match(mode="subset", args={"x": 1})
    twice = ToolSequence(steps=(Step(any_order=(Step(tool="a", match=one), Step(tool="a", match=one))),))
    assert judge(twice, [call("a", {"x": 1})]).status == FAIL
    assert judge(twice, [call("a", {"x": 1}), call("b"), call("a", {"x": 1, "y": 2})]).status == PASS
