"""Data in a prompt that cannot get out of their place, whatever they say.

They are one line of JSON between two lines with a code. No text inside can be a line of its own, since JSON writes
line breaks as escapes; none can repeat the code, which is made from the data themselves; and none can be taken for a
control token of a chat template, or hide from who reads it, since the signs of these are written as escapes too.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import Any, Final

from rightcall.core import jsontext

_DIGITS: Final = 16
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_TOKEN: Final = re.compile(r"[<>]|\[(?=/?[A-Z][A-Z_ ]*\])")
"""Angle brackets, and the square ones of words such as `[INST]`: outside strings, JSON has neither."""


def fenced(title: str, value: Any) -> str:
    """A part of a prompt: its title, and a JSON value between lines that it cannot hold. It is always the same."""
    text = inert(value)
    mark = hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()[:_DIGITS]
    return f"{title}\nBEGIN DATA {mark}\n{text}\nEND DATA {mark}"


def inert(value: Any) -> str:
    """The value as one line of JSON in which nothing is hidden and nothing is a sign of control."""
    text = jsontext.encode(value).decode()
    shown = text if text.isascii() else "".join(map(_seen, text))
    return _TOKEN.sub(lambda found: f"\\u{ord(found[0]):04x}", shown)


def _seen(character: str) -> str:
    if unicodedata.category(character) not in _UNSEEN:
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
