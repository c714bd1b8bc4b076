"""Value operators, row by row (G7, G14, G15)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import rightcall
from rightcall.core.operators import OPERATORS
from support.conformance import params, rows
from support.operators import accepts, verdict

ROWS = rows("operators")
MODES = rows("operator_modes")


@pytest.mark.parametrize("row", params(ROWS))
def test_operator(row: dict[str, Any]) -> None:
    """Each operator on values that it accepts, values that it does not, values of other types, and no value (G7)."""
    made = {"x": row["actual"]} if "actual" in row else {}
    assert row["accepts"] == (verdict({"x": row["expected"]}, made, "exact").status == "pass")


@pytest.mark.parametrize("row", params(ROWS))
def test_operator_in_an_array(row: dict[str, Any]) -> None:
    """Whatever stands around it, an operator accepts the same (G14)."""
    if "actual" in row and "$absent" not in row["expected"] and "$optional" not in row["expected"]:
        assert row["accepts"] == accepts([0, {"y": row["expected"]}], [0, {"y": row["actual"]}])


def test_every_operator_has_rows() -> None:
    """At least eight, some of which it accepts and some of which it does not."""
    found = Counter((row["id"].rpartition("-")[0], row["accepts"]) for row in ROWS)
    thin = [
        name
        for name in OPERATORS
        if not (found[name[1:], True] and found[name[1:], False]) or found[name[1:], True] + found[name[1:], False] < 8
    ]
    assert thin == []


@pytest.mark.parametrize("row", params(MODES))
def test_operators_under_each_argument_mode(row: dict[str, Any]) -> None:
    """Values inside an operator are compared as a value in its place would be (G15)."""
    accepted = []
    for mode in ("deep", "exact", "partial", "subset"):
        check = [{"tool": "f", "match": {"mode": mode, "args": row["arguments"]}}]
        calls = [{"name": "f", "arguments": row["actual"]}]
        (one,) = rightcall.grade({"tool_calls": calls}, {"tool_call_args": check})
        accepted += [mode] if one.status == "pass" else []
    assert row["accepted_in"] == accepted
