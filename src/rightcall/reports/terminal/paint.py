"""Lines made of styled pieces, and what they look like with and without colours.

Nothing in them steers a terminal, nor the runner of a CI job.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from rightcall.core.inert import inert, is_command
from rightcall.core.values import visible

Style = Literal["plain", "pass", "fail", "error", "strong", "muted"]
Piece = tuple[Style, str]
Line = tuple[Piece, ...]

_CODES: Final[dict[Style, str]] = {
    "pass": "32",
    "fail": "31",
    "error": "33",
    "strong": "1",
    "muted": "2",
}


def plain(lines: Iterable[Line]) -> bytes:
    """Return the lines without colours. Nothing in them can steer a terminal."""
    return _encoded("".join(text for _, text in _safe(line)).rstrip() for line in lines)


def coloured(lines: Iterable[Line]) -> bytes:
    """Return the lines with colours (ECMA-48 SGR); these are the only control characters in them."""
    return _encoded("".join(map(_coloured, _safe(line))).rstrip() for line in lines)


def _safe(line: Line) -> Line:
    shown = tuple((style, visible(text)) for style, text in line)
    if not is_command("".join(text for _, text in shown)):
        return shown
    return tuple((style, inert(text)) for style, text in shown)


def _coloured(piece: Piece) -> str:
    style, text = piece
    code = _CODES.get(style)
    return f"\x1b[{code}m{text}\x1b[0m" if code and text.strip() else text


def _encoded(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
