"""Texts of any length, of which a beginning is shown, more on request, and never more than a limit."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from rightcall.core.jsontext import check_depth
from rightcall.core.stringify import stringify
from rightcall.core.values import MISSING, cut, display

SHOWN: Final = 300
"""Characters of a text that are shown at once."""

LINE: Final = 100
"""Characters of a value that are read well on one line."""

MOST: Final = 20_000
"""Characters of a text that are kept at all."""


class LongText(msgspec.Struct, frozen=True):
    """A text: its beginning, and all of it up to the limit where the beginning is not all, else empty."""

    beginning: str
    whole: str = ""
    form: Literal["text", "json"] = "text"


def long_text(value: str, shown: int = SHOWN) -> LongText:
    """The text as it is shown. What is left out of either part is told at its end."""
    return LongText(value) if len(value) <= shown else LongText(cut(value, shown), cut(value, MOST))


def long_value(value: Any, shown: int = SHOWN) -> LongText:
    """A JSON value on one line, strings in quotes, and over several lines where one does not hold it well."""
    line = display(value, shown)
    return LongText(line, "" if len(line) <= LINE else indented(value), "json")


def spoken(value: Any) -> LongText:
    """What was said: text as it is, anything else as JSON."""
    return long_text(value) if isinstance(value, str) else long_value(value)


def indented(value: Any) -> str:
    """A JSON value over several lines, cut at the limit; what is no JSON as it is displayed."""
    if value is MISSING:
        return display(value)
    try:
        check_depth(value)
        return cut(msgspec.json.format(stringify(value), indent=2), MOST)
    except (TypeError, ValueError):
        return display(value, MOST)
