"""The five modes against a brute-force oracle, and the laws that hold between modes (G15, G17 to G21)."""

from __future__ import annotations

import itertools
from typing import Any, Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core.assertion import Compiled, grade
from rightcall.core.calls import ToolCall
from rightcall.core.lining import Mode
from rightcall.core.patterns import ExpectedCall
from rightcall.core.verdicts import Status, Verdict
from support import oracle
from support.grading import call, compiled, judge, trajectory
from support.json_values import json_values

MODES: tuple[Mode, ...] = get_args(Mode)
ArgumentsMode = Literal["partial", "exact", "ignore", "deep"]

CALLS = (call("a", {"x": 1}), call("a", {"x": 2}), call("b"))
PATTERNS = (
    ExpectedCall(name="a", arguments={"x": 1}),
    ExpectedCall(name="a", arguments={"x": 2}),
    ExpectedCall(name="a"),
    ExpectedCall(name="b"),
)


def fits(pattern: ExpectedCall, made: ToolCall) -> bool:
    """Compatibility of these few symbols, spelt out."""
    return pattern.name == made.name and (pattern.arguments is UNSET or pattern.arguments == made.arguments)


def expectation(expected: tuple[ExpectedCall, ...], mode: Mode, arguments: ArgumentsMode = "partial") -> Compiled:
    """One compiled trajectory assertion."""
    (one,) = compiled(ToolCallTrajectory(expected_tool_calls=expected, match=mode, arguments=arguments))
    return one


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("length", range(5))
def test_modes_agree_with_brute_force_on_every_small_case(mode: Mode, length: int) -> None:
    """G21: on every pair of lists up to length four, over three calls and wildcards: status, counts, evidence."""
    made_lists = [made for size in range(5) for made in itertools.product(CALLS, repeat=size)]
    for expected in itertools.product(PATTERNS, repeat=length):
        assertion = expectation(expected, mode)
        for made in made_lists:
            (verdict,) = grade(trajectory(*made), [assertion])
            assert (verdict.status == Status.PASS) == oracle.passes(mode, expected, made, fits), (expected, made)
            assert bool(verdict.findings) == (verdict.status == Status.FAIL)


@pytest.mark.parametrize("length", range(4))
def test_counts_agree_with_brute_force(length: int) -> None:
    """G19: precision and recall come from a maximum pairing, whatever the mode and the verdict."""
    made_lists = [made for size in range(4) for made in itertools.product(CALLS, repeat=size)]
    for expected in itertools.product(PATTERNS, repeat=length):
        assertions = [expectation(expected, mode) for mode in MODES]
        for made in made_lists:
            paired = oracle.most_pairs(expected, made, fits)
            for verdict in grade(trajectory(*made), assertions):
                assert verdict.details["paired"] == paired
                assert verdict.details["precision"] == (paired / len(made) if made else None)
                assert verdict.details["recall"] == (paired / length if length else None)


@st.composite
def lists(draw: st.DrawFn) -> tuple[tuple[ExpectedCall, ...], list[ToolCall]]:
    """Expected and made calls with arbitrary arguments, often taken from one another."""
    arguments = draw(
        st.lists(st.dictionaries(st.sampled_from("abc"), json_values(), max_size=3), min_size=1, max_size=3)
    )
    one = st.builds(call, st.sampled_from(["f", "g"]), st.sampled_from(arguments))
    made = draw(st.lists(one, max_size=5))
    wanted = st.builds(ExpectedCall, name=st.sampled_from(["f", "g"]), arguments=st.sampled_from([*arguments, UNSET]))
    return tuple(draw(st.lists(wanted, max_size=5))), made


def statuses(expected: tuple[ExpectedCall, ...], made: list[ToolCall], arguments: ArgumentsMode) -> dict[str, bool]:
    """Which modes pass."""
    verdicts = grade(trajectory(*made), [expectation(expected, mode, arguments) for mode in MODES])
    return {mode: verdict.status == Status.PASS for mode, verdict in zip(MODES, verdicts, strict=True)}


