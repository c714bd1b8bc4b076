"""The search: what can pass is found, contradictions that are planted are found, and it ends whatever it is given."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.app.regex import compile_regex
from rightcall.assertions import KINDS
from rightcall.core.assertion import grade
from rightcall.core.results import Outcome, attempt_outcome
from rightcall.testsets import compile_test, from_keys
from rightcall.testsets.linting import Level
from support.grading import call, trajectory
from support.linting import codes, of_test

NAMES = st.sampled_from("abc")
ARGUMENTS = st.none() | st.dictionaries(st.sampled_from("kl"), st.sampled_from([1, 2, "x"]), max_size=2)


@st.composite
def expected_calls(draw: st.DrawFn, size: int = 3) -> list[dict[str, Any]]:
    """Expected calls of few tools, with few arguments or any."""
    calls = draw(st.lists(st.tuples(NAMES, ARGUMENTS), min_size=1, max_size=size))
    return [{"name": name} if keys is None else {"name": name, "arguments": keys} for name, keys in calls]


@given(expected_calls(), st.sampled_from(["exact", "in_order", "any_order", "superset"]))
def test_a_contradiction_that_is_planted_is_found(expected: list[dict[str, Any]], mode: str) -> None:
    """Forbidding a needed tool, or not allowing it, is always an error."""
    tool = expected[-1]["name"]
    keys = {"match": mode, "expected_tool_calls": expected}

    for ban in ({"forbidden_tools": [tool]}, {"allowed_tools": ["other"]}):
        assert "contradiction" in codes(of_test(**keys, **ban), Level.ERROR)


@given(expected_calls(), st.lists(NAMES, min_size=1, max_size=3), st.sampled_from(["exact", "any_order"]))
def test_what_is_said_of_exact_calls_is_what_a_brute_force_finds(
    expected: list[dict[str, Any]], steps: list[str], mode: str
) -> None:
    """With exact calls and steps the answer is proven either way: it is that of trying everything."""
    keys = {
        "match": mode,
        "expected_tool_calls": expected,
        "expected_tool_sequence": [{"tool": tool} for tool in steps],
    }
    test = compile_test(from_keys(keys, KINDS), compile_regex)
    arguments = [{}, *(each["arguments"] for each in expected if "arguments" in each)]
    choices = [call(name, each) for name in "abc" for each in arguments]
    can_pass = any(
        attempt_outcome(grade(trajectory(*made), test.assertions)) == Outcome.PASS
        for made in product(choices, repeat=len(expected))
    )

    found = [remark for remark in of_test(**keys) if remark.code in ("contradiction", "never-passes")]

    assert (not found) is can_pass
    assert all(remark.level is Level.ERROR for remark in found)


@given(expected_calls(), st.sampled_from(["exact", "in_order", "any_order", "subset", "superset"]))
def test_expected_calls_alone_are_never_called_wrong(expected: list[dict[str, Any]], mode: str) -> None:
    """A list of calls can always be made, and can always be missed."""
    assert codes(of_test(match=mode, expected_tool_calls=expected)) == []


@pytest.mark.parametrize(
    "operator",
    [
        {"$regex": "^ORD-[0-9]+$"},
        {"$regex": "(late|damaged)"},
        {"$date": {"after": "2026-01-01"}},
        {"$date": {"after": "2026-01-01", "before": "2027-01-01"}},
        {"$length": {"min": 2, "max": 3}},
        {"$contains": {"k": 1}},
        {"$unordered": [1, {"$gt": 5}]},
        {"$text": {"value": "A", "ignore_case": True}},
        {"$not": {"$one_of": [1, 2]}},
        {"$schema": {"type": "integer", "minimum": 1}},
        {"$starts_with": "a", "$ends_with": "b"},
        {"$optional": {"$type": "null"}},
        {"$absent": True},
        {"$approx": {"value": 0.3, "abs": 0.1}},
    ],
)
def test_values_are_found_for_operators(operator: dict[str, Any]) -> None:
    """A call with an operator can be made up, so that nothing is left undecided."""
    found = of_test(expected_tool_calls=[{"name": "a", "arguments": {"k": operator}}])

    assert [remark.code for remark in found] in ([], ["undecided"]) if "$starts_with" in operator else found == []


@pytest.mark.parametrize(
    "operator",
    [
        {"$all": [5, {"$not": 5}]},
        {"$one_of": [1, 2], "$gt": 2},
        {"$one_of": ["a"], "$regex": "b"},
        {"$all": [{"$type": "string"}, {"$type": "array"}]},
        {"$type": "integer", "$gt": 1, "$lt": 2},
        {"$approx": {"value": 1, "abs": 0}, "$gt": 1},
        {"$all": [{"$length": 2}, {"$length": {"min": 3}}]},
        {"$not": {"$any": True}},
        {"$one_of": [{"$gt": 2, "$lt": 1}]},
        {"$gt": 1e308, "$lt": -(10**400)},
    ],
)
def test_operators_that_no_value_meets_are_proven(operator: dict[str, Any]) -> None:
    """Literals beside conditions, types without one in common, and bounds with nothing between."""
    found = of_test(expected_tool_calls=[{"name": "a", "arguments": {"k": [{"l": operator}]}}])

    assert [(remark.code, remark.level) for remark in found] == [("impossible-value", Level.ERROR)]


def test_a_choice_under_a_budget_can_be_met() -> None:
    """A trajectory that takes one of two choices and so stays within the budget is found."""
    steps = [
        {"one_of": [{"tool": "a"}, {"tool": "b"}]},
        {"any_order": [{"tool": "c"}, {"tool": "d"}, {"tool": "e"}]},
        {"repeat": {"step": {"tool": "f"}, "min": 2}},
    ]
    budget = {"max_calls": 6, "max_repeats": 1, "max_calls_per_tool": {"f": 2}}

    assert codes(of_test(expected_tool_sequence=steps, budget=budget)) == []


HOSTILE: list[dict[str, Any]] = [
    {"expected_tool_calls": [{"name": f"t{index}", "arguments": {"k": index}} for index in range(300)]},
    {"required_tools": [f"t{index}" for index in range(1000)]},
    {"allowed_tools": [f"t{index}" for index in range(5000)], "required_tools": ["t1"]},
    {"match": "any_order", "expected_tool_calls": ["a"] * 500},
    {"budget": {"max_calls": 100_000}},
    {"budget": {"max_calls": 3000, "max_repeats": 2}},
    {"tool_call_args": [{"tool": "a", "call_index": 10**6, "match": {"mode": "ignore"}}]},
    {"expected_tool_sequence": [{"repeat": {"step": {"tool": "a"}, "min": 50}}]},
    {"expected_tool_sequence": [{"repeat": {"step": {"tool": "a"}, "min": 0}}, {"tool": "b"}]},
    {"rules": [{"existence": {"tool": "a", "n": 70}}, {"response": ["a", "b"]}, {"absence": "c"}]},
    {"expected_tool_calls": [{"name": "a"}, {"name": "b", "arguments": {"k": {"$from": "a.result.id"}}}]},
    {"tool_call_args": [{"tool": "a", "match": {"mode": "regex", "pattern": "(x+x+)+y"}}]},
    {"expected_tool_calls": [{"name": "a", "arguments": {"k": {"$length": 10**9}}}]},
    {"expected_tool_calls": [{"name": "", "arguments": {"": {"$not": {"$not": {"$not": ""}}}}}]},
]


@pytest.mark.parametrize("keys", HOSTILE, ids=lambda keys: "-".join(keys))
def test_large_and_odd_expectations_come_to_an_end(keys: dict[str, Any]) -> None:
    """Whatever is expected, the search is limited, and calls nothing wrong that is not."""
    found = of_test(**keys)

    assert [remark.message for remark in found if remark.level is Level.ERROR] == []


@pytest.mark.parametrize(
    "rules",
    [
        [{"init": "a"}, {"init": "b"}],
        [{"existence": "a"}, {"absence": "a"}],
        [{"exactly": {"tool": "a", "n": 3}}, {"absence": {"tool": "a", "n": 2}}],
        [{"existence": "a"}, {"existence": "b"}, {"not_co_existence": ["a", "b"]}],
    ],
)
def test_rules_that_contradict_one_another_are_found(rules: list[dict[str, Any]]) -> None:
    """Nothing passes them together; since more calls could always be made, this is found and not proven."""
    found = [remark for remark in of_test(rules=rules) if remark.level is not Level.NOTE]

    assert [(remark.code, remark.level) for remark in found] == [("never-passes", Level.WARNING)]


@pytest.mark.parametrize(
    "rules",
    [
        [{"init": "a"}, {"end": "b"}, {"succession": ["a", "b"]}, {"absence": "c"}],
        [{"exactly": {"tool": "a", "n": 3}}, {"chain_response": ["a", "b"]}],
        [{"exclusive_choice": ["a", "b"]}, {"existence": "b"}],
        [{"alternate_precedence": ["a", "b"]}, {"existence": {"tool": "b", "n": 2}}],
    ],
)
def test_rules_that_can_be_met_together_are_not_called_wrong(rules: list[dict[str, Any]]) -> None:
    """A trajectory that passes all of them is found, and one that fails each."""
    assert codes(of_test(rules=rules)) == []


@pytest.mark.parametrize(
    "keys",
    [
        {"expected_tool_calls": [], "only_successful": True, "required_tools": ["a"]},
        {
            "match": "exact",
            "expected_tool_calls": ["a", "b"],
            "assertions": [{"kind": "trajectory", "expected_tool_calls": [], "only_successful": True}],
        },
        {
            "match": "exact",
            "expected_tool_calls": ["a", "b"],
            "assertions": [
                {"kind": "trajectory", "expected_tool_calls": ["b", "a"], "match": "in_order", "parallel": "unordered"}
            ],
        },
        {"required_tools": ["a"], "allowed_tools": ["b"], "min_assertion_rate": "1/2"},
    ],
)
def test_nothing_is_called_proven_that_more_than_names_could_settle(keys: dict[str, Any]) -> None:
    """Failed calls, calls of one message and rates over assertions leave ways that names alone do not show."""
    found = [code for code in codes(of_test(**keys)) if code != "contradiction"]

    assert found == []
    assert codes(of_test(**keys), Level.ERROR) == []
