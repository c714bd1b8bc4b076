"""Compressed traces, told by their first bytes: gzip (RFC 1952) and Zstandard (RFC 8878), unpacked piece by piece.

Members and frames one after another are one text, as their formats say. What is cut off or damaged is a `TraceError`
with the compressed byte near which that showed, after everything before it was given.
"""

from __future__ import annotations

import importlib
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Protocol

import msgspec

from rightcall.errors import MissingExtraError, TraceError

LAYERS: Final = 2
"""How often a trace may be compressed, one around the other."""

_PIECE: Final = 256 * 1024
_TAKEN: Final = 16 * 1024
_MAGIC: Final = 4

_SLICE: Final = 512
"""Compressed bytes given to `zstandard` at once: its output is not limited, but no more than 32,768 times as large."""


class _Member(Protocol):
    """What unpacks one member or frame: `ended` after its last byte, `rest` what was given beyond that."""

    @property
    def ended(self) -> bool: ...

    @property
    def rest(self) -> bytes: ...

    def feed(self, data: bytes) -> Iterator[bytes]: ...


class _Kind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of compression: `failures` are the exceptions of its library."""

    name: str
    magic: re.Pattern[bytes]
    member: Callable[[], _Member]
    failures: Callable[[], tuple[type[Exception], ...]]
    padding: bytes = b""


def is_compressed(head: bytes) -> bool:
    """Whether bytes begin like gzip or Zstandard."""
    return _kind(head) is not None


def unpacked(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, or what they hold if they are compressed, in pieces that are bounded however much they hold."""
    for _ in range(LAYERS + 1):
        start, chunks = _begun(chunks)
        kind = _kind(start)
        if kind is None:
            return iter(chunks)
        chunks = _unpacked(kind, chunks)
    raise TraceError(f"the file is compressed more than {LAYERS} times; unpack it first")


def _begun(chunks: Iterable[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, enough to know the kind by, and all chunks again."""
    source, start = iter(chunks), b""
    while len(start) < _MAGIC and (chunk := next(source, None)) is not None:
        start += chunk
    return start, itertools.chain([start] if start else [], source)


def _kind(start: bytes) -> _Kind | None:
    return next((kind for kind in KINDS if kind.magic.match(start)), None)


def _unpacked(kind: _Kind, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """What the members hold, one after another. They may be followed by padding, but by nothing else."""
    member: _Member | None = None
    at = 0
    for data in _small(chunks):
        at += len(data)
        while data:
            if member is None:
                data = data.lstrip(kind.padding) if kind.padding else data
                member = kind.member() if data else None
            if member is not None:
                yield from _fed(kind, member, data, at)
                data = member.rest if member.ended else b""
                member = None if member.ended else member
    if member is not None:
        raise TraceError(f"the {kind.name} data is cut off: it ends after {at} bytes, within what it holds")


def _small(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        for start in range(0, len(chunk), _TAKEN):
            yield chunk[start : start + _TAKEN]


def _fed(kind: _Kind, member: _Member, data: bytes, at: int) -> Iterator[bytes]:
    pieces = member.feed(data)
    while True:
        try:
            piece = next(pieces, None)
        except kind.failures() as error:
            raise TraceError(f"the {kind.name} data is damaged before byte {at}: {error}") from None
        if piece is None:
            return
        if piece:
            yield piece


class _Gzip:
    """A member of gzip. Its checksum and size are checked at its end."""

    def __init__(self) -> None:
        import zlib

        self._member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)

    @property
    def ended(self) -> bool:
        return self._member.eof

    @property
    def rest(self) -> bytes:
        return self._member.unused_data

    def feed(self, data: bytes) -> Iterator[bytes]:
        full = True
        while (data or full) and not self._member.eof:
            piece = self._member.decompress(data, _PIECE)
            data, full = self._member.unconsumed_tail, len(piece) == _PIECE
            yield piece


class _Frame:
    """A frame of Zstandard by the standard library, which has it since Python 3.14."""

    def __init__(self, library: Any) -> None:
        self._frame = library.ZstdDecompressor()

    @property
    def ended(self) -> bool:
        return bool(self._frame.eof)

    @property
    def rest(self) -> bytes:
        return bytes(self._frame.unused_data)

    def feed(self, data: bytes) -> Iterator[bytes]:
        while not self._frame.eof:
            yield self._frame.decompress(data, _PIECE)
            data = b""
            if self._frame.needs_input:
                return


class _PackageFrame:
    """A frame of Zstandard by the package `zstandard`."""

    def __init__(self, library: Any) -> None:
        self._frame = library.ZstdDecompressor().decompressobj()
        self.rest = b""

    @property
    def ended(self) -> bool:
        return bool(self._frame.eof)

    def feed(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), _SLICE):
            yield self._frame.decompress(data[start : start + _SLICE])
            if self._frame.eof:
                self.rest = self._frame.unused_data + data[start + _SLICE :]
                return


def _library() -> tuple[Any, Callable[[Any], _Member]]:
    """The library for Zstandard, and what reads a frame with it; `MissingExtraError` if there is none."""
    try:
        return importlib.import_module("compression.zstd"), _Frame
    except ImportError:
        pass
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError("reading what is compressed with Zstandard", "bulk") from None
    return zstandard, _PackageFrame


def _frame() -> _Member:
    library, member = _library()
    return member(library)


def _failures_of_zlib() -> tuple[type[Exception], ...]:
    import zlib

    return (zlib.error,)


def _failures_of_zstandard() -> tuple[type[Exception], ...]:
    return (_library()[0].ZstdError,)


KINDS: Final[tuple[_Kind, ...]] = (
    _Kind(name="gzip", magic=re.compile(rb"\x1f\x8b"), member=_Gzip, failures=_failures_of_zlib, padding=b"\0"),
    _Kind(
        name="Zstandard",
        # A file may begin with a frame that readers are to skip.
        magic=re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),
        member=_frame,
        failures=_failures_of_zstandard,
    ),
)
"""The kinds of compression that are unpacked."""
