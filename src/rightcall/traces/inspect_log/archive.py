"""The samples of an `.eval` file, a zip archive whose members may be compressed with Zstandard."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from rightcall.core import jsontext
from rightcall.errors import TraceError, Where
from rightcall.traces import documents
from rightcall.traces.containers import compression

if TYPE_CHECKING:
    import zipfile

_MAGIC: Final = b"PK\x03\x04"
_ZSTANDARD: Final = 93
_MEMBER = re.compile(rb"(_journal/start\.json|samples/|header\.json)")


def is_archive(head: bytes) -> bool:
    """Whether the bytes begin a zip archive with the members of a log."""
    return head.startswith(_MAGIC) and _MEMBER.search(head) is not None


def samples(chunks: Iterable[bytes]) -> Iterator[tuple[str, Any]]:
    """The samples by the names of their members, in place of one that cannot be read its `TraceError`.

    `TraceError` for an archive that cannot be read, `MissingExtraError` without the library that it needs.
    """
    import zipfile

    data = documents.whole(chunks)
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError, EOFError) as error:
        raise TraceError(f"the archive is damaged or cut off: {error}") from None
    for info in archive.infolist():
        if info.filename.startswith("samples/") and info.filename.endswith(".json"):
            yield info.filename, _sample(archive, info, data)


def _sample(archive: zipfile.ZipFile, info: zipfile.ZipInfo, data: bytes) -> Any:
    try:
        return _decoded(_member(archive, info, data), info.filename)
    except TraceError as error:
        return error


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, data: bytes) -> bytes:
    import zipfile
    import zlib

    if info.file_size > documents.MAX_DOCUMENT:
        raise TraceError(f"the member is larger than {documents.MOST}", Where(path=info.filename))
    try:
        if info.compress_type == _ZSTANDARD:
            return _unpacked(_raw(info, data), info)
        return archive.read(info)
    except (
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        NotImplementedError,
        RuntimeError,
        OSError,
        EOFError,
    ) as error:
        raise TraceError(f"the member cannot be read: {error}", Where(path=info.filename)) from None


def _raw(info: zipfile.ZipInfo, data: bytes) -> bytes:
    """The compressed bytes of a member, which follow its local header."""
    names, extra = struct.unpack_from("<HH", data, info.header_offset + 26)
    start = info.header_offset + 30 + names + extra
    return data[start : start + info.compress_size]


def _unpacked(raw: bytes, info: zipfile.ZipInfo) -> bytes:
    import zlib

    pieces, size = list[bytes](), 0
    try:
        for piece in compression.unpacked([raw]):
            pieces.append(piece)
            size += len(piece)
            if size > info.file_size:
                break
    except TraceError as error:
        raise error.within(path=info.filename) from None
    unpacked = b"".join(pieces)
    if size != info.file_size or zlib.crc32(unpacked) != info.CRC:
        raise TraceError("the member is damaged: its size or its checksum is wrong", Where(path=info.filename))
    return unpacked


def _decoded(text: bytes, name: str) -> Any:
    try:
        return jsontext.decode(text, max_depth=900)
    except jsontext.JSONError as error:
        raise TraceError(error.message, Where(line=error.line, column=error.column, path=name)) from None
