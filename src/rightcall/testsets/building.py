"""From a flat stream of parse events to a plain JSON value and its marks, within declared limits.

Nothing here recurses, so that no input can exhaust the stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, Never

import msgspec

from rightcall.core.jsontext import MAX_DEPTH
from rightcall.errors import TestSetError, Where
from rightcall.testsets.explain import shorten
from rightcall.testsets.marks import Key, Mark

MAX_ALIASED: Final = 1_000_000
"""Values that all aliases of a file may stand for, together."""


class Event(msgspec.Struct, frozen=True):
    """One step of parsing: a scalar, the start of a list or mapping, an end, or an alias.

    `text` is a scalar's text or an alias's anchor; `plain` scalars were written without quotes.
    """

    kind: Literal["scalar", "list", "mapping", "end", "alias"]
    line: int
    column: int
    text: str = ""
    plain: bool = False
    anchor: str | None = None


class Built(msgspec.Struct, frozen=True):
    """A finished value. `size` counts the values in it, `height` the containers inside one another."""

    value: Any
    mark: Mark
    size: int = 1
    height: int = 0


class _Open(msgspec.Struct):
    """A list or mapping that is being read; `key` is the event of a key that waits for its value."""

    event: Event
    value: list[Any] | dict[str, Any]
    entries: dict[Key, tuple[int, int, Mark]]
    key: Event | None = None
    size: int = 1
    height: int = 1


def build(events: Iterable[Event], resolve: Callable[[Event], Any]) -> Built | None:
    """The one value that the events make, `None` if there are none. `resolve` gives a scalar's value."""
    builder = _Builder(resolve)
    for event in events:
        builder.take(event)
    return builder.root


def refuse(message: str, event: Event) -> Never:
    """Raise `TestSetError` at the event's place."""
    raise TestSetError(message, Where(line=event.line, column=event.column))


class _Builder:
    """The containers that are open, the anchors seen, and what the aliases have cost."""

    def __init__(self, resolve: Callable[[Event], Any]) -> None:
        self.resolve = resolve
        self.open: list[_Open] = []
        self.anchors: dict[str, Built | None] = {}
        self.aliased = 0
        self.root: Built | None = None

    def take(self, event: Event) -> None:
        """Handle one event."""
        if event.kind == "end":
            self.close()
        elif self.awaits_key():
            self.start_entry(event)
        elif event.kind == "scalar":
            self.add(event, Built(self.resolve(event), Mark(event.line, event.column)))
        elif event.kind == "alias":
            self.add(event, self.expand(event))
        else:
            self.start(event)

    def awaits_key(self) -> bool:
        """Whether the next event is the key of a mapping."""
        return bool(self.open) and isinstance(self.open[-1].value, dict) and self.open[-1].key is None

    def start_entry(self, event: Event) -> None:
        """Take a key: a scalar, as it is written."""
        if event.kind != "scalar":
            refuse("expected a key, which is a string; lists, mappings and aliases cannot be keys", event)
        if event.plain and event.text == "<<":
            refuse("merge keys (`<<`) are not part of YAML 1.2; write the keys out", event)
        top = self.open[-1]
        first = top.entries.get(event.text)
        if first is not None:
            refuse(
                f"the key `{shorten(event.text)}` is repeated; it stands first in line {first[0]}, column {first[1]}",
                event,
            )
        self.name(event, Built(event.text, Mark(event.line, event.column)))
        top.key = event

    def start(self, event: Event) -> None:
        """Open a list or mapping."""
        self.open.append(_Open(event, [] if event.kind == "list" else {}, {}))
        if len(self.open) > MAX_DEPTH:
            refuse(f"nested deeper than the limit of {MAX_DEPTH}", event)
        self.name(event, None)

    def close(self) -> None:
        """Close the innermost container and add it to the one around it."""
        done = self.open.pop()
        mark = Mark(done.event.line, done.event.column, done.entries)
        self.add(done.event, Built(done.value, mark, done.size, done.height))

    def add(self, event: Event, built: Built) -> None:
        """Put a finished value into the innermost container."""
        if event.kind != "alias":
            self.name(event, built)
        if not self.open:
            self.root = built
            return
        top = self.open[-1]
        top.size += built.size
        top.height = max(top.height, built.height + 1)
        if isinstance(top.value, list):
            top.entries[len(top.value)] = (event.line, event.column, built.mark)
            top.value.append(built.value)
        elif top.key is not None:
            top.entries[top.key.text] = (top.key.line, top.key.column, built.mark)
            top.value[top.key.text] = built.value
            top.key = None

    def name(self, event: Event, built: Built | None) -> None:
        """Remember what an anchor stands for; `None` while it is still being read."""
        if event.anchor is not None:
            self.anchors[event.anchor] = built

    def expand(self, event: Event) -> Built:
        """What an alias stands for, within the limits."""
        if event.text not in self.anchors:
            refuse(f"the alias `*{shorten(event.text)}` has no anchor `&{shorten(event.text)}` before it", event)
        built = self.anchors[event.text]
        if built is None:
            refuse(f"the alias `*{shorten(event.text)}` stands inside its own anchor", event)
        self.aliased += built.size
        if self.aliased > MAX_ALIASED:
            refuse(f"the aliases stand for more than {MAX_ALIASED} values, which is the limit", event)
        if len(self.open) + built.height > MAX_DEPTH:
            refuse(f"nested deeper than the limit of {MAX_DEPTH}", event)
        return built
