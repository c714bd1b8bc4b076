"""Finding again, in a text, values that are known to be secret, however they are written and wherever they are cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from rightcall.core.jsontext import encode
from rightcall.core.redaction.shapes import CUT
from rightcall.core.values import visible

SHORTEST: Final = 4
"""Characters of a value that is looked for wherever it stands; a shorter one is looked for in quotes."""

_ALONE: Final = 8
"""Characters below which a value is no part of a longer word."""


class Known:
    """Secret values, each with the ways in which texts write it."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.values = frozenset(secrets)
        self._forms = {form.casefold(): secret for secret in sorted(self.values) for form in _forms(secret)}
        longest_first = sorted(self._forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_search, longest_first)), re.IGNORECASE) if longest_first else None

    def spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Where a text holds one of them, or the beginning of one that was cut off: from, to, and which it is."""
        if self._pattern is None:
            return
        for found in self._pattern.finditer(text):
            yield (*found.span(), self._forms.get(found[0].casefold(), found[0]))
        for cut in CUT.finditer(text):
            yield from self._beginning(text.casefold(), cut.start())

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


def _search(form: str) -> str:
    """The pattern that finds a form; a short one only by itself."""
    escaped = re.escape(form)
    if len(form) >= _ALONE:
        return escaped
    before = r"(?<![A-Za-z0-9])" if form[0].isalnum() else ""
    after = r"(?![A-Za-z0-9])" if form[-1].isalnum() else ""
    return before + escaped + after


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
