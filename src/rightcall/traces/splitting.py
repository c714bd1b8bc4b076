"""Where one JSON value ends and the next begins, in a stream of values that follow one another without a mark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+("|\\?\Z)|[][{}]', re.DOTALL)
_REST = re.compile(rb'(?:[^"\\]++|\\.)*+("|\\?\Z)', re.DOTALL)


def ends(pieces: Iterable[bytes]) -> Iterator[tuple[bytes, list[int]]]:
    """Each piece of a text, with the offsets in it at which a top-level object or array ends."""
    state = _Ends()
    for piece in pieces:
        yield piece, list(state.within(piece))


class _Ends:
    """Where top-level values end, piece by piece: how deep the text is, and what of a string stays open."""

    def __init__(self) -> None:
        self._depth = 0
        self._open: bytes | None = None

    def within(self, piece: bytes) -> Iterator[int]:
        at = 0
        if self._open is not None:
            rest = _REST.match(piece, min(len(self._open), len(piece)))
            if rest is None or rest[1] != b'"':
                self._open = b"" if rest is None else rest[1]
                return
            at, self._open = rest.end(), None
        for token in _TOKEN.finditer(piece, at):
            if token[1] is None:
                self._depth += 1 if token[0] in b"{[" else -1
                if self._depth == 0:
                    yield token.end()
            elif token[1] != b'"':
                self._open = token[1]
