"""What several good runs share: values, steps, and the laws that hold of both."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rightcall.core.calls import ToolCall
from rightcall.errors import TestSetError
from rightcall.testsets.promotion.common import common
from rightcall.testsets.promotion.ordering import MOST_ITEMS
from support.json_values import json_values
from support.promoting import calls, drafted, learned, passes, run, steps_in_words

ANY_STRING = {"$type": "string"}
ANY_INTEGER = {"$type": "integer"}


@pytest.mark.parametrize(
    ("values", "form"),
    [
        ([42, 42], 42),
        ([5, 5.0], 5),
        ([True, 1], {"$one_of": [{"$type": "boolean"}, ANY_INTEGER]}),
        ([41, 42], ANY_INTEGER),
        ([1, 2.0], ANY_INTEGER),
        ([1, 2.5], {"$type": "number"}),
        (["a", "b"], ANY_STRING),
        (["a", None], {"$one_of": [ANY_STRING, None]}),
        ([True, False], {"$type": "boolean"}),
        ([{"a": 1}, {"a": 1, "b": 2}], {"a": 1, "b": {"$optional": 2}}),
        ([{"a": {"b": 1}}, {"a": {"b": 2}}], {"a": {"b": ANY_INTEGER}}),
        ([{}, {"a": 1}], {"a": {"$optional": 1}}),
        ([[1, 2], [1, 3]], [1, ANY_INTEGER]),
        ([[1], [1, 2]], {"$type": "array"}),
        ([[], []], []),
        ([{"a": 1}, 5], {"$one_of": [{"$type": "object"}, ANY_INTEGER]}),
        ([{"$gt": 1}, {"$gt": 1}], {"$literal": {"$gt": 1}}),
        ([{"$gt": 1}, {"$gt": 2}], {"$type": "object"}),
        ([{"q": {"$gt": 1}}, {"q": {"$gt": 1}, "r": 1}], {"q": {"$literal": {"$gt": 1}}, "r": {"$optional": 1}}),
        (["EUR", "USD"] * 3, {"$one_of": ["EUR", "USD"]}),
        (["EUR", "USD"] * 2, ANY_STRING),
        (["EUR"] * 5 + ["USD"] * 2, ANY_STRING),
        (list("abcde") * 3, ANY_STRING),
        ([None, "a"] * 3, {"$one_of": [None, "a"]}),
    ],
)
def test_what_values_share_is_no_more_than_was_seen(values: list[Any], form: Any) -> None:
    """A constant is itself, what varied keeps its type, and few values are all only if each was seen three times."""
    found = common(values).form
    assert (form, repr(form)) == (found, repr(found))


def test_what_varied_is_told_with_its_place() -> None:
    """Each generalisation says where it is, and what was seen there."""
    found = common([{"a": {"b": 1}, "c": 1}, {"a": {"b": 2}}])
    assert found.reasons == ("a.b had 2 values in 2 calls: integer", "c was there 1 of 2 times")


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        (["a b", "a"], "a b?"),
        (["b", "a b"], "a? b"),
        (["a b c", "b a c"], "{a b} c"),
        (["a b c d", "b a d c"], "{a b} {c d}"),
        (["a b c", "c a b"], "{a b c}"),
        (["a b", "a c"], "a (b | c)"),
        (["a b", "a c", "a"], "a (b | c)?"),
        (["a b c", "a"], "a (b c)?"),
        (["a r w z", "a q z"], "a ((r w) | q) z"),
        (["s a", "s s s a"], "s+1..3 a"),
        (["a", "s s a"], "(s s)? a"),
        (["a", "s s a", "s a"], "s+1..2? a"),
        (["", "a"], "a?"),
        (["s:1 a", "s:1 s:2 s:3 a"], "s:1 (s:2 s:3)? a"),
        (["r w", "r w r w"], "r w (r w)?"),
        (["a b", "b a", "c"], "({a b} | c)"),
        (["a b", "b a c"], "{a b} c?"),
        (["a b c", "b a"], "{a b} c?"),
        (["a b", "b a", "a c"], "{a b?} c?"),
    ],
)
def test_runs_that_differ_are_a_strict_sequence_of_steps(runs: list[str], words: str) -> None:
    """What changed places is in any order, what some run lacks is optional, what was repeated is repeated."""
    made = learned(*runs)
    sequence = made.keys["expected_tool_sequence"]
    assert sequence["strict"] is True
    assert words == steps_in_words(sequence["steps"])
    assert all(passes(made, run(*calls(names))) for names in runs)


def test_runs_of_the_same_tools_are_a_list_of_expected_calls() -> None:
    """What varied in the arguments of a call has an operator, all else is literal; nothing else may be called."""
    made = learned("a:1 b", "a:2 b")
    expected = [{"name": "a", "arguments": {"x": ANY_STRING}}, {"name": "b", "arguments": {}}]
    settings = {"match": "exact", "arguments": "exact"}
    assert made.keys == {"id": "a", "expected_tool_calls": expected, **settings}
    assert made.notes[0] == "learned from 2 runs"
    assert "`a`: x had 2 values in 2 calls: string" in made.notes


def test_what_was_generalised_is_told() -> None:
    """Each step that is no single call has a sentence that says why."""
    assert [note for note in learned("a b c:1", "b a d d c:2", "b a c:1").notes if "prompt" not in note] == [
        "learned from 3 runs",
        "`a` and `b` changed places: any order",
        "`d` was made in 1 of 3 runs: optional",
        "`c`: x had 2 values in 3 calls: string",
    ]


def test_arguments_that_are_not_known_in_one_run_may_be_anything() -> None:
    """A call whose arguments one trace does not show is expected by its name alone, and that is told (G11)."""
    hidden = ToolCall(name="a", arguments=None, arguments_state="redacted")
    made = drafted(run(*calls("a:1")), run(hidden))
    assert made.keys["expected_tool_calls"] == ["a"]
    assert "`a`: its arguments were redacted, so any are accepted" in made.notes


def test_a_value_that_may_be_made_anew_in_each_run_is_told() -> None:
    """One run cannot tell whether a UUID is the user's or made up; several can, and then nothing is told."""
    one = run(ToolCall(name="a", arguments={"to": {"id": "9f0c1b9e-5f5e-4a6b-8f0e-0a1b2c3d4e5f"}}))
    told = "`a`: to.id is a UUID: if each run makes a new one, expect its type, {$type: string}"
    assert told in drafted(one).notes
    assert told not in drafted(one, one).notes


