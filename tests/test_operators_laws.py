"""Laws of the value operators (G14, G15), against brute force where there is an algorithm (G18)."""

from __future__ import annotations

import itertools
import json
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall import match
from rightcall.core import jsontext
from rightcall.core.operators import MAX_NESTED, Operator, written
from rightcall.core.operators.presence import TypeName
from rightcall.core.values import equal
from rightcall.errors import TestSetError
from rightcall.testsets.operators import native
from support.json_values import json_values
from support.operators import verdict

numbers = st.integers(-3, 3) | st.sampled_from([0.5, 1.0, -0.0, 2**53 + 1, float(2**53)])
small = st.sampled_from([0, 1, 2, True, None, "a", "b", 1.0]) | st.lists(st.integers(0, 2), max_size=2)
leaves = st.one_of(
    small,
    st.just(match.any_()),
    st.sampled_from(get_args(TypeName)).map(lambda name: match.type_(name)),
    numbers.map(match.gt),
    numbers.map(match.gte),
    numbers.map(match.lt),
    numbers.map(match.lte),
    st.sampled_from(["a", "", "^b$"]).map(match.regex),
    st.integers(0, 2).map(match.length),
)


def _around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        inner.map(match.not_),
        inner.map(match.contains),
        several.map(match.one_of),
        several.map(match.all_),
        several.map(match.unordered),
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["a", "b"]), inner | inner.map(match.optional), max_size=2),
    )


expected_values = st.recursive(leaves, _around, max_leaves=5)


def accepts(expected: Any, actual: Any) -> bool:
    """Whether an expected value accepts an actual one, wherever in the arguments it stands."""
    return verdict({"x": expected}, {"x": actual}, "exact").status == "pass"


@given(expected_values, small)
def test_not_is_the_strict_complement(expected: Any, actual: Any) -> None:
    """Of a value that is there, exactly one of an expectation and its negation holds; twice negated is once (G14)."""
    once, twice = match.not_(expected), match.not_(match.not_(expected))
    assert accepts(once, actual) is not accepts(expected, actual)
    assert accepts(twice, actual) is accepts(expected, actual)


@given(st.lists(expected_values, min_size=1, max_size=3), small, st.randoms(use_true_random=False))
def test_all_and_one_of_are_and_and_or(values: list[Any], actual: Any, random: Any) -> None:
    """They say what all and any of their values say, in whatever order these stand."""
    each = [accepts(value, actual) for value in values]
    random.shuffle(values)
    assert accepts(match.all_(values), actual) is all(each)
    assert accepts(match.one_of(values), actual) is any(each)


rivals = st.sampled_from([0, 1, 2, match.any_(), match.gt(0), match.gt(1), match.lt(2), match.one_of([0, 2])])


@given(st.lists(rivals, max_size=4), st.lists(st.integers(0, 2), max_size=4), st.randoms(use_true_random=False))
def test_unordered_is_a_perfect_matching(expected: list[Any], actual: list[Any], random: Any) -> None:
    """As brute force over all orders finds it, and whatever the order of either side."""
    paired = len(expected) == len(actual) and any(
        all(accepts(value, item) for value, item in zip(order, actual, strict=True))
        for order in itertools.permutations(expected)
    )
    assert accepts(match.unordered(expected), actual) is paired
    random.shuffle(expected)
    random.shuffle(actual)
    assert accepts(match.unordered(expected), actual) is paired


@given(json_values(), json_values())
def test_operators_of_data_are_plain_equality(expected: Any, actual: Any) -> None:
    """`one_of`, `all`, `not not`, `optional` and `contains` of one piece of data decide as equality does (G7)."""
    same = equal(expected, actual)
    assert accepts(match.one_of([expected]), actual) is same
    assert accepts(match.all_([expected]), actual) is same
    assert accepts(match.optional(expected), actual) is same
    assert accepts(match.contains(expected), [actual]) is same
    assert accepts(match.unordered([expected]), [actual]) is same
    assert accepts(match.not_(expected), actual) is not same


@given(json_values(), json_values())
def test_literal_writes_any_data(expected: Any, actual: Any) -> None:
    """Data in `$literal` is compared as data, whatever its keys look like."""
    assert accepts({"$literal": {"$not": expected}}, {"$not": actual}) is equal(expected, actual)


@given(expected_values)
def test_what_is_written_reads_back_the_same(expected: Any) -> None:
    """An expected value as reports show it is how a file writes it (G4)."""
    again = native({"x": written(expected)}, "")["x"]
    assert _form(again) == _form(expected)


def _form(value: Any) -> Any:
    return msgspec.json.encode(written(value))


@given(expected_values, small)
def test_double_equals_decides_as_a_test_does(expected: Any, actual: Any) -> None:
    """A match object in a plain `assert` accepts what it accepts in an expectation (G14)."""
    if isinstance(expected, Operator):
        assert (actual == expected) is accepts(expected, actual)


@given(
    st.dictionaries(st.sampled_from("abc"), expected_values, max_size=3),
    st.dictionaries(st.sampled_from("abcd"), small),
)
def test_argument_modes_keep_their_laws(expected: dict[str, Any], actual: dict[str, Any]) -> None:
    """What `exact` takes `partial` and `ignore` take, with operators at any depth below the arguments (G15)."""
    assert verdict(expected, actual, "exact").status != "pass" or verdict(expected, actual).status == "pass"
    assert verdict(expected, actual, "ignore").status == "pass"


@given(
    st.dictionaries(st.sampled_from("abc"), expected_values, max_size=3)
    | expected_values.map(lambda value: match.not_(value)),
    json_values(),
    st.sampled_from(["partial", "exact", "deep"]),
)
def test_a_verdict_is_whole_and_can_be_written(expected: Any, actual: Any, mode: str) -> None:
    """It fails exactly with a finding, whose words say both sides, and reports can hold all of it as JSON (G4)."""
    one = verdict(expected, {"a": actual} if mode == "exact" else actual, mode)
    assert (one.status == "fail") is bool(one.findings)
    for finding in one.findings:
        assert finding.message.startswith("Expected f ")
        assert finding.message.count("; call 1 had ") == 1
    record = json.loads(jsontext.encode(one.record()))
    assert record["reason"] == one.reason


def test_operators_nest_to_a_limit() -> None:
    """So many inside one another are compiled, one more is refused, and thousands too (G8)."""
    value: Any = match.any_()
    for _ in range(MAX_NESTED):
        value = match.not_(value)
    assert accepts(value, 1)
    for more in (1, 5000):
        for _ in range(more):
            value = match.not_(value)
        with pytest.raises(TestSetError, match="deeper inside one another than the limit of 32"):
            accepts(value, 1)


def test_containers_nest_to_a_limit() -> None:
    """What a file may hold is compiled, however deep the operator; what only Python can make is refused (G8)."""
    value: Any = match.gt(1)
    actual: Any = 2
    for _ in range(190):
        value, actual = {"a": value}, {"a": actual}
    assert accepts(value, actual)
    for _ in range(5000):
        value = [value]
    with pytest.raises(TestSetError, match="nested too deeply"):
        accepts(match.not_(value), actual)
