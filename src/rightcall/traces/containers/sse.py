"""Captured streams as JSON lines: server-sent events (WHATWG HTML, 9.2), and the older data stream of Vercel's SDK.

Every line becomes one line, so that places stay those of the file: the data of an event stands where its last line
stood, everything that carries no data becomes blank. A line that is neither stays as it is, for the reader to refuse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from rightcall.core import jsontext
from rightcall.errors import TraceError, Where
from rightcall.traces import documents

_EVENTS = re.compile(rb"(?:[ \t]*\r?\n|(?:event|id|retry|data)?:[^\n]*\n)*?data:[ \t]*[\[{]")
_FIELD = re.compile(rb"(?:event|id|retry)(?::.*)?\r?|:.*", re.DOTALL)
_DONE: Final = b"[DONE]"

_PARTS_BEGIN = re.compile(rb'(?:f:\{"messageId"|[0-9a-k]:["\[{][^\n]*\n[0-9a-k]:["\[{])')
_PART = re.compile(rb"([0-9a-k]):\s*(.*?)\s*", re.DOTALL)
_PARTS: Final = {
    b"0": (b"text-delta", b"text"),
    b"2": (b"data", b"data"),
    b"3": (b"error", b"errorText"),
    b"8": (b"message-annotations", b"data"),
    b"9": (b"tool-call", b""),
    b"a": (b"tool-result", b""),
    b"b": (b"tool-call-streaming-start", b""),
    b"c": (b"tool-call-delta", b""),
    b"d": (b"finish", b""),
    b"e": (b"step-finish", b""),
    b"f": (b"step-start", b""),
    b"g": (b"reasoning", b"text"),
    b"h": (b"source", b"source"),
    b"i": (b"redacted-reasoning", b"data"),
    b"j": (b"reasoning-signature", b"data"),
    b"k": (b"file", b"file"),
}
"""The parts of the data stream by their codes: the type of each, and the key for a value that is kept whole."""


def claims(head: bytes) -> bool:
    """Whether bytes begin a capture of events with JSON in them, or a data stream."""
    text = head.lstrip()
    return _EVENTS.match(text) is not None or _PARTS_BEGIN.match(text) is not None


def lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The capture as JSON lines."""
    head, chunks = documents.peek(chunks)
    if _PARTS_BEGIN.match(head.lstrip()):
        return _parts(chunks)
    return _events(chunks)


def _blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Whole lines; a line that is too large for any reader ends the capture."""
    for block in documents.blocks(chunks, documents.MAX_DOCUMENT):
        if block.oversized:
            raise TraceError(f"the line is larger than {documents.MOST}", Where(line=block.line))
        yield block.data


def _events(chunks: Iterable[bytes]) -> Iterator[bytes]:
    events = _Events()
    for block in _blocks(chunks):
        *whole, last = block.split(b"\n")
        yield b"".join([part for line in whole for part in events.take(line)])
        if last:
            yield b"".join(events.take(last))
    yield events.end()


class _Events:
    """Lines of events one by one. The data of an event is held until a line shows that no more of it follows."""

    def __init__(self) -> None:
        self._data: bytes | None = None

    def take(self, line: bytes) -> Iterator[bytes]:
        """The lines that are known now that this one has come."""
        if line.startswith(b"data:"):
            yield from self._with_data(line[5:].strip())
            return
        if self._data is not None:
            yield self.end() + b"\n"
        if line.strip() and not _FIELD.fullmatch(line):
            yield line
        yield b"\n"

    def _with_data(self, data: bytes) -> Iterator[bytes]:
        if self._data is None:
            self._data = data
        elif data == _DONE or _is_whole(self._data):
            # Captures without blank lines between their events are common: an event that is whole has ended.
            yield self.end() + b"\n"
            self._data = data
        else:
            # A carriage return is what a line feed is to JSON, and ends no line here.
            yield b"\n"
            self._data = self._data + b"\r" + data

    def end(self) -> bytes:
        """What is still held."""
        data, self._data = self._data, None
        return b"" if data is None or data == _DONE else data


def _is_whole(data: bytes) -> bool:
    try:
        jsontext.decode(data)
    except jsontext.JSONError:
        return data == _DONE
    return True


def _parts(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for block in _blocks(chunks):
        yield b"\n".join(map(_part, block.split(b"\n")))


def _part(line: bytes) -> bytes:
    """One part of a data stream as the object that newer versions write for it."""
    found = _PART.fullmatch(line)
    if found is None:
        return line
    kind, key = _PARTS[found[1]]
    if key or found[2][:1] != b"{":
        return b'{"type":"%b","%b":%b}' % (kind, key or b"value", found[2])
    rest = found[2][1:].lstrip()
    return b'{"type":"%b"%b%b' % (kind, b"" if rest.startswith(b"}") else b",", rest)
