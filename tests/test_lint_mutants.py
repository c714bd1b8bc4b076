"""Mutants: strict expectations kill all of them, loose ones are shown what they let pass."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.app.mutating import Score, Tally
from rightcall.app.regex import compile_regex
from rightcall.assertions import KINDS
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.mutants import OPERATORS, Strangers, draw
from rightcall.core.values import equal
from rightcall.testsets import compile_test, from_keys
from support.grading import call, hidden, trajectory


def tally(keys: dict[str, Any], *made: Trajectory, most: int = 10_000) -> Tally:
    """The mutants of trajectories, tried on a test of these keys."""
    counted = Tally(compile_test(from_keys(keys, KINDS), compile_regex), most)
    for one in made:
        counted.add(one, "t.jsonl")
    return counted


def survivors(keys: dict[str, Any], *made: Trajectory) -> dict[str, int]:
    """How many mutants of each operator survive."""
    counts: dict[str, int] = {}
    for group in tally(keys, *made).told().survivors:
        counts[group.operator] = counts.get(group.operator, 0) + group.count
    return counts


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([0.5, 1e300]) | st.text("ab~", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=2),
    max_leaves=4,
)
CALLS = st.builds(call, st.sampled_from("ab"), st.dictionaries(st.sampled_from("kl"), VALUES, max_size=2))


@given(st.lists(CALLS, max_size=4))
def test_exact_expectations_kill_every_mutant(made: list[ToolCall]) -> None:
    """What is compared whole, call by call and argument by argument, lets no change pass, of any operator."""
    expected = [{"name": each.name, "arguments": each.arguments} for each in made]
    keys = {"match": "exact", "arguments": "exact", "expected_tool_calls": expected}

    counted = tally(keys, trajectory(*made))

    assert (counted.trajectories, counted.score.survived) == (1, 0)
    assert counted.score.killed > 0


@given(st.lists(CALLS, max_size=4))
def test_every_mutant_differs_from_what_it_was_made_of(made: list[ToolCall]) -> None:
    """No mutant has the same names and arguments in the same order as the trajectory."""
    before = [(each.name, each.arguments) for each in made]

    for mutant in draw(trajectory(*made), Strangers("other", "banned"), 10_000).mutants:
        after = [(each.name, each.arguments) for each in mutant.make()]
        same = len(before) == len(after) and all(
            one[0] == two[0] and equal(one[1], two[1]) for one, two in zip(before, after, strict=True)
        )
        assert not same, mutant.words


def test_every_operator_is_used() -> None:
    """Two calls with an argument have mutants of all operators."""
    made = trajectory(call("a", {"k": 1}), call("b", {"k": "x"}))

    drawn = draw(made, Strangers("other", "banned"), 10_000)

    assert {mutant.operator for mutant in drawn.mutants} == set(OPERATORS)
    assert (drawn.possible, drawn.is_sample) == (len(drawn.mutants), False)


A, B, C = call("a", {"k": 1}), call("b", {"k": "x", "deep": {"l": [True]}}), call("c")
EXPECTED = [{"name": "a", "arguments": {"k": 1}}, {"name": "b", "arguments": {"k": "x", "deep": {"l": [True]}}}]

LOOSE = [
    ("in_order", {"expected_tool_calls": EXPECTED}, {"duplicate-call": 2, "add-unknown-call": 3, "add-argument": 2}),
    (
        "any_order",
        {"match": "any_order", "arguments": "exact", "expected_tool_calls": EXPECTED},
        {"swap-calls": 1},
    ),
    (
        "subset",
        {"match": "subset", "arguments": "exact", "expected_tool_calls": EXPECTED},
        {"swap-calls": 1, "drop-call": 2, "no-calls": 1},
    ),
    (
        "ignored arguments",
        {"match": "exact", "arguments": "ignore", "expected_tool_calls": EXPECTED},
        {"change-argument": 3, "null-argument": 3, "remove-argument": 3, "add-argument": 2},
    ),
    (
        "a bare name",
        {"match": "exact", "arguments": "exact", "expected_tool_calls": [EXPECTED[0], "b"]},
        {"change-argument": 2, "null-argument": 2, "remove-argument": 2, "add-argument": 1},
    ),
    (
        "an allow-list",
        {"allowed_tools": ["a", "b"]},
        {"drop-call": 2, "no-calls": 1, "duplicate-call": 2, "swap-calls": 1}
        | {"change-argument": 3, "null-argument": 3, "remove-argument": 3, "add-argument": 2},
    ),
]


@pytest.mark.parametrize(("keys", "expected"), [case[1:] for case in LOOSE], ids=[case[0] for case in LOOSE])
def test_what_is_not_expected_survives(keys: dict[str, Any], expected: dict[str, int]) -> None:
    """Each way to be loose lets exactly those changes pass that it says nothing of."""
    assert survivors(keys, trajectory(A, B)) == expected


@pytest.mark.parametrize(
    ("keys", "operator", "why", "advice"),
    [
        ({"expected_tool_calls": ["a", "b"]}, "add-unknown-call", "allowed by `match: in_order`", "`match: exact`"),
        (
            {"match": "superset", "expected_tool_calls": ["a", "b"]},
            "swap-calls",
            "`match: superset`",
            "`match: in_order`",
        ),
        ({"match": "subset", "expected_tool_calls": ["a", "b"]}, "drop-call", "`match: subset`", "`required_tools`"),
        ({"expected_tool_calls": ["a"]}, "drop-call", "the call is not expected", "`expected_tool_calls`"),
        ({"expected_tool_calls": ["a"]}, "rename-tool", "the call is not expected", "`allowed_tools`"),
        ({"required_tools": ["a"]}, "swap-calls", "no order is expected", "`expected_tool_sequence`"),
        ({"required_tools": ["a"]}, "duplicate-call", "nothing limits", "`budget`"),
        ({"expected_tool_calls": ["a", "b"]}, "change-argument", "no expectation depends", "`arguments`"),
        ({"expected_tool_calls": ["a", "b"]}, "add-argument", "`arguments: partial`", "`arguments: exact`"),
    ],
)
def test_a_survivor_says_why_and_what_would_notice_it(
    keys: dict[str, Any], operator: str, why: str, advice: str
) -> None:
    """Where the test allows a change on purpose, the key that does is named."""
    (group,) = (one for one in tally(keys, trajectory(A, B)).told().survivors if one.operator == operator)

    assert why in group.why
    assert advice in group.advice


def test_changes_that_are_declared_to_be_no_different_are_counted_apart() -> None:
    """Ignored arguments, calls of one message in any order and calls that do not count are in neither number."""
    expected = [{"name": "a"}, {"name": "b"}]
    keys = {"match": "exact", "arguments": "exact", "expected_tool_calls": [{"name": "a", "arguments": {}}, "b"]}
    ignored = tally({**keys, "ignore_arguments": ["k"]}, trajectory(A, call("b")))
    parallel = {"match": "exact", "expected_tool_calls": expected, "parallel": "unordered"}
    together = tally(parallel, trajectory(call("a", message=1), call("b", message=1)))

    assert ignored.score.equivalent == 3
    assert "swap-calls" not in {group.operator for group in together.told().survivors}
    assert together.score.equivalent == 1


def test_each_assertion_has_a_score_of_its_own() -> None:
    """A test may kill what one of its assertions alone lets pass."""
    keys = {"expected_tool_calls": ["a"], "allowed_tools": ["a"]}

    told = tally(keys, trajectory(call("a"))).told()

    by_name = {name: (score.killed, score.mutants) for name, score in told.assertions.items()}
    assert (told.score.killed, told.score.mutants) == (5, 7)
    assert by_name == {"tool_call_trajectory": (3, 7), "no_unexpected_tool": (3, 7)}


def test_a_mutant_that_cannot_be_judged_is_killed_and_counted() -> None:
    """An error blocks as a failure does, so that it is no survivor; it is told apart."""
    keys = {"match": "any_order", "expected_tool_calls": [{"name": "a", "arguments": {"k": 1}}, "b"]}

    counted = tally(keys, trajectory(call("a", {"k": 1}), hidden("b")))

    assert counted.score.errors == 0
    keys = {"expected_tool_calls": [{"name": "a", "arguments": {"k": 1}}]}
    doubtful = tally(keys, trajectory(call("a", {"k": 1}), hidden("a")))
    assert doubtful.score.errors > 0
    assert doubtful.score.errors <= doubtful.score.killed


def test_a_trajectory_that_does_not_pass_has_no_mutants() -> None:
    """Nothing is learnt from changes to what is refused anyway."""
    counted = tally({"required_tools": ["a"]}, trajectory(C))

    assert (counted.not_passing, counted.trajectories, counted.score) == (1, 0, Score())


def test_scores_are_exact() -> None:
    """A score is a fraction of whole numbers, and there is none without mutants (G35)."""
    assert (Score(killed=2, survived=1).rate, Score(equivalent=3).rate) == (Fraction(2, 3), None)


def test_a_large_trajectory_is_sampled_the_same_each_time() -> None:
    """Of more mutants than the limit, some of every operator are tried, evenly, and it is said."""
    made = trajectory(*(call("ab"[index % 2], {"k": index, "l": {"m": "x"}}) for index in range(300)))

    first, second = (draw(made, Strangers(), 200) for _ in range(2))

    assert [mutant.words for mutant in first.mutants] == [mutant.words for mutant in second.mutants]
    assert {mutant.operator for mutant in first.mutants} == {*OPERATORS} - {"add-forbidden-call"}
    assert (first.is_sample, len(first.mutants) <= 210, first.possible > 2_000) == (True, True, True)


def test_a_huge_trajectory_has_few_mutants() -> None:
    """The work is limited by calls: of 20,000 calls, only as many mutants as fit are tried."""
    made = trajectory(*(call("a", {"k": 1}) for _ in range(20_000)))

    counted = tally({"allowed_tools": ["a"]}, made)

    assert counted.is_sample
    assert counted.score.mutants <= 260


@pytest.mark.parametrize(
    "odd",
    [
        hidden("a", "redacted"),
        hidden("a", "malformed", arguments_text="{"),
        call("", {"k": 1}),
        call("a", [1, {"k": None}]),
        call("a", "text"),
        call("\x1b[31m\ud800", {"\ud800": "\ud800", "a.b": {"": []}}),
        call("a", {"k": 10**400, "l": -0.0, "m": 1e308}),
    ],
)
def test_odd_calls_have_mutants_too(odd: ToolCall) -> None:
    """Whatever a call holds, it can be left out, doubled and renamed, and its words can be shown."""
    drawn = draw(trajectory(odd, A), Strangers(), 10_000)

    operators = {mutant.operator for mutant in drawn.mutants if mutant.at == 0}
    assert {"drop-call", "duplicate-call", "rename-tool"} <= operators
    assert all(mutant.words.isprintable() and mutant.make() is not None for mutant in drawn.mutants)


def test_calls_inside_others_stay_inside_them() -> None:
    """When calls move, what says inside which call one was made moves with them."""
    made = trajectory(call("a"), call("b"), call("c", parent=1))

    parents = {
        mutant.words: [each.parent for each in mutant.make()]
        for mutant in draw(made, Strangers("x"), 100).mutants
        if mutant.operator in ("drop-call", "duplicate-call", "add-unknown-call")
    }

    assert parents == {
        "call 1, `a`, left out": [None, 0],
        "call 2, `b`, left out": [None, None],
        "call 3, `c`, left out": [None, None],
        "call 1, `a`, made twice": [None, None, None, 2],
        "call 2, `b`, made twice": [None, None, None, 1],
        "call 3, `c`, made twice": [None, None, 1, 1],
        "a call of `x` added at the end": [None, None, 1, None],
        "a call of `x` added in the middle": [None, None, None, 2],
        "a call of `x` added at the start": [None, None, None, 2],
    }


@pytest.mark.parametrize(
    ("match", "messages", "why"),
    [
        ("in_order", (1, 1), "allowed by `parallel: unordered`"),
        ("in_order", (1, 2), "not both calls are expected"),
        ("superset", (1, 1), "allowed by `match: superset`"),
    ],
)
def test_only_calls_of_one_message_may_change_places_as_parallel_ones(
    match: str, messages: tuple[int, int], why: str
) -> None:
    """The reason for a swap that survives is the one that let it pass (G18)."""
    loose = {"kind": "trajectory", "expected_tool_calls": ["b"], "match": match, "parallel": "unordered"}
    made = trajectory(*(call(name, message=number) for name, number in zip("ab", messages, strict=True)))

    swapped = [one for one in tally({"assertions": [loose]}, made).told().survivors if one.operator == "swap-calls"]
    assert [one.why for one in swapped] == [why]
