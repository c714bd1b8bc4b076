"""Small pieces of markup that many parts of the page share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rightcall.core.wording import amount
from rightcall.reports.html.longtext import LongText
from rightcall.reports.html.markup import NOTHING, Html, block, join, tag

_SIGNS: Final = {"pass": "✓", "fail": "✗", "error": "!", "inconclusive": "?", "not_applicable": "–"}


def status(value: str, words: str = "") -> Html:
    """A status as a sign and words, so that its colour is not all that tells it."""
    sign = tag("span", _SIGNS[value], aria_hidden="true")
    return tag("span", sign, " ", words or value, class_=f"status {value}")


def long(value: LongText) -> Html:
    """A text; where it is long its beginning, which opens to all of it."""
    name = "code" if value.form == "json" else "span"
    if not value.whole:
        return tag(name, block(value.beginning), class_="text")
    beginning = tag("summary", tag(name, value.beginning, class_="text"))
    return tag("details", beginning, tag("pre", block(value.whole)), class_="long")


def left_out(number: int, noun: str, many: str = "") -> Html:
    """A remark that there is more than is shown; nothing where there is not."""
    return tag("p", f"{amount(number, noun, many)} left out.", class_="left-out") if number else NOTHING


def facts(pairs: Iterable[tuple[str, str | LongText]]) -> Html:
    """Names and values."""
    shown = [tag("div", tag("dt", name), tag("dd", _value(value))) for name, value in pairs]
    return tag("dl", *shown, class_="facts") if shown else NOTHING


def _value(value: str | LongText) -> Html:
    return long(value) if isinstance(value, LongText) else tag("span", value, class_="text")


def hidden(words: str) -> Html:
    """Words for those who do not see the page."""
    return tag("span", words, class_="hidden")


def scrolling(label: str, *content: Html) -> Html:
    """A part that may be wider than the page: it scrolls, also by the keyboard."""
    return tag("div", *content, class_="scrolling", role="region", aria_label=label, tabindex=0)


def header_row(names: Iterable[str | Html]) -> Html:
    """The first row of a table."""
    return tag("thead", tag("tr", join([tag("th", name, scope="col") for name in names])))
