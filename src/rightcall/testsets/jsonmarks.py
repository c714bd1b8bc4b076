"""The place of every value in a JSON text, and of what is wrong in one: scanned only when someone asks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from rightcall.core.jsontext import JSONError, decode
from rightcall.testsets.building import Built, Event, build, refuse

_TOKEN: Final = re.compile(
    r"""(?P<space>\s+)|(?P<string>"(?:[^"\\]|\\.)*")|(?P<mark>[{}\[\]:,])|(?P<word>[^\s{}\[\],:"]+)"""
)


def scan_json(text: str, first_line: int = 1) -> Built | None:
    """The value and marks of a JSON text whose brackets are balanced.

    `TestSetError` for a repeated key, for nesting beyond the limit and for a number that is not JSON.
    """
    return build(_events(text, first_line), _resolve)


def _events(text: str, first_line: int) -> Iterator[Event]:
    line, start = first_line, 0
    for token in _TOKEN.finditer(text):
        kind, word, column = token.lastgroup, token.group(), token.start() - start + 1
        if kind == "space":
            if "\n" in word:
                line, start = line + word.count("\n"), token.start() + word.rindex("\n") + 1
        elif kind == "string":
            yield Event("scalar", line, column, _string(word))
        elif kind == "word":
            yield Event("scalar", line, column, word, plain=True)
        elif word == "{":
            yield Event("mapping", line, column)
        elif word == "[":
            yield Event("list", line, column)
        elif word in "}]":
            yield Event("end", line, column)


def _string(token: str) -> str:
    if "\\" not in token:
        return token[1:-1]
    text: str = json.loads(token)
    return text


def _resolve(event: Event) -> Any:
    if not event.plain:
        return event.text
    try:
        return decode(event.text)
    except JSONError as error:
        refuse(error.message, event)
