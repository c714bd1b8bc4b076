"""Streams as they come in, piece by piece: server-sent events (WHATWG HTML, 9.2.6), and lines of JSON.

https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

from __future__ import annotations

import re
from typing import Final, Protocol

import msgspec

DONE: Final = "[DONE]"
"""What several providers send as the last event."""

_END: Final = re.compile(rb"\r\n|\n|\r")


class Event(msgspec.Struct, frozen=True):
    """One event: its name, empty if it has none, and its data."""

    name: str = ""
    data: str = ""


class Parts(Protocol):
    """Bytes of a stream, fed as they come."""

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that are whole with this chunk."""
        ...

    def end(self) -> list[Event]:
        """What is left when the stream has ended."""
        ...


class Lines:
    """Lines of JSON; each is an event without a name."""

    def __init__(self) -> None:
        self._left = b""

    def feed(self, chunk: bytes) -> list[Event]:
        """The lines that are whole with this chunk."""
        *lines, self._left = (self._left + chunk).split(b"\n")
        return [Event(data=_text(line)) for line in lines if line.strip()]

    def end(self) -> list[Event]:
        """The last line, if no line feed came after it."""
        return self.feed(b"\n")


class Events:
    """Server-sent events."""

    def __init__(self) -> None:
        self._left = b""
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that are whole with this chunk."""
        text = self._left + chunk
        # A carriage return at the end may be half an end of line.
        held = text[-1:] == b"\r"
        *lines, self._left = _END.split(text[:-1] if held else text)
        self._left += b"\r" if held else b""
        return [event for line in lines if (event := self._line(line)) is not None]

    def end(self) -> list[Event]:
        """The event that the stream ends with, if no blank line came after it."""
        lines = [*_END.split(self._left), b""]
        self._left = b""
        return [event for line in lines if (event := self._line(line)) is not None]

    def _line(self, line: bytes) -> Event | None:
        if not line:
            return self._event()
        field, _, value = line.removeprefix(b"\xef\xbb\xbf").partition(b":")
        text = _text(value.removeprefix(b" "))
        if field == b"data":
            self._data.append(text)
        elif field == b"event":
            self._name = text
        return None

    def _event(self) -> Event | None:
        event = Event(self._name, "\n".join(self._data)) if self._data else None
        self._name, self._data = "", []
        return event


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
