"""Changelog fragments can be put together at a release."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "changelog.d"
TYPES = ("added", "changed", "fixed", "removed", "verdicts")
FRAGMENTS = sorted(path for path in FOLDER.iterdir() if path.name != "README.md")


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.name)
def test_a_fragment_is_named_by_its_type_and_speaks_to_users(path: Path) -> None:
    """The name ends in a known type; the text is one paragraph that ends as a sentence does."""
    assert re.fullmatch(rf"[a-z0-9-]+\.({'|'.join(TYPES)})\.md", path.name)
    text = path.read_text("utf-8")
    assert re.fullmatch(r"[^#\-*\s][^\n]*[.!]\n", text)


def test_the_types_are_explained() -> None:
    """Each type stands in the folder's README."""
    readme = (FOLDER / "README.md").read_text("utf-8")
    assert [name for name in TYPES if f"`{name}`" not in readme] == []
