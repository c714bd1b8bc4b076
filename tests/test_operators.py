"""Value operators, row by row, and their pages (G7, G14, G15)."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

import rightcall
from rightcall import testsets
from rightcall.app.regex import compile_regex
from rightcall.app.schemas import compile_schema
from rightcall.assertions import KINDS
from rightcall.core.operators.registry import OPERATORS
from support.conformance import of_every_row, rows
from support.operators import accepts, verdict

ROWS = rows("operators")
MODES = rows("operator_modes")


@of_every_row(ROWS)
def test_operator(row: dict[str, Any]) -> None:
    """Each operator on values that it accepts, values that it does not, values of other types, and no value (G7)."""
    made = {"x": row["actual"]} if "actual" in row else {}
    assert row["accepts"] == (verdict({"x": row["expected"]}, made, "exact").status == "pass")


@of_every_row(ROWS)
def test_operator_in_an_array(row: dict[str, Any]) -> None:
    """Whatever stands around it, an operator accepts the same (G14)."""
    if "actual" in row and "$absent" not in row["expected"] and "$optional" not in row["expected"]:
        assert row["accepts"] == accepts([0, {"y": row["expected"]}], [0, {"y": row["actual"]}])


def test_every_operator_has_rows() -> None:
    """At least eight, some of which it accepts and some of which it does not."""
    found = Counter((row["id"].rpartition("-")[0], row["accepts"]) for row in ROWS)
    thin = [
        name
        for name, kind in OPERATORS.items()
        if not kind.uses_results  # these have rows of whole trajectories
        if not (found[name[1:], True] and found[name[1:], False]) or found[name[1:], True] + found[name[1:], False] < 8
    ]
    assert thin == []


@of_every_row(MODES)
def test_operators_under_each_argument_mode(row: dict[str, Any]) -> None:
    """Values inside an operator are compared as a value in its place would be (G15)."""
    accepted = []
    for mode in ("deep", "exact", "partial", "subset"):
        check = [{"tool": "f", "match": {"mode": mode, "args": row["arguments"]}}]
        calls = [{"name": "f", "arguments": row["actual"]}]
        (one,) = rightcall.grade({"tool_calls": calls}, {"tool_call_args": check})
        accepted += [mode] if one.status == "pass" else []
    assert row["accepted_in"] == accepted


DOCS = Path(__file__).parent.parent / "docs" / "operators"
SNIPPET = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_has_its_page(name: str) -> None:
    """Named after it, linked from the index, with an example in YAML and one that runs; and its docstring."""
    page = (DOCS / f"{name[1:]}.md").read_text("utf-8")
    assert page.startswith(f"# `{name}`: ")
    assert f"[`{name}`]({name[1:]}.md)" in (DOCS / "index.md").read_text("utf-8")
    assert "```python\n" in page
    assert OPERATORS[name].__doc__
    for snippet in SNIPPET.findall(page):
        assert name in snippet


def test_there_are_no_pages_of_other_operators() -> None:
    """What is gone is gone from the documentation."""
    assert {f"${page.stem}" for page in DOCS.glob("*.md")} == {*OPERATORS, "$index"}


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.stem)
def test_the_snippets_of_the_pages_are_valid(page: Path) -> None:
    """Each reads, compiles, and satisfies the schema that editors use."""
    validator = Draft202012Validator(testsets.schema(KINDS))
    for snippet in SNIPPET.findall(page.read_text("utf-8")):
        is_whole = snippet.startswith("expected")
        calls = snippet if is_whole else f"expected_tool_calls:\n- name: f\n  {_indented(snippet)}"
        text = f"tests:\n- {_indented(calls)}"
        test_set = testsets.read(text.encode(), KINDS, file="page.yaml")
        testsets.compile_tests(test_set, compile_regex, compile_schema)
        plain = YAML(typ="safe", pure=True).load(text.replace("2026-11-30}", "'2026-11-30'}"))
        assert list(validator.iter_errors(plain)) == []


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
