"""What to put where in a text so that one value of it becomes another."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from rightcall.errors import TestSetError, Where
from rightcall.testsets.dumping import to_block, to_flow
from rightcall.testsets.editing.nodes import Node
from rightcall.testsets.marks import Key

_LONG: Final = 90
"""Characters of a value that still stand in one line with its key."""


class Splice(msgspec.Struct, frozen=True):
    """The text that takes the place of the characters from `start` to `end`."""

    start: int
    end: int
    text: str


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text with all of them made; those at one place in their order."""
    parts: list[str] = []
    at = 0
    for splice in sorted(splices, key=lambda one: (one.start, one.end)):
        if splice.start < at:
            raise TestSetError("two changes meet at one place of the file; make them one after the other")
        parts += [text[at : splice.start], splice.text]
        at = splice.end
    return "".join([*parts, text[at:]])


class Text(msgspec.Struct, frozen=True):
    """A text with the places of its values."""

    text: str
    root: Node
    is_json: bool

    @property
    def newline(self) -> str:
        """How its lines end."""
        return "\r\n" if "\r\n" in self.text else "\n"

    def check_kind(self, node: Node, kind: str, path: str) -> None:
        """Refuse a value of another kind."""
        if node.kind != kind:
            raise TestSetError(f"expected a {kind} at `{path}`, found a {node.kind}", self.where(node.span.start))

    def where(self, at: int) -> Where:
        """Line and column of a character."""
        return Where(line=self.text.count("\n", 0, at) + 1, column=at - self.text.rfind("\n", 0, at))

    def column(self, at: int) -> int:
        """How many characters stand before it in its line."""
        return at - self.text.rfind("\n", 0, at) - 1

    def line_end(self, at: int) -> int:
        """Where the line of a character ends, before what ends it."""
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        return end - 1 if end > at and self.text[end - 1] == "\r" else end

    def line_start(self, at: int) -> int:
        """Where the line of a character begins."""
        return self.text.rfind("\n", 0, at) + 1

    def is_first(self, at: int) -> bool:
        """Whether nothing but blanks stands before it in its line."""
        return not self.text[self.line_start(at) : at].strip()

    def lines(self, lines: Sequence[str], column: int) -> str:
        """Lines that go on at a column, the first of which is there already."""
        return f"{self.newline}{' ' * column}".join(lines)

    def flow(self, value: Any) -> str:
        """A value in one line."""
        return json.dumps(value, ensure_ascii=not _is_printable(value)) if self.is_json else to_flow(value)

    def value_replaced(self, holder: Node, key: Key, new: Any) -> Iterator[Splice]:
        """The value of an entry becomes another; comments beside its key stay."""
        node = holder.entries[key][1]
        self.check_free(node)
        if holder.flow or self.is_json:
            yield Splice(node.span.start, node.span.end, f"{self._gap(node)}{self.flow(new)}")
        elif isinstance(key, int):
            yield Splice(node.span.start, node.span.end, self._item(node, new))
        else:
            yield from self._member_replaced(holder, key, new)

    def _gap(self, node: Node) -> str:
        """A blank where an empty value stands right after its colon."""
        start, end = node.span.start, node.span.end
        return " " if start == end and self.text[start - 1 : start] == ":" else ""

    def _item(self, node: Node, new: Any) -> str:
        """An item of a list in the style that the old one had."""
        is_block = node.kind == "mapping" and not node.flow
        if not is_block or not isinstance(new, dict) or not new:
            return self.flow(new)
        return self.lines(to_block(new), self.column(node.span.start))

    def _member_replaced(self, holder: Node, key: str, new: Any) -> Iterator[Splice]:
        place, node = holder.entries[key]
        column, colon = self.column(place.start), self.text.index(":", place.end) + 1
        is_beside = "\n" not in self.text[colon : node.span.start]
        rendered = self._value(new, column, node)
        if not rendered.startswith("\n") and not rendered.startswith("\r"):
            yield Splice(colon, colon if not is_beside else node.span.end, rendered)
            if not is_beside:
                yield Splice(self.line_end(colon), node.span.end, "")
        elif is_beside:
            end = self.line_end(node.span.end)
            yield Splice(colon, node.span.end, "")
            yield Splice(end, end, rendered)
        else:
            yield Splice(self.line_end(colon), node.span.end, rendered)

    def _value(self, value: Any, column: int, old: Node | None = None) -> str:
        """A value as it follows the colon of a key that stands at a column: a blank and one line, or lines below.

        It is in brackets or not as the `old` one was, if it is not long.
        """
        flow = to_flow(value)
        if not isinstance(value, dict | list) or not value:
            return f" {flow}"
        has_style = old is not None and old.kind in ("list", "mapping")
        in_brackets = old.flow if old is not None and has_style else not _holds_containers(value)
        if in_brackets and len(flow) + column <= _LONG:
            return f" {flow}"
        is_block_list = old is not None and old.kind == "list" and not old.flow
        inner = self._dash(old) if old is not None and is_block_list else column + 2
        return f"{self.newline}{' ' * inner}{self.lines(to_block(value), inner)}"

    def _dash(self, node: Node) -> int:
        """The column of the signs of the items of a block list."""
        last = node.entries[len(node.entries) - 1][1]
        return self.column(self.text.rindex("-", 0, last.span.start))

    def entry_replaced(self, holder: Node, gone: str, key: str, value: Any) -> Iterator[Splice]:
        """One entry gives its place to another."""
        place, node = holder.entries[gone]
        self.check_free(node)
        if holder.flow or self.is_json:
            yield Splice(place.start, node.span.end, f"{self._key(key)}: {self.flow(value)}")
        else:
            rendered = self._value(value, self.column(place.start))
            yield Splice(place.start, node.span.end, f"{self._key(key)}:{rendered}")

    def _key(self, key: str) -> str:
        return json.dumps(key) if self.is_json else to_flow(key)

    def removed(self, holder: Node, key: str) -> Splice:
        """An entry goes, with the line that it stands in alone."""
        place, node = holder.entries[key]
        self.check_free(node)
        names = list(holder.entries)
        index = names.index(key)
        following = holder.entries[names[index + 1]][0].start if index + 1 < len(names) else None
        if following is not None and not self.text[node.span.end : following].strip(" \t\r\n,"):
            return Splice(place.start, following, "")
        if holder.flow:
            before = holder.entries[names[index - 1]][1].span.end if index else place.start
            return Splice(before, node.span.end, "")
        if not self.is_first(place.start):
            raise TestSetError(f"`{key}` cannot be left out here", self.where(place.start))
        start, end = self.line_start(place.start), self.line_end(node.span.end)
        return Splice(max(0, start - len(self.newline)), end, "")

    def inserted(self, holder: Node, coming: Mapping[str, Any]) -> Splice:
        """Entries at the end of a mapping."""
        flow = [f"{self._key(key)}: {self.flow(value)}" for key, value in coming.items()]
        if not holder.entries:
            return Splice(holder.span.start, holder.span.end, f"{{{', '.join(flow)}}}")
        place, last = next(reversed(holder.entries.values()))
        column = self.column(place.start)
        if holder.flow:
            between = f",{self.newline}{' ' * column}" if self.is_first(place.start) else ", "
            return Splice(last.span.end, last.span.end, "".join(between + entry for entry in flow))
        end = self.line_end(last.span.end)
        start = f"{self.newline}{' ' * column}"
        entries = [f"{start}{self._key(key)}:{self._value(value, column)}" for key, value in coming.items()]
        return Splice(end, end, "".join(entries))

    def appended(self, holder: Node, items: Sequence[tuple[Any, Sequence[str]]]) -> Splice:
        """Items at the end of a list, each below its comments where there can be any."""
        self.check_kind(holder, "list", "tests")
        if holder.flow or self.is_json:
            return self._appended_in_brackets(holder, [self.flow(value) for value, _ in items])
        column, last = self._dash(holder), holder.entries[len(holder.entries) - 1][1]
        end = self.line_end(last.span.end)
        start = f"{self.newline}{' ' * column}"
        parts: list[str] = []
        for value, comments in items:
            parts += [self.newline, *(f"{start}# {line}" for line in comments)]
            parts.append(f"{start}- {self.lines(to_block(value), column + 2)}")
        return Splice(end, end, "".join(parts))

    def _appended_in_brackets(self, holder: Node, items: Sequence[str]) -> Splice:
        if not holder.entries:
            return Splice(holder.span.start, holder.span.end, f"[{', '.join(items)}]")
        last = holder.entries[len(holder.entries) - 1][1]
        start = last.span.start
        between = f",{self.newline}{' ' * self.column(start)}" if self.is_first(start) else ", "
        return Splice(last.span.end, last.span.end, "".join(between + item for item in items))

    def check_free(self, node: Node) -> None:
        """Refuse to write a value anew that an alias elsewhere repeats, wholly or in part."""
        self._check(list(node.inside()))

    def check_own(self, node: Node) -> None:
        """Refuse to change a part of a value that an alias elsewhere repeats."""
        self._check([node])

    def _check(self, changing: Sequence[Node]) -> None:
        names = {one.anchor for one in changing if one.kind != "alias" and one.anchor is not None}
        own = {id(one) for one in changing}
        for other in self.root.inside() if names else ():
            if other.kind == "alias" and other.anchor in names and id(other) not in own:
                message = f"is repeated by the alias `*{other.anchor}`, which would change with it; write it out there"
                raise TestSetError(message, self.where(other.span.start))


def _holds_containers(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value
    return any(isinstance(item, dict | list) and item for item in inner)


def _is_printable(value: Any) -> bool:
    return json.dumps(value, ensure_ascii=False).isprintable()
