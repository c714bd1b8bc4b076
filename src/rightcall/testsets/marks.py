"""Where things stand in a text: JSON paths, and the line and column of every value (both from 1)."""

from __future__ import annotations

import functools
import json
import re
from typing import Final

import msgspec

Key = str | int

_STEP: Final = re.compile(r'\[([0-9]+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.\[\]]+)')
_PLAIN_KEY: Final = re.compile(r'[^.\[\]"\s]+')


class Mark(msgspec.Struct, frozen=True):
    """Where a value begins. `entries` are the places of its keys or items and the marks of what they hold."""

    line: int
    column: int
    entries: dict[Key, tuple[int, int, Mark]] = {}


def child(path: str, key: Key) -> str:
    """The path of one key or item: `tests[0]` and `match` are `tests[0].match`; odd keys are quoted."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    if not _is_plain(key):
        return f"{path}[{json.dumps(key, ensure_ascii=not key.isprintable())}]"
    return f"{path}.{key}" if path else key


@functools.lru_cache(maxsize=512)  # a path is made of few keys, and made for every value that is read
def _is_plain(key: str) -> bool:
    return _PLAIN_KEY.fullmatch(key) is not None and key.isprintable()


def steps(path: str) -> list[Key]:
    """The keys and indices that a path is made of."""
    return [
        int(index) if index else json.loads(quoted) if quoted else plain for index, quoted, plain in _STEP.findall(path)
    ]


def value_place(mark: Mark, path: str) -> tuple[int, int]:
    """Line and column of the value at a path, or of the innermost value on the way that is there."""
    for key in steps(path):
        entry = mark.entries.get(key)
        if entry is None:
            break
        mark = entry[2]
    return mark.line, mark.column


def key_place(mark: Mark, path: str) -> tuple[int, int]:
    """Line and column of the last key of a path, or of the innermost value on the way that is there."""
    place = mark.line, mark.column
    for key in steps(path):
        entry = mark.entries.get(key)
        if entry is None:
            break
        line, column, mark = entry
        place = line, column
    return place
