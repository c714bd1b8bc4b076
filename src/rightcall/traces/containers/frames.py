"""Messages one after another, each with its size before it.

The file exporter of OpenTelemetry's collector writes a size as four bytes, the highest first, and may compress each
message alone; the protocol's own file format, like protobuf's `writeDelimitedTo`, writes it as a varint.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec

from rightcall.errors import TraceError
from rightcall.traces import documents
from rightcall.traces.containers import compression

_WIDTH: Final = 4
_VARINT = re.compile(rb"[\x80-\xff]{0,4}[\x00-\x7f]")

Known = Callable[[bytes], bool]
"""Whether bytes begin a message without a size before it."""


class Message(msgspec.Struct, frozen=True):
    """A message, and the byte of the file at which it starts."""

    data: bytes
    start: int


Layout = Callable[[bytes], tuple[int, int] | None]
"""How sizes are written: the size of the message at the beginning, and how many bytes tell it, if they are there."""


def _fixed(data: bytes) -> tuple[int, int] | None:
    return (int.from_bytes(data[:_WIDTH], "big"), _WIDTH) if len(data) >= _WIDTH else None


def _varint(data: bytes) -> tuple[int, int] | None:
    found = _VARINT.match(data[:5])
    if found is None:
        return None
    return sum((byte & 0x7F) << (7 * place) for place, byte in enumerate(found[0])), found.end()


LAYOUTS: Final[tuple[Layout, ...]] = (_fixed, _varint)
"""Every way in which sizes are written."""


def layout(head: bytes, known: Known) -> Layout | None:
    """How the sizes in a file are written by its first bytes; `None` if they begin no messages with sizes."""
    return next((one for one in LAYOUTS if _fits(one, head, known)), None)


def _fits(layout_: Layout, head: bytes, known: Known) -> bool:
    told = layout_(head)
    if told is None or told[0] < 2:
        return False
    size, width = told
    begin = head[width : width + size]
    return (compression.is_compressed(begin) and size <= documents.MAX_DOCUMENT) or known(begin)


def messages(chunks: Iterable[bytes], known: Known) -> Iterator[Message]:
    """Every message, unpacked if it is compressed alone; all bytes are one message if no size stands before them."""
    head, chunks = documents.peek(chunks)
    found = None if known(head) else layout(head, known)
    if found is None:
        yield Message(documents.whole(chunks), 0)
        return
    for message in _framed(chunks, found):
        yield Message(documents.whole(compression.unpacked([message.data])), message.start)


def _framed(chunks: Iterable[bytes], layout_: Layout) -> Iterator[Message]:
    held, at = bytearray(), 0
    for chunk in chunks:
        held += chunk
        taken = 0
        while (told := layout_(bytes(held[taken : taken + 5]))) is not None:
            size, width = told
            if size > documents.MAX_DOCUMENT:
                raise TraceError(f"the message at byte {at + taken} is larger than {documents.MOST}")
            if taken + width + size > len(held):
                break
            taken += width
            yield Message(bytes(held[taken : taken + size]), at + taken)
            taken += size
        del held[:taken]
        at += taken
    if held:
        raise TraceError(f"the file is cut off: the message at byte {at} is longer than what follows")
