"""Hypothesis strategies for JSON values.

Floats stay below 2^53: beyond it ECMAScript's shortest digits of a float are not its exact integer value.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 0.0, 1.0, -0.0, 0.5, 1e-7, 2**53, 2**53 + 1, 10**30]),
    st.integers(),
    st.floats(-(2.0**53), 2.0**53),
    st.sampled_from(["", "0", "1", "true", "null", "a", "\ud83d", "caf\u00e9"]),
    st.text(max_size=8),
)


def json_values() -> st.SearchStrategy[Any]:
    """Any JSON value, often with the members that are easily confused: 0, 1, booleans and their texts."""
    return st.recursive(SCALARS, _containers, max_leaves=8)


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=4) | st.dictionaries(keys(), inner, max_size=4)


def keys() -> st.SearchStrategy[str]:
    """Keys of objects, array indices among them."""
    return st.sampled_from(["a", "b", "0", "1", "10", "4294967295", "x y", ""]) | st.text(max_size=3)
