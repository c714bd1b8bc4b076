"""Finding again, in a text, values that are known to be secret, however they are written and wherever they are cut."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate
from typing import Final

from rightcall.core.redaction.forms import forms
from rightcall.core.redaction.shapes import DOTS

SHORTEST: Final = 4
"""Characters of a value that is looked for wherever it stands; a shorter one is looked for in quotes."""

REMEMBERED: Final = 1000
"""Secrets whose ways of being written are remembered: the attempts of a test mostly have the same."""

_ALONE: Final = 8
"""Characters below which a value is no part of a longer word."""


_BREAK: Final = re.compile(r"(?:[\r\n]|\\{1,4}[rn])[ \t]*")


class Known:
    """Secret values, each with the ways in which texts write it. Letter case makes no difference."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.values = frozenset(secrets)
        found = {form: (word, form, secret) for secret in sorted(self.values) for word, form in _sought(secret)}
        self._forms = sorted(found.values())

    def spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Where a text holds one of them, or the beginning of one that was cut off: from, to, and which it is."""
        folded = _folded(text) if self._forms else ""
        longest = _longest_word(folded)
        for word, form, secret in self._forms:
            if word > longest:
                break  # nor has the text any of those that come after it
            start = folded.find(form)
            while start >= 0:
                end = start + len(form)
                if len(form) >= _ALONE or _stands_alone(folded, start, end):
                    yield start, end, secret
                start = folded.find(form, end)
        for cut in DOTS.finditer(folded):
            yield from self._beginning(folded, cut.start())
        if self._forms and _BREAK.search(folded):
            yield from self._broken(_Joined(folded))

    def _broken(self, lines: _Joined) -> Iterator[tuple[int, int, str]]:
        """Those that go on from one line to another."""
        longest = _longest_word(lines.text)
        for word, form, secret in self._forms:
            if word > longest:
                break
            start = lines.text.find(form) if len(form) >= _ALONE else -1
            while start >= 0:
                end = start + len(form)
                if lines.line(start) != lines.line(end - 1):
                    yield lines.place(start), lines.place(end - 1) + 1, secret
                start = lines.text.find(form, end)

    def _beginning(self, text: str, end: int) -> Iterator[tuple[int, int, str]]:
        """The longest beginning of a secret that ends there."""
        best: tuple[int, int, str] | None = None
        for _, form, secret in self._forms:
            start = text.find(form[:SHORTEST], max(0, end - len(form)), end)
            while start >= 0:
                if form.startswith(text[start:end]) and (best is None or start < best[0]):
                    best = (start, end, secret)
                start = text.find(form[:SHORTEST], start + 1, end)
        if best is not None:
            yield best


class _Joined:
    """A text without its ends of lines, also those that stand as escapes, and without the blanks that follow them."""

    def __init__(self, text: str) -> None:
        ends = [found.span() for found in _BREAK.finditer(text)]
        self._starts = [0, *(end for _, end in ends)]
        pieces = [text[at:stop] for at, stop in zip(self._starts, [*(at for at, _ in ends), len(text)], strict=True)]
        self._joined = [0, *accumulate(map(len, pieces[:-1]))]
        self.text = "".join(pieces)

    def line(self, at: int) -> int:
        """The number of the line that a character of the joined text stands in."""
        return bisect_right(self._joined, at) - 1

    def place(self, at: int) -> int:
        """Where that character stands in the whole text."""
        line = self.line(at)
        return self._starts[line] + at - self._joined[line]


def _folded(text: str) -> str:
    """The text in small letters, each in its place: one capital has two of them, and one two that depend on it."""
    return text.lower() if text.isascii() else text.replace("İ", "i").lower().replace("ς", "σ")


def _longest_word(text: str) -> int:
    """Characters of the longest part without blanks: a text holds nothing that has a longer one."""
    return max(map(len, text.split()), default=0)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether what stands there is no part of a longer word."""
    return not (_is_joined(text, start - 1, start) or _is_joined(text, end - 1, end))


def _is_joined(text: str, one: int, other: int) -> bool:
    return one >= 0 and other < len(text) and _is_word(text[one]) and _is_word(text[other])


def _is_word(character: str) -> bool:
    return character.isascii() and character.isalnum()


@lru_cache(maxsize=REMEMBERED)
def _sought(secret: str) -> tuple[tuple[int, str], ...]:
    """The ways of writing it that are looked for, what is short in quotes, each after its longest word."""
    return tuple([(_longest_word(way), way) for form in forms(secret) for way in _quoted(_folded(form))])


def _quoted(form: str) -> Iterator[str]:
    if len(form) >= SHORTEST:
        yield form
    elif form.strip():
        yield from (f'"{form}"', f'\\"{form}\\"', f"'{form}'")
