"""Server-sent events as they come in, piece by piece (WHATWG HTML, 9.2.6).

https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

DONE: Final = "[DONE]"
"""What several providers send as the last event."""

_END: Final = re.compile(rb"\r\n|\n|\r")


class Event(msgspec.Struct, frozen=True):
    """One event: its name, empty if it has none, and its data."""

    name: str = ""
    data: str = ""


class Events:
    """Bytes of a stream of events, fed as they come."""

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
        text = value.removeprefix(b" ").decode("utf-8", "replace")
        if field == b"data":
            self._data.append(text)
        elif field == b"event":
            self._name = text
        return None

    def _event(self) -> Event | None:
        event = Event(self._name, "\n".join(self._data)) if self._data else None
        self._name, self._data = "", []
        return event
