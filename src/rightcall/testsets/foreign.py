"""Another tool's file while it is put into native words: values with their paths, and what is said of them.

Whatever a dialect cannot say in native words it refuses at its path; what it says not quite alike it notes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import msgspec

from rightcall.core.jsontext import JSONError, decode
from rightcall.errors import TestSetError, Where, did_you_mean
from rightcall.testsets.explain import found, shorten
from rightcall.testsets.marks import child


class Note(msgspec.Struct, frozen=True):
    """Something that does not mean quite the same after translation, and the path of what it is about."""

    message: str
    path: str = ""


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """Another tool's file in native words: the keys of a test set, with the path that each test came from."""

    keys: dict[str, Any]
    paths: tuple[str, ...]
    notes: tuple[Note, ...] = ()


class Translated(msgspec.Struct, frozen=True, kw_only=True):
    """One test in native words, the path it came from, and what is not quite the same."""

    test: dict[str, Any]
    path: str
    notes: tuple[Note, ...] = ()


class At(msgspec.Struct, frozen=True):
    """A value of another tool's file and its path; what it should be and is not is refused there."""

    value: Any
    path: str = ""

    def get(self, *keys: str) -> At | None:
        """The value of the first of the keys that is there and not null."""
        held = self.mapping()
        for key in keys:
            if held.get(key) is not None:
                return At(held[key], child(self.path, key))
        return None

    def need(self, *keys: str) -> At:
        """The same, refused where none is there."""
        value = self.get(*keys)
        return value if value is not None else self.refuse(f"expected the key `{keys[0]}`, which is missing")

    def mapping(self) -> dict[str, Any]:
        """The value, a mapping."""
        return self.value if isinstance(self.value, dict) else self._expected("a mapping")

    def items(self) -> list[At]:
        """The items of the value, a list."""
        if not isinstance(self.value, list):
            self._expected("a list")
        return [At(item, child(self.path, index)) for index, item in enumerate(self.value)]

    def text(self) -> str:
        """The value, a string."""
        return self.value if isinstance(self.value, str) else self._expected("a string")

    def flag(self) -> bool:
        """The value, a boolean."""
        return self.value if isinstance(self.value, bool) else self._expected("true or false")

    def number(self) -> float:
        """The value, a number."""
        is_number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        return float(self.value) if is_number else self._expected("a number")

    def one_of(self, words: Sequence[str]) -> str:
        """The value, one of these words."""
        if self.value not in words or not isinstance(self.value, str):
            near = did_you_mean(self.value, words) if isinstance(self.value, str) else ""
            self._expected(" or ".join(f"`{word}`" for word in words), near)
        return str(self.value)

    def decoded(self) -> At:
        """The value, JSON text in it decoded once."""
        if not isinstance(self.value, str):
            return self
        try:
            return At(decode(self.value), self.path)
        except JSONError as error:
            return self.refuse(f"expected JSON text, found `{shorten(self.value)}`: {error.message}")

    def refuse(self, message: str) -> NoReturn:
        """Raise the message at this path."""
        raise TestSetError(message, Where(path=self.path))

    def _expected(self, words: str, near: str = "") -> NoReturn:
        told = f"`{shorten(self.value)}`" if isinstance(self.value, str) else found(self.value)
        self.refuse(f"expected {words}, found {told}{near}")


def flag(file: At, *keys: str) -> bool:
    """The boolean under one of the keys; false without it."""
    value = file.get(*keys)
    return value is not None and value.flag()


def choice(file: At, key: str, words: Sequence[str]) -> str:
    """The word under a key; the first one without it."""
    value = file.get(key)
    return words[0] if value is None else value.one_of(words)


def rows(file: At, *holders: str) -> list[At]:
    """The tests of a file: under the first of the holders that is there, or under `tests`, as lines are."""
    held = file.get(*holders, "tests")
    if held is None:
        file.refuse(f"expected the tests under `{(*holders, 'tests')[0]}`, which is missing")
    return held.items()


def opened(translated: Sequence[Translated], notes: Sequence[Note] = (), **keys: Any) -> Opened:
    """A file of these tests; `keys` stand beside them."""
    return Opened(
        keys={**keys, "tests": [one.test for one in translated]},
        paths=tuple([one.path for one in translated]),
        notes=(*notes, *[note for one in translated for note in one.notes]),
    )


def head(row: At, identity: tuple[str, ...] = (), prompt: tuple[str, ...] = (), **keys: str) -> dict[str, Any]:
    """What stands around a test: its id, which is text, its prompt, and other labels by the key they are under."""
    test: dict[str, Any] = {}
    if identity and (value := row.get(*identity)) is not None:
        test["id"] = value.text() if not isinstance(value.value, int) else str(value.value)
    if prompt and (value := row.get(*prompt)) is not None:
        test["prompt"] = value.value
    for name, key in keys.items():
        if (value := row.get(key)) is not None:
            test[name] = value.value
    return test


def call(name: str, arguments: Any) -> dict[str, Any]:
    """An expected call with these arguments, which are data."""
    return {"name": name, "arguments": written(arguments)}


def written(arguments: Any) -> Any:
    """Data as native arguments: text as JSON text, since a string is decoded once."""
    return json.dumps(arguments) if isinstance(arguments, str) or arguments is None else literal(arguments)


def literal(value: Any) -> Any:
    """Data as a native file writes it: mappings with keys that begin with `$` inside `$literal`."""
    if isinstance(value, dict):
        if any(key.startswith("$") for key in value):
            return {"$literal": value}
        return {key: literal(item) for key, item in value.items()}
    return [literal(item) for item in value] if isinstance(value, list) else value


def told(notes: Sequence[Note]) -> Iterator[tuple[Note, int]]:
    """Each message once: its first note, and how many more there are."""
    first: dict[str, Note] = {}
    count: dict[str, int] = {}
    for note in notes:
        first.setdefault(note.message, note)
        count[note.message] = count.get(note.message, 0) + 1
    for message, note in first.items():
        yield note, count[message] - 1
