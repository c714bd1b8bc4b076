"""Each page of a format answers the same seven questions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from rightcall import traces

PAGES: Final = Path(__file__).parent.parent / "docs" / "traces"
QUESTIONS: Final = (
    "failed attempts?",
    "deferred or refused calls?",
    "nested agents?",
    "provider-side tools?",
    "order of parallel calls?",
    "duplicates?",
    "truncated or redacted arguments?",
)
_ROW: Final = re.compile(r"^\| ([^|]+\?) \| (.+) \|$", re.MULTILINE)


def answers(name: str) -> dict[str, str]:
    return dict(_ROW.findall((PAGES / f"{name}.md").read_text("utf-8")))


def test_every_format_has_its_page() -> None:
    """And the overview links it."""
    overview = (PAGES / "README.md").read_text("utf-8")
    missing = [name for name in traces.FORMATS if not (PAGES / f"{name}.md").is_file()]
    assert (missing, [name for name in traces.FORMATS if f"({name}.md)" not in overview]) == ([], [])


@pytest.mark.parametrize("name", traces.FORMATS)
def test_a_page_answers_the_same_questions_in_order(name: str) -> None:
    """Under the same words, each with an answer."""
    found = answers(name)
    assert tuple(found) == QUESTIONS
    assert [question for question, answer in found.items() if not answer.strip()] == []
