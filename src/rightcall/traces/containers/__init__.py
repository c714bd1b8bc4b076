"""What traces come packed in, taken off before any format looks at them, so that every format can come in it.

Compression, captures of streams, OTLP in protobuf, logs of HTTP and tables become JSON, one value a line. What stops in
the middle (cut off, damaged, a connection that broke) ends the text there, and is never taken for a whole trace.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec

from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from rightcall.traces import documents
from rightcall.traces.containers import compression, http_logs, protobuf, sse, tables

__all__ = ["Source", "head_of"]


class Container(msgspec.Struct, frozen=True):
    """A container: whether bytes begin one, and the JSON lines that it holds."""

    claims: Callable[[bytes], bool]
    lines: Callable[[Iterable[bytes]], Iterator[bytes]]


CONTAINERS: Final[tuple[Container, ...]] = (
    Container(sse.claims, sse.lines),
    Container(protobuf.claims, protobuf.lines),
    Container(http_logs.claims, http_logs.lines),
    Container(tables.claims, tables.lines),
)
"""Every container of JSON. A file is given to the first that knows it."""


class Source:
    """The bytes of a trace out of what they come in, to be iterated once.

    What stops them is kept in `damage` instead of being raised, one chunk before the last ones are given: what is
    made of a small file, or of the end of a large one, can say so. `format` is the name of the format that reads
    them, once that is known, and `lines` how many lines of text were given so far.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self.damage: TraceError | None = None
        self.format = ""
        self._chunks = chunks
        self._feeds = 0
        self._last = b"\n"

    @property
    def lines(self) -> int:
        """The last one counts without its line feed too."""
        return self._feeds + (not self._last.endswith(b"\n"))

    def __iter__(self) -> Iterator[bytes]:
        plain = self._until_damage(lambda: compression.unpacked(self._chunks))
        for chunk in self._until_damage(lambda: _lines(plain)):
            self._feeds += chunk.count(b"\n")
            self._last = chunk[-1:]
            yield chunk

    def _until_damage(self, begin: Callable[[], Iterable[bytes]]) -> Iterator[bytes]:
        held = b""
        try:
            for chunk in begin():
                if held:
                    yield held
                held = chunk
        except TraceError as error:
            # What stops the bytes also breaks what is made of them: the first is the cause.
            self.damage = self.damage or error
        if held:
            yield held

    def marked(self, item: Trajectory | TraceError) -> Trajectory | TraceError:
        """What a reader made after the damage was met: a trajectory gets a gap that says so."""
        if self.damage is None or isinstance(item, TraceError):
            return item
        gap = f"the file could not be read to its end: {self.damage.message}"
        return msgspec.structs.replace(item, gaps=(*item.gaps, gap))


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    head, chunks = documents.peek(chunks)
    container = next((one for one in CONTAINERS if one.claims(head)), None)
    return chunks if container is None else container.lines(chunks)


def head_of(start: bytes) -> bytes:
    """The first bytes of the text in a file, by the first bytes of the file; `TraceError` if they do not show it."""
    source = Source([start])
    head, _ = documents.peek(source)
    if head.strip() or source.damage is None:
        return head
    plain = _plain(start)
    if protobuf.claims(plain):
        return protobuf.signs(plain)
    raise source.damage


def _plain(start: bytes) -> bytes:
    """What of the first bytes can be unpacked."""
    pieces = list[bytes]()
    with contextlib.suppress(TraceError):
        pieces.extend(compression.unpacked([start]))
    return b"".join(pieces)[: documents.HEAD]
