"""The sentences of the guide, as its page has them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from support.pages import DOCS, slug

GUIDE: Final = DOCS / "guide.md"
ENTRY: Final = re.compile(
    r"^### (?P<heading>.+)\n\n(?:[^`#].*\n|`[^`].*\n|\n)*?"
    r"```yaml\n(?P<expectation>(?:.*\n)*?)```\n\n"
    r"```text\n✓ (?P<good>.+)\n✗ (?P<bad>.+)\n  (?P<reason>.+)\n```$",
    re.MULTILINE,
)


class Sentence(NamedTuple):
    """What the guide says under one heading."""

    heading: str
    expectation: str
    good: str
    bad: str
    reason: str


SENTENCES: Final = {
    slug(found["heading"]): Sentence(*found.groups()) for found in ENTRY.finditer(GUIDE.read_text("utf-8"))
}