@given(lists(), st.sampled_from(["partial", "exact", "ignore", "deep"]))
def test_laws_between_modes(case: tuple[tuple[ExpectedCall, ...], list[ToolCall]], arguments: ArgumentsMode) -> None:
    """G21: exact implies in_order implies superset; exact implies any_order, which is subset and superset."""
    expected, made = case
    holds = statuses(expected, made, arguments)
    assert not holds["exact"] or (holds["in_order"] and holds["any_order"])
    assert not holds["in_order"] or holds["superset"]
    assert holds["any_order"] == (holds["subset"] and holds["superset"])


@given(lists(), st.sampled_from(MODES))
def test_laws_between_argument_modes(case: tuple[tuple[ExpectedCall, ...], list[ToolCall]], mode: Mode) -> None:
    """G15: exact implies partial implies ignore, exact implies deep, partial implies deep."""
    expected, made = case
    by_arguments = {
        arguments: statuses(expected, made, arguments)[mode] for arguments in ("partial", "exact", "ignore", "deep")
    }
    assert not by_arguments["exact"] or by_arguments["partial"]
    assert not by_arguments["partial"] or (by_arguments["deep"] and by_arguments["ignore"])


@given(lists(), st.sampled_from(["superset", "any_order", "subset"]), st.randoms(use_true_random=False))
def test_shuffling_never_changes_an_order_free_verdict(
    case: tuple[tuple[ExpectedCall, ...], list[ToolCall]], mode: Mode, random: Any
) -> None:
    """G18: the pairing is a maximum one, so neither list's order matters."""
    expected, made = case
    shuffled = (tuple(random.sample(expected, len(expected))), random.sample(made, len(made)))
    first, second = (judge(ToolCallTrajectory(expected_tool_calls=e, match=mode), a) for e, a in (case, shuffled))
    counts = ("precision", "recall", "paired")
    assert first.status == second.status
    assert [first.details[name] for name in counts] == [second.details[name] for name in counts]


@given(lists(), st.data())
def test_adding_and_removing_calls(case: tuple[tuple[ExpectedCall, ...], list[ToolCall]], data: st.DataObject) -> None:
    """G21: an added call never breaks superset or in_order (E ≠ []); a removed one never breaks subset."""
    expected, made = case
    before = statuses(expected, made, "partial")
    at = data.draw(st.integers(0, len(made)))
    if expected:
        after = statuses(expected, [*made[:at], call("stranger"), *made[at:]], "partial")
        assert not before["superset"] or after["superset"]
        assert not before["in_order"] or after["in_order"]
    if made:
        fewer = statuses(expected, [*made[: at - 1], *made[at:]] if at else made[1:], "partial")
        assert not before["subset"] or fewer["subset"]


@given(lists(), st.sampled_from(MODES))
def test_grading_is_the_same_twice_and_changes_nothing(
    case: tuple[tuple[ExpectedCall, ...], list[ToolCall]], mode: Mode
) -> None:
    """G5: pure and total; the same input gives the same verdict."""
    expected, made = case
    assertion = ToolCallTrajectory(expected_tool_calls=expected, match=mode)
    assert judge(assertion, made) == judge(assertion, made)


def reason(verdict: Verdict) -> tuple[str, str]:
    """The code of the first finding, and the reason."""
    return verdict.findings[0].code, verdict.reason