def test_more_calls_than_can_be_put_in_order_are_refused() -> None:
    """Runs of very many calls that differ are refused with their number; runs that are alike are not."""
    many = " ".join(f"t{number}" for number in range(MOST_ITEMS + 1))
    with pytest.raises(TestSetError, match="more than the 1,000 that can be put in order"):
        learned(many, "t0")
    assert len(learned(many, many).keys["expected_tool_calls"]) == MOST_ITEMS + 1


TOOLS = st.sampled_from("abc")
ARGUMENTS = st.dictionaries(st.sampled_from(["x", "y", "$z"]), json_values(), max_size=2) | json_values()
CALLS = st.builds(lambda name, arguments: ToolCall(name=name, arguments=arguments), TOOLS, ARGUMENTS)
RUNS = st.lists(st.lists(CALLS, max_size=6).map(lambda made: run(*made)), min_size=1, max_size=5)


@given(RUNS, st.sampled_from(["exact", "partial", "deep", "ignore"]))
@example([run(*calls("a b c")), run(*calls("c a")), run(*calls("b b"))], "exact")
def test_every_run_passes_what_was_learned_from_it(runs: list[Any], arguments: str) -> None:
    """Whatever the runs, each of them passes, under every argument mode."""
    made = drafted(*runs, arguments=arguments)
    assert [True] * len(runs) == [passes(made, one) for one in runs]


@given(RUNS, st.integers(0, 6))
def test_a_tool_that_was_never_seen_fails_what_was_learned(runs: list[Any], at: int) -> None:
    """A call of another tool, wherever it stands, fails the test."""
    made = drafted(*runs)
    before = runs[0].trajectory.tool_calls
    assert not passes(made, run(*before[:at], ToolCall(name="never"), *before[at:]))


@given(st.permutations("abcd"), st.integers(0, 3))
def test_a_call_that_every_run_made_is_needed(order: list[str], gone: int) -> None:
    """A run that lacks one of the calls of all runs fails, also where calls changed places."""
    made = learned("a b c d", " ".join(order))
    assert not passes(made, run(*calls(" ".join(order[:gone] + order[gone + 1 :]))))


@given(st.lists(st.text("ab", max_size=4).map(" ".join), min_size=2, max_size=4))
def test_no_tool_is_called_more_often_than_in_some_run(runs: list[str]) -> None:
    """One more call of a tool than any run made of it fails."""
    made = learned(*runs)
    most = max(runs, key=lambda names: names.count("a"))
    assert not passes(made, run(*calls(f"{most} a")))
    assert not passes(made, run(*calls(f"a {most}")))
