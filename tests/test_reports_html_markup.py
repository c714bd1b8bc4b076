"""The one door by which text gets into HTML."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from rightcall.core.values import visible
from rightcall.reports.html.markup import Html, block, join, tag, text, void


class Read(HTMLParser):
    """What a reader of HTML finds: elements, attributes, text."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, attributes))

    def handle_data(self, data: str) -> None:
        self.text += data


anything = st.text(st.characters(codec=None))


@given(anything, anything, anything)
def test_text_is_read_back_as_text(content: str, value: str, lines: str) -> None:
    """As content, as an attribute and as a block: what is read is what is shown of the text, and no element of it."""
    read = Read(tag("p", content, tag("pre", block(lines)), title=value or None))
    assert read.elements == [("p", [("title", visible(value))] if value else []), ("pre", [])]
    assert read.text == visible(content) + "\n".join(map(visible, lines.split("\n")))


def test_markup_passes_as_it_is() -> None:
    """What came through the door once is not escaped again, also by template engines that know `__html__`."""
    inner = tag("b", "<")
    assert tag("p", inner, "<", [inner, "&"]) == "<p><b>&lt;</b>&lt;<b>&lt;</b>&amp;</p>"
    assert text(inner).__html__() is inner
    assert join(["a", inner], " < ") == "a &lt; <b>&lt;</b>"


def test_names_of_attributes_are_those_of_html() -> None:
    """A `_` is a `-`, and none at the end; without a value there is no attribute, and an empty one is its bare name."""
    written = void("input", class_="a b", data_of=7, hidden="", value=None)
    assert written == Html('<input class="a b" data-of="7" hidden>')
