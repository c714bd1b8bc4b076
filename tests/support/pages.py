"""The pages of the documentation: their headings, sections and links."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).parents[2]
DOCS: Final = PROJECT / "docs"
PAGES: Final = (*sorted(PROJECT.glob("*.md")), *sorted(DOCS.rglob("*.md")))
_HEADING: Final = re.compile(r"^(#+) (.+)$", re.MULTILINE)
_FENCE: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"\]\((?!https?:)([^)#\s]*)(#[^)\s]+)?\)")


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    plain = re.sub(r"[`*]", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """Every anchor of a page."""
    return {f"#{slug(heading)}" for _, heading in _HEADING.findall(_prose(page))}


def links(text: str, page: Path) -> list[tuple[Path, str]]:
    """The file and the anchor, `#…` or empty, of every relative link in a text of that page."""
    return [((page.parent / target).resolve() if target else page, anchor) for target, anchor in _LINK.findall(text)]


def section(page: Path, anchor: str) -> str:
    """The text under a heading, with all that stands under smaller ones; without an anchor, the whole page."""
    text = page.read_text("utf-8")
    if not anchor:
        return text
    headings = list(_HEADING.finditer(_prose(page)))
    (at,) = [number for number, found in enumerate(headings) if f"#{slug(found[2])}" == anchor]
    ends = [found.start() for found in headings[at + 1 :] if len(found[1]) <= len(headings[at][1])]
    return text[headings[at].start() : min(ends, default=len(text))]


def _prose(page: Path) -> str:
    """The page with blanks for its fenced blocks, in which a `#` begins a comment."""
    return _FENCE.sub(lambda block: " " * len(block[0]), page.read_text("utf-8"))
