"""`$from` against brute force over all that is not known (G11, G18, G21)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from rightcall import match
from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core.calls import ToolCall
from rightcall.core.lining import Mode
from rightcall.core.patterns import ExpectedCall
from support import oracle
from support.grading import call, judge
from support.messages import in_messages, shuffled_in_messages

MODES: tuple[Mode, ...] = ("exact", "in_order", "any_order", "subset", "superset")
SOURCE = match.from_("look.result.id")
SECOND = match.from_("look[2].result.id")
EXPECTED = (
    ExpectedCall(name="look"),
    ExpectedCall(name="use"),
    ExpectedCall(name="use", arguments={"x": 1}),
    ExpectedCall(name="use", arguments={"x": SOURCE}),
    ExpectedCall(name="use", arguments={"x": match.not_(SOURCE)}),
    ExpectedCall(name="use", arguments={"x": match.one_of([1, SECOND])}),
    ExpectedCall(name="use", arguments={"x": match.all_([SOURCE, match.not_(SECOND)])}),
)
HIDDEN = call("look", status="ok")
MADE = (
    call("look", status="ok", result={"id": 1}),
    call("look", status="ok", result={"id": 2}),
    call("look", status="error", error="no such order"),
    HIDDEN,
    call("use", {"x": 1}),
    call("use", {"x": 2}),
)


def which(pattern: ExpectedCall) -> int:
    """The position of an expectation among all of them: where values come from, none is equal to another."""
    return next(at for at, each in enumerate(EXPECTED) if each is pattern)


def gave(made: Sequence[ToolCall], index: int, number: int | None) -> set[Any]:
    """What the calls of `look` before an index, in other messages, gave: the definition read literally."""
    looks = [at for at, one in enumerate(made) if one.name == "look"]
    meant = looks if number is None else looks[number - 1 : number]
    earlier = [at for at in meant if at < index and made[at].message != made[index].message]
    return {made[at].result["id"] for at in earlier if made[at].status == "ok"}


def fits(pattern: ExpectedCall, placed: tuple[int, Sequence[ToolCall]]) -> bool:
    """Compatibility of an expected call with the call at a position."""
    index, made = placed
    if pattern.name != made[index].name:
        return False
    x = made[index].arguments.get("x")
    anywhere, second = x in gave(made, index, None), x in gave(made, index, 2)
    return (True, True, x == 1, anywhere, not anywhere, x == 1 or second, anywhere and not second)[which(pattern)]


def completions(made: Sequence[ToolCall]) -> Iterator[tuple[ToolCall, ...]]:
    """Every result that a hidden one could have been."""
    choices = [
        [replace(one, result={"id": value}) for value in (1, 2, 3)] if one.result is None and one.status == "ok" and
        one.name == "look" else [one]
        for one in made
    ]  # fmt: skip
    yield from itertools.product(*choices)


def outcomes(mode: str, expected: Sequence[ExpectedCall], made: Sequence[ToolCall]) -> set[str]:
    """What brute force says of every completion."""
    found = set()
    for whole in completions(made):
        placed = [(index, whole) for index in range(len(whole))]
        found.add("pass" if oracle.passes(mode, expected, placed, fits) else "fail")
    return found


lists = st.lists(st.sampled_from(EXPECTED), min_size=1, max_size=3)
calls = st.lists(st.sampled_from(MADE), max_size=4)
starts = st.lists(st.booleans(), min_size=4, max_size=4)


@settings(max_examples=400)
@given(st.sampled_from(MODES), lists, calls, starts)
def test_all_modes_agree_with_brute_force(mode: Mode, expected: Any, made: Any, begins: Any) -> None:
    """Whatever result is hidden: pass and fail only if every completion says so, error only if one is hidden."""
    placed = in_messages(made, begins)
    verdict = judge(ToolCallTrajectory(expected_tool_calls=tuple(expected), match=mode), placed)
    could_be = outcomes(mode, expected, placed)
    if HIDDEN not in made:
        assert {verdict.status} == could_be
    else:
        assert verdict.status == "error" or {verdict.status} == could_be
    assert verdict.status != "fail" or verdict.reason


@given(lists, calls, starts, st.sampled_from(MADE[:3]), st.integers(0, 4))
def test_one_more_source_never_breaks_what_no_number_names(
    expected: Any, made: Any, begins: Any, extra: Any, at: int
) -> None:
    """An unrelated earlier call, or a related one, leaves a pass of `superset` and `in_order` a pass (G21)."""
    asked = [each for each in expected if which(each) < 4]
    placed = in_messages(made, begins)
    more = (*placed[:at], replace(extra, message=99), *placed[at:])
    for mode in ("superset", "in_order"):
        assertion = ToolCallTrajectory(expected_tool_calls=tuple(asked), match=mode)
        if asked and judge(assertion, placed).status == "pass":
            assert judge(assertion, more).status == "pass"


@given(lists, calls, starts, st.randoms(use_true_random=False))
def test_the_order_of_one_message_and_of_the_expectations_does_not_matter(
    expected: Any, made: Any, begins: Any, random: Any
) -> None:
    """Shuffling parallel calls, or what is expected, never changes an order-free verdict without numbers (G18)."""
    asked = [each for each in expected if which(each) < 5]
    placed = in_messages(made, begins)
    shuffled = shuffled_in_messages(placed, random)
    for mode in ("any_order", "subset", "superset"):
        before = judge(ToolCallTrajectory(expected_tool_calls=tuple(asked), match=mode), placed)
        random.shuffle(asked)
        after = judge(ToolCallTrajectory(expected_tool_calls=tuple(asked), match=mode), shuffled)
        assert before.status == after.status


def test_many_calls_of_one_tool_are_paired_as_well_as_possible() -> None:
    """The index, groups of equal patterns and the search for a matching keep positions apart (G18, G22)."""
    looks = [call("look", status="ok", result={"id": number}, message=2 * number) for number in range(40)]
    uses = [call("use", {"x": number, "y": 7}, message=2 * number + 1) for number in range(40)]
    made = [one for both in zip(looks, uses, strict=True) for one in both]
    wanted = tuple(ExpectedCall(name="use", arguments={"x": SOURCE, "y": 7}) for _ in uses)
    assert judge(ToolCallTrajectory(expected_tool_calls=wanted, match="superset"), tuple(made)).status == "pass"
    swapped = tuple(made[1:] + made[:1])  # the first use is now before its source
    assert judge(ToolCallTrajectory(expected_tool_calls=wanted, match="superset"), swapped).status == "fail"
