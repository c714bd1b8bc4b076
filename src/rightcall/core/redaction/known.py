"""Finding again, in a text, values that are known to be secret, however they are written and wherever they are cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rightcall.core.jsontext import encode
from rightcall.core.redaction.shapes import DOTS
from rightcall.core.values import visible

SHORTEST: Final = 4
"""Characters of a value that is looked for wherever it stands; a shorter one is looked for in quotes."""

_ALONE: Final = 8
"""Characters below which a value is no part of a longer word."""


class Known:
    """Secret values, each with the ways in which texts write it. Letter case makes no difference."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.values = frozenset(secrets)
        self._forms = {_folded(form): secret for secret in sorted(self.values) for form in _forms(secret)}

    def spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Where a text holds one of them, or the beginning of one that was cut off: from, to, and which it is."""
        folded = _folded(text) if self._forms else ""
        for form, secret in self._forms.items():
            start = folded.find(form)
            while start >= 0:
                end = start + len(form)
                if len(form) >= _ALONE or _stands_alone(folded, start, end):
                    yield start, end, secret
                start = folded.find(form, end)
        for cut in DOTS.finditer(folded):
            yield from self._beginning(folded, cut.start())

    def _beginning(self, text: str, end: int) -> Iterator[tuple[int, int, str]]:
        """The longest beginning of a secret that ends there."""
        best: tuple[int, int, str] | None = None
        for form, secret in self._forms.items():
            start = text.find(form[:SHORTEST], max(0, end - len(form)), end)
            while start >= 0:
                if form.startswith(text[start:end]) and (best is None or start < best[0]):
                    best = (start, end, secret)
                start = text.find(form[:SHORTEST], start + 1, end)
        if best is not None:
            yield best


def _folded(text: str) -> str:
    """The text in small letters, where that leaves every letter in its place."""
    small = text.lower()
    return small if len(small) == len(text) else text


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether what stands there is no part of a longer word."""
    return not (_is_joined(text, start - 1, start) or _is_joined(text, end - 1, end))


def _is_joined(text: str, one: int, other: int) -> bool:
    return one >= 0 and other < len(text) and _is_word(text[one]) and _is_word(text[other])


def _is_word(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _forms(secret: str) -> Iterator[str]:
    """The secret as it is, as JSON writes it, also inside other JSON, as Python does, and with escapes shown."""
    once = _escaped(secret)
    ways = {secret, " ".join(secret.split()), once, _escaped(once), _escaped(_escaped(once)), repr(secret)[1:-1]}
    for way in {*ways, *map(visible, ways)}:
        if len(way) >= SHORTEST:
            yield way
        elif way.strip():
            yield from (f'"{way}"', f'\\"{way}\\"', f"'{way}'")


def _escaped(text: str) -> str:
    return encode(text).decode("utf-8", "surrogatepass")[1:-1]
