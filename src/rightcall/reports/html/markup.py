"""HTML as values, and the one door by which text gets into it.

Text that is no `Html` is escaped, wherever it stands: as content, in quotes as an attribute, in a block with line ends
of its own. Control characters, changes of direction and lone surrogates are shown as escapes before that. Only what is
written in this package is `Html` without having come through here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rightcall.core.values import visible


class Html(str):
    """Markup that is safe as it stands. Template engines that know `__html__` take it as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


NOTHING: Final = Html("")

_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})

Content = str | Iterable[str]
Attribute = str | int | None
"""The value of an attribute; without one (`None`) there is no attribute, and the empty string is its bare name."""


def text(value: str) -> Html:
    """The text on one line. Markup passes as it is."""
    return value if isinstance(value, Html) else Html(visible(value).translate(_ESCAPES))


def block(value: str) -> Html:
    """The text with its line ends, for an element that keeps them."""
    return Html("\n".join(map(visible, value.split("\n"))).translate(_ESCAPES))


def join(parts: Content, between: str = "") -> Html:
    """The parts, one after the other, each as text unless it is markup."""
    if isinstance(parts, str):
        return text(parts)
    return Html(text(between).join(map(text, parts)))


def tag(name: str, /, *content: Content, **attributes: Attribute) -> Html:
    """An element. In names of attributes `_` is written `-`, and cut at the end: `data_of`, `class_`."""
    return Html(f"<{name}{_attributes(attributes)}>{''.join(map(join, content))}</{name}>")


def void(name: str, /, **attributes: Attribute) -> Html:
    """An element that has no content."""
    return Html(f"<{name}{_attributes(attributes)}>")


def _attributes(attributes: dict[str, Attribute]) -> str:
    return "".join(_attribute(name, value) for name, value in attributes.items() if value is not None)


def _attribute(name: str, value: str | int) -> str:
    written = name.removesuffix("_").replace("_", "-")
    return f' {written}="{text(str(value))}"' if value != "" else f" {written}"
