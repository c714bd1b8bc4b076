"""Where each value of a YAML or JSON text stands: from its first character to its last, comments around it left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from rightcall.errors import TestSetError
from rightcall.testsets.marks import Key

if TYPE_CHECKING:
    from ruamel.yaml.events import Event, MappingStartEvent, ScalarEvent, SequenceStartEvent


class Span(msgspec.Struct, frozen=True):
    """A part of the text, by the index of its first character and of the one after its last."""

    start: int
    end: int


class Node(msgspec.Struct):
    """A value: what it is, where it stands, and the values in it. `anchor` is what it is called, or what it repeats.

    `entries` maps the keys of a mapping, or the indices of a list, to the span of the key and the value.
    """

    kind: Literal["scalar", "alias", "list", "mapping"]
    span: Span
    flow: bool = False
    anchor: str | None = None
    entries: dict[Key, tuple[Span, Node]] = {}

    def at(self, path: Sequence[Key]) -> Node | None:
        """The value at a path; `None` where there is none, or only by way of an alias."""
        node: Node | None = self
        for key in path:
            entry = None if node is None else node.entries.get(key)
            node = None if entry is None else entry[1]
        return node

    def inside(self) -> Iterator[Node]:
        """The value and all values in it."""
        waiting = [self]
        for node in waiting:
            waiting += [inner for _, inner in node.entries.values()]
            yield node


def nodes(text: str) -> Node:
    """The one value of a text that can be read; `TestSetError` where its places cannot be told."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        found = list(YAML(typ="safe", pure=True).parse(text))
    except YAMLError as error:
        raise TestSetError(f"its text cannot be changed in place: {error}") from None
    return _Builder(text).built(iter(found))


class _Builder:
    """Follows the events of a text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def built(self, events: Iterator[Event]) -> Node:
        """The root."""
        from ruamel.yaml.events import NodeEvent

        return self.node(next(event for event in events if isinstance(event, NodeEvent)), events)

    def node(self, event: Event, events: Iterator[Event]) -> Node:
        """One value, with the events that belong to it taken."""
        from ruamel.yaml import events as yaml

        match event:
            case yaml.AliasEvent():
                return Node("alias", _span(event), anchor=event.anchor)
            case yaml.SequenceStartEvent():
                return self._list(event, events)
            case yaml.MappingStartEvent():
                return self._mapping(event, events)
            case _:
                assert isinstance(event, yaml.ScalarEvent)
                return Node("scalar", self._scalar(event), anchor=event.anchor)

    def _scalar(self, event: ScalarEvent) -> Span:
        """A scalar without what follows it: blank lines after a block belong to it, but not to its place."""
        span = _span(event)
        return Span(span.start, max(span.start, len(self.text[: span.end].rstrip()))) if span.end > span.start else span

    def _list(self, event: SequenceStartEvent, events: Iterator[Event]) -> Node:
        from ruamel.yaml import events as yaml

        node = _opened("list", event)
        for item in events:
            if isinstance(item, yaml.SequenceEndEvent):
                return _closed(node, item)
            inner = self.node(item, events)
            node.entries[len(node.entries)] = (Span(inner.span.start, inner.span.start), inner)
        raise AssertionError("unreachable")

    def _mapping(self, event: MappingStartEvent, events: Iterator[Event]) -> Node:
        from ruamel.yaml import events as yaml

        node = _opened("mapping", event)
        for key in events:
            if not isinstance(key, yaml.ScalarEvent):
                return _closed(node, key)
            place = _span(key)
            inner = self.node(next(events), events)
            if inner.kind == "scalar" and inner.span.start == inner.span.end:
                end = self._colon(place.end)
                inner.span = Span(end, end)
            node.entries[key.value] = (place, inner)
        raise AssertionError("unreachable")

    def _colon(self, start: int) -> int:
        """The place of an empty value: after the colon of its key."""
        colon = self.text.find(":", start)
        return start if colon < 0 else colon + 1


def _span(event: Event) -> Span:
    return Span(event.start_mark.index, event.end_mark.index)


def _opened(kind: Literal["list", "mapping"], event: SequenceStartEvent | MappingStartEvent) -> Node:
    return Node(kind, _span(event), flow=bool(event.flow_style), anchor=event.anchor, entries={})


def _closed(node: Node, end: Event) -> Node:
    """A container from its anchor or first entry to its last; in brackets, to the one that closes it."""
    last = next(reversed(node.entries.values()), None)
    stop = end.end_mark.index if node.flow or last is None else last[1].span.end
    node.span = Span(node.span.start, max(stop, node.span.start))
    return node
