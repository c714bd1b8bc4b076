"""Whether a value stands in a text: by rules that are the same for everyone, never by likeness.

A string stands in a text as a whole word or row of words, a number by its value. White space of any length is one
space. What is around a word is white space, punctuation that is followed by white space, the end of the text, or a
letter of a script that is written without spaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

_OPENING: Final = "#([{<\"'`«“‘„¿¡*_"
_CLOSING: Final = ")]}>\"'`»”’.,;:!?…*_"
_SPACE: Final = re.compile(r"\s+")
_MINUS: Final = ("-", "\u2212")
_MOST_DIGITS: Final = 300
_NUMBER: Final = re.compile(
    r"(?P<sign>[-+\u2212]?)[$€£¥]?(?P<whole>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?P<rest>\.[0-9]+)?[$€£¥%]?"
)


def plain(text: str) -> str:
    """The text with single spaces between words and none around them."""
    return _SPACE.sub(" ", text).strip()


def stands_in(wanted: str, text: str) -> bool:
    """Whether a string, already plain, stands in a plain text as whole words."""
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        end = at + len(wanted)
        if _is_start(text, at) and _is_end(text, end):
            return True
        at = text.find(wanted, at + 1)
    return False


def _is_start(text: str, at: int) -> bool:
    """Whether a word can begin there: after nothing but opening punctuation since the last space."""
    if _joins_freely(text, at):
        return True
    while at and text[at - 1] in _OPENING:
        at -= 1
    return at == 0 or text[at - 1].isspace() or _is_wide(text[at - 1])


def _is_end(text: str, end: int) -> bool:
    if _joins_freely(text, end):
        return True
    while end < len(text) and text[end] in _CLOSING:
        end += 1
    return end == len(text) or text[end].isspace() or _is_wide(text[end])


def _joins_freely(text: str, at: int) -> bool:
    """Whether a letter of a script without spaces stands on a side of the place."""
    return any(_is_wide(letter) for letter in text[max(at - 1, 0) : at + 1])


def _is_wide(letter: str) -> bool:
    return not letter.isascii() and unicodedata.east_asian_width(letter) in ("W", "F")


def numbers(text: str) -> Iterator[float]:
    """The numbers that a text writes as words: `42`, `-3.5`, `1,200`, `$19.50`, `20%`."""
    spaced = text if text.isascii() else "".join(f" {letter} " if _is_wide(letter) else letter for letter in text)
    for word in spaced.split():
        found = _NUMBER.fullmatch(word.lstrip(_OPENING).rstrip(_CLOSING))
        if found is not None and len(found["whole"]) <= _MOST_DIGITS:
            whole = found["whole"].replace(",", "")
            number = float(whole + found["rest"]) if found["rest"] else int(whole)
            yield -number if found["sign"] in _MINUS else number
