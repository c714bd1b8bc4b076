"""What a trace does not show, against brute force over all that it could have been (G11, G12, G13)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from rightcall import match
from rightcall.assertions import AllowedTools, ForbiddenTools, RequiredTool, ToolCallArgs, ToolSelect, ToolSequence
from rightcall.assertions.sequence import Step
from rightcall.assertions.tools import ForbiddenTool
from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core.assertion import Assertion
from rightcall.core.calls import ToolCall
from rightcall.core.lining import Mode
from rightcall.core.patterns import ExpectedCall, Match
from rightcall.core.verdicts import Status
from support import oracle
from support.grading import call, hidden, judge, trajectory

MODES: tuple[Mode, ...] = ("exact", "in_order", "any_order", "subset", "superset")
MADE = (call("a", {"x": 1}), call("a", {"x": 2}), call("a"), call("b"), call("c"), hidden("a"), hidden("c"))
EXTRA = (call("a", {"x": 1}), call("b"), call("c"))
PLAIN = (ExpectedCall(name="a", arguments={"x": 1}), ExpectedCall(name="a"), ExpectedCall(name="b"))
WITH_OPERATORS = (
    *PLAIN,
    ExpectedCall(name="a", arguments={"x": match.not_(1)}),
    ExpectedCall(name="a", arguments={"x": match.absent()}),
)


def fits(pattern: ExpectedCall, made: ToolCall) -> bool:
    """Compatibility, a call marked as fitting everything included."""
    if pattern.name != made.name:
        return False
    if pattern.arguments is UNSET or made.id == "fits everything":
        return True
    if made.id == "fits nothing":
        return False
    expected = pattern.arguments["x"]
    if expected == match.absent():
        return "x" not in made.arguments
    return "x" in made.arguments and bool(made.arguments["x"] == expected)


def unveiled(made: Sequence[ToolCall]) -> Iterator[tuple[ToolCall, ...]]:
    """Every combination of hidden arguments that fit everything and hidden arguments that fit only "any"."""
    choices = [
        (call(one.name, id="fits everything"), call(one.name, id="fits nothing"))
        if one.arguments_state != "ok"
        else (one,)
        for one in made
    ]
    yield from itertools.product(*choices)


def filled(made: tuple[ToolCall, ...], room: int) -> Iterator[tuple[ToolCall, ...]]:
    """The calls, with up to `room` calls more anywhere among them."""
    yield made
    if room:
        for at in range(len(made) + 1):
            for extra in EXTRA:
                yield from filled((*made[:at], extra, *made[at:]), room - 1)


def with_some_left_out(made: Sequence[ToolCall]) -> Iterator[tuple[ToolCall, ...]]:
    """Every way in which calls of unknown success did or did not succeed."""
    choices = [((one,), ()) if one.status in ("requested", "pending") else ((one,),) for one in made]
    for chosen in itertools.product(*choices):
        yield tuple(one for part in chosen for one in part)


def settled(outcomes: set[bool]) -> Status:
    """The one status of all completions, else `error`."""
    if len(outcomes) > 1:
        return Status.ERROR
    return Status.PASS if outcomes == {True} else Status.FAIL


expected_lists = st.lists(st.sampled_from(PLAIN), max_size=3).map(tuple)
with_operators = st.lists(st.sampled_from(WITH_OPERATORS), max_size=3).map(tuple)
made_lists = st.lists(st.sampled_from(MADE), max_size=3)


@given(with_operators, made_lists, st.sampled_from(MODES))
def test_hidden_arguments_decide_only_when_they_cannot_matter(
    expected: tuple[ExpectedCall, ...], made: list[ToolCall], mode: Mode
) -> None:
    """G11: the verdict is that of every completion, else `error`."""
    outcomes = {oracle.passes(mode, expected, one, fits) for one in unveiled(made)}
    verdict = judge(ToolCallTrajectory(expected_tool_calls=expected, match=mode), made)
    assert verdict.status == settled(outcomes)


@settings(max_examples=settings().max_examples // 4)  # each tries every way to fill the gap
@given(expected_lists, made_lists, st.sampled_from(MODES))
def test_a_gap_decides_only_when_calls_in_it_cannot_matter(
    expected: tuple[ExpectedCall, ...], made: list[ToolCall], mode: Mode
) -> None:
    """G12: additional calls, anywhere in the order, overturn nothing, else `error`."""
    completions = (more for one in unveiled(made) for more in filled(one, min(len(expected) + 1, 3)))
    outcomes = {oracle.passes(mode, expected, one, fits) for one in completions}
    verdict = judge(
        ToolCallTrajectory(expected_tool_calls=expected, match=mode), trajectory(*made, gaps=("a cut-off line",))
    )
    assert verdict.status == settled(outcomes)


@given(expected_lists, made_lists, st.data(), st.sampled_from(MODES), st.booleans())
def test_unknown_success_decides_only_when_it_cannot_matter(
    expected: tuple[ExpectedCall, ...], made: list[ToolCall], data: st.DataObject, mode: Mode, has_gap: bool
) -> None:
    """G13: with `only_successful` failed calls do not count, and those of unknown success may or may not."""
    statuses = st.sampled_from(["ok", "requested", "pending", "error", "refused"])
    calls = [replace(one, status=data.draw(statuses)) for one in made]
    possible = [one for one in calls if one.status not in ("error", "refused")]
    room = min(len(expected) + 1, 3) if has_gap else 0
    outcomes = {
        oracle.passes(mode, expected, one, fits)
        for chosen in with_some_left_out(possible)
        for shown in unveiled(chosen)
        for one in filled(shown, room)
    }
    assertion = ToolCallTrajectory(expected_tool_calls=expected, match=mode, only_successful=True)
    verdict = judge(assertion, trajectory(*calls, gaps=("a cut-off line",) if has_gap else ()))
    assert verdict.status == settled(outcomes)


X1 = Match(mode="subset", args={"x": 1})
PASS, FAIL, ERROR = Status.PASS, Status.FAIL, Status.ERROR
GAPS: list[tuple[Assertion, list[ToolCall], Status, Status]] = [
    (AllowedTools(tools=("a",)), [call("a")], PASS, ERROR),
    (AllowedTools(tools=("a",)), [call("b")], FAIL, FAIL),
    (ForbiddenTools(tools=("b",)), [call("a")], PASS, ERROR),
    (ForbiddenTools(tools=("a",)), [call("a")], FAIL, FAIL),
    (RequiredTool(tool="a"), [call("a")], PASS, PASS),
    (RequiredTool(tool="a"), [call("b")], FAIL, ERROR),
    (ToolSequence(steps=(Step(tool="a"),)), [call("a")], PASS, PASS),
    (ToolSequence(steps=(Step(tool="a"),)), [], FAIL, ERROR),
    (ToolCallArgs(tool="a", match=X1), [call("a", {"x": 1})], PASS, PASS),
    (ToolCallArgs(tool="a", match=X1), [call("a")], FAIL, ERROR),
    (ToolCallArgs(tool="a", match=X1, negate=True), [call("a")], PASS, ERROR),
    (ToolCallArgs(tool="a", match=X1, negate=True), [call("a", {"x": 1})], FAIL, FAIL),
    (ToolCallArgs(tool="a", match=X1, call_index=1), [call("a", {"x": 1})], PASS, ERROR),
    (ToolCallArgs(tool="a", match=X1, call_index=1), [call("a")], FAIL, ERROR),
    (ToolCallArgs(tool="a", match=X1, call_index=1, negate=True), [call("a", {"x": 1})], FAIL, ERROR),
    (ToolCallArgs(tool="a", match=X1, call_index=1, negate=True), [call("a")], PASS, ERROR),
    (ToolSelect(expected_tools=("a",)), [call("a")], PASS, ERROR),
    (ToolSelect(expected_tools=("a",), threshold=0), [call("b")], PASS, PASS),
    (ToolSelect(expected_tools=("a",)), [], FAIL, ERROR),
    (ToolSelect(expected_tools=("a",)), [call("b")], FAIL, FAIL),
    (ToolSelect(expected_tools=("a", "b"), threshold=70), [call("a"), call("c")], FAIL, ERROR),
]


@pytest.mark.parametrize(("assertion", "made", "without", "with_gap"), GAPS)
def test_every_kind_refuses_to_decide_over_a_gap_that_matters(
    assertion: Assertion, made: list[ToolCall], without: Status, with_gap: Status
) -> None:
    """G12: the list of verdicts that additional calls could overturn, kind by kind; the reason names the gap."""
    verdict = judge(assertion, trajectory(*made, gaps=("line 3 was rejected",)))
    assert (judge(assertion, made).status, verdict.status) == (without, with_gap)
    assert with_gap is not ERROR or "line 3 was rejected" in verdict.reason


def some(args: Any) -> Match:
    return Match(mode="partial", args=args)


HIDDEN: list[tuple[Assertion, list[ToolCall], Status]] = [
    (ToolCallArgs(tool="a", match=X1), [hidden("a")], ERROR),
    (ToolCallArgs(tool="a", match=X1), [hidden("a"), call("a", {"x": 1})], PASS),
    (ToolCallArgs(tool="a", match=X1, call_index=2), [hidden("a"), call("a")], FAIL),
    (ToolCallArgs(tool="a", match=X1, negate=True), [hidden("a")], ERROR),
    (ToolCallArgs(tool="a", match=Match(mode="ignore")), [hidden("a")], PASS),
    (ToolCallArgs(tool="a", match=some(match.any_())), [hidden("a")], PASS),
    (ToolCallArgs(tool="a", match=some({"x": match.any_()})), [hidden("a")], ERROR),
    (ToolCallArgs(tool="a", match=some({"x": match.absent()})), [hidden("a")], ERROR),
    (ToolCallArgs(tool="a", match=some({"x": match.absent()})), [hidden("a"), call("a")], PASS),
    (ToolCallArgs(tool="a", match=some({"x": match.optional(1)})), [hidden("a")], ERROR),
    (ToolCallArgs(tool="a", match=some(match.not_({"x": 1}))), [hidden("a")], ERROR),
    (ToolCallArgs(tool="a", match=some(match.not_({"x": 1})), negate=True), [hidden("a")], ERROR),
    (ToolCallArgs(tool="a", match=some(match.not_({"x": 1})), negate=True), [hidden("a"), call("a")], FAIL),
    (ToolCallArgs(tool="a", match=some(match.not_({"x": 1})), negate=True), [hidden("b"), call("a", {"x": 1})], PASS),
    (ToolSequence(steps=(Step(tool="a", match=some({"x": match.absent()})),)), [hidden("a")], ERROR),
    (ForbiddenTools(tools=(ForbiddenTool(tool="a", match=some({"x": match.absent()})),)), [hidden("a")], ERROR),
    (ForbiddenTools(tools=(ForbiddenTool(tool="a", match=some(match.not_({"x": 1}))),)), [hidden("a")], ERROR),
    (ForbiddenTools(tools=(ForbiddenTool(tool="a", match=some(match.any_())),)), [hidden("a")], FAIL),
    (ToolCallArgs(tool="a", match=X1), [hidden("b")], FAIL),
    (ToolSequence(steps=(Step(tool="a", match=X1), Step(tool="b"))), [hidden("a"), call("b")], ERROR),
    (ToolSequence(steps=(Step(tool="a", match=X1), Step(tool="b"))), [hidden("a")], FAIL),
    (ForbiddenTools(tools=(ForbiddenTool(tool="a", match=X1),)), [hidden("a")], ERROR),
    (ForbiddenTools(tools=(ForbiddenTool(tool="a", match=X1),)), [hidden("a"), call("a", {"x": 1})], FAIL),
    (ForbiddenTools(tools=("a",)), [hidden("a")], FAIL),
    (AllowedTools(tools=("a",)), [hidden("a")], PASS),
    (RequiredTool(tool="a"), [hidden("a")], PASS),
    (ToolSelect(expected_tools=("a",)), [hidden("a")], PASS),
]


@pytest.mark.parametrize(("assertion", "made", "want"), HIDDEN)
def test_hidden_arguments_matter_only_to_kinds_that_look_at_them(
    assertion: Assertion, made: list[ToolCall], want: Status
) -> None:
    """G11: names survive redaction, so checks of names do not need arguments."""
    assert judge(assertion, made).status == want


def test_an_error_names_the_call_and_what_is_unknown() -> None:
    """G11: the reason says which call, in what state, and that the verdict depends on it."""
    expected = (ExpectedCall(name="a"), ExpectedCall(name="b", arguments={"x": 1}))
    verdict = judge(ToolCallTrajectory(expected_tool_calls=expected), [call("a"), hidden("b", "not_captured")])
    assert verdict.reason == "The arguments of call 2 were not captured; the verdict depends on them."
    assert (verdict.score, verdict.details["precision"], verdict.details["recall"]) == (None, None, None)


@pytest.mark.parametrize("negate", [False, True])
def test_malformed_arguments_match_nothing_and_never_clear_a_ban(negate: bool) -> None:
    """G9: a malformed call is counted; where a ban would need its arguments, nothing is known."""
    broken = hidden("a", "malformed", arguments_text='{"x": 1')
    verdict = judge(ToolCallArgs(tool="a", match=X1, negate=negate), [broken])
    assert verdict.status == (ERROR if negate else FAIL)
    assert judge(ForbiddenTools(tools=(ForbiddenTool(tool="a", match=X1),)), [broken]).status == ERROR


@pytest.mark.parametrize("made", [(call(""),), (call("a"), call(" ")), (call("", status="error"),)])
@pytest.mark.parametrize(
    "ban",
    [
        ForbiddenTools(tools=("x",)),
        ForbiddenTools(tools=(ForbiddenTool(tool="x", match=Match(mode="subset", args={"n": 1})),)),
        ToolCallArgs(tool="x", match=Match(mode="subset", args={"n": 1}), negate=True),
    ],
)
def test_a_ban_does_not_pass_over_a_call_without_a_name(ban: Assertion, made: Sequence[ToolCall]) -> None:
    """It could be of the forbidden tool (G25); a ban that another call breaks still fails."""
    assert judge(ban, made).status is Status.ERROR
    assert judge(ban, [*made, call("x", {"n": 1})]).status is Status.FAIL
