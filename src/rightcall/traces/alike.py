"""Whether two messages tell the same, where a client wrote one of them again: what of it may have changed.

Compared are the keys of messages (no ids in them). White space, the way JSON is written and the order of a list may
differ; a text may be cut or cleared, and what one side does not show at all hides no difference.
"""

from __future__ import annotations

import re
from typing import Any, Final

from rightcall.core import jsontext

_CUT: Final = re.compile(r"(?:\s*(?:…|\.{3}|[\[(<][^\])>]*\btruncated\b[^\])>]*[\])>]))+\s*$", re.IGNORECASE)
_CLEARED: Final = re.compile(
    r"^[\[(<].{0,200}\b(?:cleared|omitted|removed|elided|truncated|trimmed)\b.{0,200}[\])>]$", re.IGNORECASE | re.DOTALL
)
_LONG: Final = 200
"""Characters from which the beginning of a text is a text that was cut, though nothing marks the cut."""

_LOOK: Final = 64
"""Parts of a list that are compared in any order."""


def alike(one: Any, other: Any) -> bool:
    """Whether two keys may be of one message."""
    if one == other:
        return True
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and one[:1] == other[:1] and all(map(_may_be_alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(part, other[name]) for name, part in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return _are_alike_in_any_order(one, other)
    if isinstance(one, str) and isinstance(other, str):
        return _tell_the_same(one, other)
    return _is_written(one, other) or _is_written(other, one)


def _may_be_alike(one: Any, other: Any) -> bool:
    return one is None or other is None or alike(one, other)


def _are_alike_in_any_order(some: list[Any], others: list[Any]) -> bool:
    if len(some) != len(others) or len(some) > _LOOK:
        return False
    left = list(others)
    for one in some:
        at = next((at for at, other in enumerate(left) if alike(one, other)), None)
        if at is None:
            return False
        del left[at]
    return True


def _tell_the_same(one: str, other: str) -> bool:
    short, long = sorted((" ".join(one.split()), " ".join(other.split())), key=len)
    if short == long or _CLEARED.match(short) or _CLEARED.match(long):
        return True
    if (len(short) >= _LONG and long.startswith(short)) or _is_cut(short, long) or _is_cut(long, short):
        return True
    decoded, again = _decoded(one), _decoded(other)
    return decoded is not None and again is not None and alike(decoded, again)


def _is_cut(text: str, whole: str) -> bool:
    """Whether a text has a mark at its end that it was cut, and begins like another."""
    end = text[-_LONG:]
    begun = text[: len(text) - len(end)] + _CUT.sub("", end)
    return "" != begun != text and whole.startswith(begun)


def _is_written(text: Any, value: Any) -> bool:
    """Whether a text writes a value of JSON."""
    return isinstance(text, str) and isinstance(value, dict | list) and alike(_decoded(text), value)


def _decoded(text: str) -> Any:
    """The object or array that a text writes, `None` if it writes none."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return jsontext.decode(text)
    except jsontext.JSONError:
        return None
