"""Assertions of a part of a conversation: what holds whatever the calls are."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.assertions import AllowedTools, Budget, Code, ForbiddenTools, RequiredTool, Text, ToolCallTrajectory
from rightcall.core.assertion import Assertion, grade
from rightcall.core.calls import ToolCall
from rightcall.core.counting import Count
from rightcall.core.patterns import ExpectedCall
from rightcall.errors import TestSetError
from support.grading import call, compiled, judge, trajectory

NAMES = st.sampled_from("ab")
EXPECTED = st.lists(NAMES, max_size=3).map(lambda names: tuple(ExpectedCall(name=name) for name in names))
KINDS: st.SearchStrategy[Assertion] = st.one_of(
    st.builds(ToolCallTrajectory, expected_tool_calls=EXPECTED, match=st.sampled_from(["exact", "superset", "subset"])),
    st.builds(RequiredTool, tool=NAMES),
    st.builds(AllowedTools, tools=st.lists(NAMES, max_size=2).map(tuple)),
    st.builds(ForbiddenTools, tools=st.tuples(NAMES)),
    st.builds(Budget, max_calls=st.integers(0, 3)),
    st.builds(Budget, max_calls_per_tool=st.integers(0, 2)),
    st.builds(Budget, max_repeats=st.integers(0, 2)),
)
CALLS = st.lists(
    st.builds(call, NAMES, st.sampled_from([{}, {"x": 1}]), turn=st.sampled_from([0, 1]), status=st.just("ok")),
    max_size=5,
)
UNKNOWN_TURNS = CALLS.flatmap(
    lambda calls: st.tuples(*(st.sampled_from([made, msgspec.structs.replace(made, turn=None)]) for made in calls))
)


def of_turn_2(assertion: Assertion) -> Assertion:
    return msgspec.structs.replace(assertion, turn=2)


def told(*calls: ToolCall) -> Any:
    """The calls in a conversation whose messages tell of two turns."""
    spoken = [{"role": role, "content": "."} for role in ("user", "assistant") * 2]
    return trajectory(*calls, messages=spoken)


@given(KINDS, CALLS)
def test_a_turn_is_judged_as_if_its_calls_were_all(assertion: Assertion, calls: list[ToolCall]) -> None:
    """The status in a turn is that of the same assertion on the calls of that turn alone."""
    inside = [made for made in calls if made.turn == 1]
    assert judge(of_turn_2(assertion), told(*calls)).status == judge(assertion, inside).status


@given(KINDS, UNKNOWN_TURNS)
def test_calls_of_unknown_turn_are_decided_only_where_they_cannot_matter(
    assertion: Assertion, calls: tuple[ToolCall, ...]
) -> None:
    """A verdict that is given holds whichever turn the unknown calls were made in (G11)."""
    verdict = judge(of_turn_2(assertion), told(*calls))
    if verdict.status == "error":
        assert any(made.turn is None for made in calls)
        return
    for turn in (0, 1):
        settled = [msgspec.structs.replace(made, turn=turn) if made.turn is None else made for made in calls]
        assert judge(of_turn_2(assertion), told(*settled)).status == verdict.status


@given(KINDS.filter(lambda kind: isinstance(kind, Budget | AllowedTools | ForbiddenTools)), UNKNOWN_TURNS)
def test_bans_err_exactly_where_unknown_calls_decide(assertion: Assertion, calls: tuple[ToolCall, ...]) -> None:
    """A ban is an error only if it passes without the calls of unknown turn and fails with them."""
    outcomes = [
        judge(assertion, [made for made in calls if made.turn in (1, unknown)]).status for unknown in ("none", None)
    ]
    expected = outcomes[0] if outcomes[0] == outcomes[1] else "error"
    assert expected == judge(of_turn_2(assertion), told(*calls)).status


@given(st.builds(Budget, max_repeats=st.integers(0, 2)) | st.builds(Budget, max_calls=st.integers(0, 3)), CALLS, CALLS)
def test_more_calls_never_mend_a_budget(assertion: Budget, calls: list[ToolCall], more: list[ToolCall]) -> None:
    """What is over its limit stays so, whatever comes after it."""
    if judge(assertion, calls).status == "fail":
        assert judge(assertion, [*calls, *more]).status == "fail"


@given(st.integers(0, 3), CALLS)
def test_repeats_are_counted_as_equal_arguments(limit: int, calls: list[ToolCall]) -> None:
    """A budget of repeats fails exactly if some call has more than that many equal ones after it (G7)."""
    same = [sum(1 for other in calls if (other.name, other.arguments) == (one.name, one.arguments)) for one in calls]
    expected = "fail" if max(same, default=0) - 1 > limit else "pass"
    assert expected == judge(Budget(max_repeats=limit), calls).status


def test_calls_are_numbered_as_in_the_whole_conversation() -> None:
    """A finding of a turn names the call by its place among all calls."""
    verdict = judge(AllowedTools(tools=("a",), turn=2), [call("a", turn=0), call("a", turn=1), call("b", turn=1)])
    assert verdict.reason == "`b` (call 3) was called but is not allowed."
    assert verdict.findings[0].made_index == 2


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ([call("a", turn=0)], "It is not known that there was a turn 2: turn 1 is the last one recorded."),
        ([call("a")], "It is not known that there was a turn 2: no turns are recorded."),
        ([call("a"), call("b", turn=1)], "The turn of call 1 is not recorded; the verdict depends on it."),
    ],
)
def test_what_is_not_known_of_turns_is_said(calls: list[ToolCall], reason: str) -> None:
    """The reason names the call, or the turn that nothing tells of (G3)."""
    verdict = judge(AllowedTools(tools=("b",), turn=2), calls)
    assert (verdict.status, verdict.reason) == ("error", reason)


def test_nothing_against_an_absent_agent_is_not_applicable() -> None:
    """A misspelt agent passes nothing: the verdict says that there was nothing to judge (G1)."""
    verdict = judge(ForbiddenTools(tools=("a",), agent="biling"), [call("a", agent="billing")])
    assert (verdict.status, verdict.score) == ("not_applicable", None)
    assert verdict.reason == "There is no call of the agent `biling` (did you mean `billing`?) to judge."


MADE_BY = st.lists(
    st.builds(call, NAMES, st.sampled_from([{}, {"x": 1}]), agent=st.sampled_from(["main", "other", None])), max_size=5
)
MAIN = Count(agents=("main",))


@given(KINDS, MADE_BY)
def test_calls_of_unknown_agent_are_decided_only_where_they_cannot_matter(
    assertion: Assertion, calls: list[ToolCall]
) -> None:
    """Where the calls of some agents count, a verdict holds whoever made the calls of no known agent (G11, G13)."""
    verdict = judge(assertion, calls, count=MAIN)
    if verdict.status in ("error", "not_applicable"):
        assert not isinstance(assertion, AllowedTools | ForbiddenTools)
        return
    for agent in ("main", "other"):
        settled = [msgspec.structs.replace(made, agent=agent) if made.agent is None else made for made in calls]
        told = judge(assertion, settled, count=MAIN).status
        assert told in (verdict.status, "not_applicable")


@given(KINDS, MADE_BY)
def test_calls_of_other_agents_are_as_if_they_were_not_there(assertion: Assertion, calls: list[ToolCall]) -> None:
    """`count: {agents}` leaves the calls of other agents out, but never from a ban (G13)."""
    known = [made for made in calls if made.agent is not None]
    mine = [made for made in known if made.agent == "main"]
    verdict = judge(assertion, known, count=MAIN)
    if isinstance(assertion, AllowedTools | ForbiddenTools):
        assert verdict.status == judge(assertion, known).status
    elif known and not mine and judge(assertion, mine).status == "pass":
        assert verdict.status == "not_applicable"
    else:
        assert verdict.status == judge(assertion, mine).status


def test_an_unknown_agent_is_named_where_it_decides() -> None:
    """A budget of some agents says which call could be theirs; a ban and a function see every call anyway."""
    calls = [call("a", agent="main"), call("b")]
    (budget, code, text) = grade(
        trajectory(*calls, output="done"),
        compiled(Budget(max_calls=1), Code(function=lambda _: True), Text(must_include=("done",)), count=MAIN),
    )
    assert (budget.status, budget.reason) == (
        "error",
        "The agent of call 2 is not recorded; the verdict depends on it.",
    )
    assert (code.status, text.status) == ("pass", "pass")


def test_a_limit_of_no_tool_is_refused() -> None:
    """A budget that limits nothing would pass whatever is done (G27)."""
    with pytest.raises(TestSetError, match=r"max_calls_per_tool: expected a number, or a mapping with at least one"):
        compiled(Budget(max_calls_per_tool={}))


def test_an_agent_whose_calls_do_not_count_is_not_taken_for_misspelt() -> None:
    """Its name is as it is recorded; only what it did is of a kind that does not count."""
    verdict = judge(Budget(max_calls=0, agent="main"), [call("a", agent="main", kind="output")])
    assert verdict.reason == "There is no call of the agent `main` to judge."
