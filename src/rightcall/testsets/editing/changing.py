"""A test set file with some of its values changed, every other character as it was.

The new text is read again before it is given: one that does not say exactly what was meant is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from rightcall.core.values import equal
from rightcall.errors import TestSetError, Where
from rightcall.testsets.editing.nodes import Node, nodes
from rightcall.testsets.editing.splicing import Splice, Text, spliced
from rightcall.testsets.marks import Key, child
from rightcall.testsets.source import load, named

GONE: Final[Any] = msgspec.UNSET
"""Stands for the value of a key that is to be left out."""

_BOM: Final = "\ufeff"


class Change(msgspec.Struct, frozen=True):
    """Keys of the mapping at a path, each with its new value, `GONE` to leave it out.

    A key that is new takes the place of the first one that goes, or is put at the end.
    """

    path: tuple[Key, ...]
    keys: Mapping[str, Any]


class Added(msgspec.Struct, frozen=True):
    """Items for the end of the list at a path, each with lines of comment to stand above it."""

    path: tuple[Key, ...]
    items: Sequence[tuple[Any, Sequence[str]]]


Edit = Change | Added


class Editable:
    """A YAML or JSON file with the places of its values, found once for many edits."""

    def __init__(self, data: bytes, file: str) -> None:
        """`TestSetError` for a file whose values have no places: JSON Lines, or what cannot be read."""
        if named(file) == "jsonl":
            message = "one test a line cannot be changed in place; name a YAML or JSON file"
            raise TestSetError(message, Where(file=file))
        self.value, source = load(data, file)
        self._file = file
        raw = data.decode("utf-8", "surrogatepass")
        self._bom, self._content = (_BOM, raw[1:]) if raw.startswith(_BOM) else ("", raw)
        self._text = Text(self._content, nodes(self._content), is_json=source.format == "json")

    def check(self, edit: Edit) -> None:
        """Refuse an edit that cannot be made alone: of a value that an alias repeats; `TestSetError` with the place."""
        self._splices([edit])

    def edited(self, edits: Sequence[Edit]) -> bytes:
        """The bytes of the file with edits made, none of which may lie inside another; `TestSetError` as `check`."""
        result = (self._bom + spliced(self._content, self._splices(edits))).encode("utf-8", "surrogatepass")
        _prove(result, self._file, applied(self.value, edits))
        return result

    def _splices(self, edits: Sequence[Edit]) -> list[Splice]:
        try:
            return [splice for edit in edits for splice in _splices(self._text, edit, self.value)]
        except TestSetError as error:
            raise error.within(file=self._file) from None


def _prove(data: bytes, file: str, meant: Any) -> None:
    """Refuse a text that does not say what was meant."""
    try:
        value, _ = load(data, file)
    except TestSetError:
        value = GONE
    if value is GONE or not equal(meant, value):
        message = "cannot be changed in place without changing more than was meant; write the file more plainly"
        raise TestSetError(message, Where(file=file))


def applied(old: Any, edits: Sequence[Edit]) -> Any:
    """The value that the new text is to have."""
    for edit in edits:
        old = _at(old, edit.path, edit)
    return old


def _at(value: Any, path: Sequence[Key], edit: Edit) -> Any:
    if path:
        key, *rest = path
        if isinstance(value, list):
            return [_at(item, rest, edit) if index == key else item for index, item in enumerate(value)]
        return {**value, key: _at(value[key], rest, edit)}
    if isinstance(edit, Added):
        return [*value, *(item for item, _ in edit.items)]
    return {key: item for key, item in {**value, **edit.keys}.items() if item is not GONE}


def _splices(text: Text, edit: Edit, old: Any) -> Iterator[Splice]:
    node, value = _found(text, edit.path, old)
    if isinstance(edit, Added):
        yield text.appended(node, edit.items)
        return
    text.check_kind(node, "mapping", _shown(edit.path))
    going = [key for key, item in edit.keys.items() if item is GONE and key in node.entries]
    coming = {key: item for key, item in edit.keys.items() if item is not GONE and key not in node.entries}
    if going and coming:
        first = next(iter(coming))
        yield from text.entry_replaced(node, going.pop(0), first, coming.pop(first))
    for gone in going:
        yield text.removed(node, gone)
    for key, item in edit.keys.items():
        if item is not GONE and key in node.entries:
            yield from _rewritten(text, node, key, value[key], item)
    if coming:  # at last: what is put into the last entry stands before what comes after it
        yield text.inserted(node, coming)


def _found(text: Text, path: Sequence[Key], old: Any) -> tuple[Node, Any]:
    node = text.root.at(path)
    if node is None or node.kind == "alias":
        raise TestSetError(f"`{_shown(path)}` is repeated from elsewhere by an alias; write it out there")
    for length in range(len(path) + 1):
        if (holder := text.root.at(path[:length])) is not None:
            text.check_own(holder)
    for key in path:
        old = old[key]
    return node, old


def _shown(path: Sequence[Key]) -> str:
    shown = ""
    for key in path:
        shown = child(shown, key)
    return shown


def _rewritten(text: Text, holder: Node, key: Key, old: Any, new: Any) -> Iterator[Splice]:
    """The value of one entry: only the parts of it that differ, where it keeps its shape."""
    if equal(old, new):
        return
    node = holder.entries[key][1]
    text.check_own(node)
    if node.kind == "mapping" and isinstance(new, dict) and old.keys() <= new.keys():
        for inner in old:
            yield from _rewritten(text, node, inner, old[inner], new[inner])
        coming = {inner: item for inner, item in new.items() if inner not in old}
        if coming:
            yield text.inserted(node, coming)
    elif node.kind == "list" and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _rewritten(text, node, index, before, after)
    else:
        yield from text.value_replaced(holder, key, new)
