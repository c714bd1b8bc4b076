"""The rules of the documentation: each has its number once, and a test that cites it."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RULES = (ROOT / "docs" / "semantics.md").read_text("utf-8")
NUMBERS = [f"G{number}" for number in range(1, 43)]
COMING = {"G40": "surfaces that know two statuses"}
"""Rules whose subject is not built yet, so that no test can hold them."""


def numbers_in(text: str) -> set[str]:
    """The rules that a text cites, one by one or as in `G17 to G19`."""
    ranges = [(int(first), int(last)) for first, last in re.findall(r"\bG(\d+) to G(\d+)\b", text)]
    between = {f"G{number}" for first, last in ranges for number in range(first, last + 1)}
    return between | set(re.findall(r"\bG\d+\b", text))


@functools.cache
def cited() -> set[str]:
    """The rules that any test but this one cites."""
    files = [path for path in (ROOT / "tests").rglob("*.py") if path.name != Path(__file__).name]
    return {number for path in files for number in numbers_in(path.read_text("utf-8"))}


def test_every_rule_has_its_heading_once_and_in_order() -> None:
    """docs/semantics.md states G1 to G42, each once, in the order of their numbers."""
    assert re.findall(r"^### (G\d+) ", RULES, re.MULTILINE) == NUMBERS


def test_no_rule_is_cited_that_does_not_exist() -> None:
    """A number in a test or in the code is the number of a rule."""
    sources = [path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py")]
    in_code = {number for text in sources for number in numbers_in(text)}
    assert (cited() | in_code) - set(NUMBERS) == set()


@pytest.mark.parametrize("number", [number for number in NUMBERS if number not in COMING])
def test_every_rule_is_held_by_a_test(number: str) -> None:
    """At least one test cites the rule."""
    assert number in cited()


@pytest.mark.parametrize("number", COMING)
def test_a_rule_that_is_not_built_yet_says_so(number: str) -> None:
    """The page says of it that it is coming."""
    (text,) = re.findall(rf"^### {number} .*?\n(.*?)^##", RULES, re.MULTILINE | re.DOTALL)
    assert "coming" in text
