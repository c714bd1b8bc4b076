"""The short way of reading expectations gives the very test that the long way gives."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rightcall.assertions import KINDS
from rightcall.errors import TestSetError, Where
from rightcall.testsets import Test, embedded, from_keys
from rightcall.testsets.simple import simple
from support.json_values import json_values

names = st.sampled_from(["a", "b", "", "$name"])
arguments = st.dictionaries(st.sampled_from(["x", "y", "$gt", "$literal"]), json_values(), max_size=3)
calls = st.one_of(
    names,
    st.builds(lambda name: {"name": name}, names),
    st.builds(lambda name, given: {"name": name, "arguments": given}, names, arguments | json_values()),
    st.builds(lambda name: {"name": name, "ignore_arguments": ["x"]}, names),
    json_values(),
)
expectations = st.fixed_dictionaries(
    {"expected_tool_calls": st.lists(calls, max_size=3)},
    optional={
        "match": st.sampled_from(["exact", "in_order", "in-order", None, ["exact"], {}]),
        "arguments": st.sampled_from(["partial", "deep", "regex", 5, []]),
        "allowed_tools": st.just(["a"]),
        "prompt": json_values() | st.just({"content": "My order is late."}),
    },
)


def bare(test: Test) -> Test:
    """The test without what says where it stands."""
    return replace(test, id="one", positional=False, places=(), where=Where())


@given(expectations)
def test_the_short_way_agrees_with_the_long_one(given_keys: dict[str, Any]) -> None:
    """What the short way takes, the long one takes too, and both mean the same."""
    short = simple(given_keys, "one", Where())
    if short is not None:
        assert bare(short) == bare(from_keys(given_keys, KINDS))


def test_the_short_way_takes_what_most_records_hold() -> None:
    """Names, and names with plain arguments, under any mode."""
    keys = {
        "expected_tool_calls": ["a", {"name": "b"}, {"name": "c", "arguments": {"x": [{"y": 1}]}}],
        "match": "exact",
    }
    short = simple(keys, "one", Where())
    assert short is not None
    assert bare(short) == bare(embedded(keys, KINDS))


@given(expectations)
def test_what_the_long_way_refuses_is_never_taken(given_keys: dict[str, Any]) -> None:
    """A mistake is told, whichever way it would have gone."""
    try:
        from_keys(given_keys, KINDS)
    except TestSetError:
        assert simple(given_keys, "one", Where()) is None