E, C = ExpectedCall, call
REASONS: list[tuple[Mode, list[ExpectedCall], list[ToolCall], tuple[str, str]]] = [
    ("in_order", [E(name="lookup_order")], [C("other")], ("missing", "Expected lookup_order; it was never called.")),
    (
        "in_order", [E(name="bok_table")], [C("book_table")],
        (
            "missing",
            "Expected bok_table; it was never called. A tool of nearly that name was called "
            "(did you mean `book_table`?).",
        ),
    ),
    (
        "in_order", [E(name="a")], [],
        ("missing", "Expected a; it was never called. No tool calls were made."),
    ),
    (
        "superset", [E(name="lookup_order", arguments={"order_id": 42})], [C("lookup_order", {"order_id": 41})],
        ("arguments_differ", "Expected lookup_order with order_id = 42; call 1 had order_id = 41."),
    ),
    (
        "any_order", [E(name="issue_refund"), E(name="issue_refund")], [C("issue_refund")],
        ("too_few", "Expected issue_refund 2 times; it was called 1 time."),
    ),
    (
        "exact", [E(name="a"), E(name="b")], [C("a"), C("b"), C("send_email")],
        ("unexpected", "Call 3, send_email, was not expected."),
    ),
    (
        "in_order", [E(name="lookup_order"), E(name="issue_refund")], [C("issue_refund"), C("lookup_order")],
        ("out_of_order", "Expected issue_refund after lookup_order; it was call 1, before call 2."),
    ),
    (
        "in_order", [E(name="a"), E(name="b"), E(name="a")], [C("a"), C("a"), C("b")],
        ("out_of_order", "Expected a after b; it was call 2, before call 3."),
    ),
    ("in_order", [], [C("wipe_disk")], ("unexpected", "Call 1, wipe_disk, was not expected.")),
    (
        "in_order", [E(name="f", arguments={"n": 5})], [C("f", {"n": "5"})],
        ("arguments_differ", 'Expected f with n = 5, a number; call 1 had n = "5", a string.'),
    ),
    (
        "in_order", [E(name="f", arguments={"n": 5, "m": None})], [C("f", {"n": 5})],
        ("arguments_differ", "Expected f with m = null; call 1 had no m."),
    ),
    (
        "in_order", [E(name="f", arguments={"o": {"p": 1}})], [C("f", {"o": {"p": 1, "page": 2}})],
        ("arguments_differ", "Expected f without o.page; call 1 had o.page = 2."),
    ),
    (
        "in_order", [E(name="f", arguments={"x": 1})],
        [ToolCall(name="f", arguments=None, arguments_state="malformed", arguments_text='{"x": 1')],
        ("arguments_differ", 'Expected f with arguments {"x":1}; call 1 had malformed arguments "{\\"x\\": 1".'),
    ),
    (
        "in_order", [E(name="f", arguments={"x": 1, "y": 2})], [C("f", {"x": 0, "y": 0}), C("f", {"x": 1, "y": 3})],
        ("arguments_differ", "Expected f with y = 2; call 2 had y = 3."),
    ),
    (
        "in_order", [E(name="f", arguments={"x": 1}), E(name="f")], [C("f", {"x": 2}), C("f", {"x": 1})],
        ("out_of_order", 'Expected f after f with arguments {"x":1}; it was call 1, before call 2.'),
    ),
    (
        "exact", [E(name="f", arguments={}), E(name="f", arguments={"x": 2})], [C("f", {"x": 2}), C("f", {"x": 1})],
        ("out_of_order", 'Expected f with arguments {"x":2} after f; it was call 1, before call 2.'),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "expected", "made", "want"), REASONS)
def test_reason_names_the_first_difference(
    mode: Mode, expected: list[ExpectedCall], made: list[ToolCall], want: tuple[str, str]
) -> None:
    """G20: what was expected, what was found, and where, in the order missing, unexpected, out of order."""
    assert reason(judge(ToolCallTrajectory(expected_tool_calls=tuple(expected), match=mode), made)) == want


PASSED: list[tuple[Mode, list[str], list[str], str]] = [
    ("in_order", ["a", "b"], ["a", "x", "b"], "All 2 expected calls were made, in order."),
    ("exact", ["a"], ["a"], "The expected call was made, in order, and no others."),
    ("any_order", ["a", "b"], ["b", "a"], "All 2 expected calls were made, and no others."),
    ("superset", ["a", "b"], ["b", "x", "a"], "All 2 expected calls were made."),
    ("subset", ["a", "b"], ["b"], "The call made was expected."),
    ("subset", ["a", "b"], [], "No calls were made, so none was unexpected."),
    ("exact", [], [], "No calls were expected and none were made."),
]


@pytest.mark.parametrize(("mode", "expected", "made", "want"), PASSED)
def test_a_pass_says_what_matched(mode: Mode, expected: list[str], made: list[str], want: str) -> None:
    """G4: the verdict's reason is empty on a pass; `details["reason"]` says what matched."""
    patterns = tuple(ExpectedCall(name=name) for name in expected)
    verdict = judge(ToolCallTrajectory(expected_tool_calls=patterns, match=mode), [call(name) for name in made])
    assert (verdict.status, verdict.reason, verdict.details["reason"]) == (Status.PASS, "", want)
