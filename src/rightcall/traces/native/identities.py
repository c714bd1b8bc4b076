"""The ids of native records, read without the rest of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from rightcall.traces import documents


class _Identity(msgspec.Struct):
    id: str = ""


_decode = msgspec.json.Decoder(_Identity).decode


def identities(chunks: Iterable[bytes]) -> Iterator[str] | None:
    """The id of every record that has one and can be read, in order; `None` if records are not one a line."""
    head, chunks = documents.peek(chunks)
    return _of_lines(chunks) if documents.is_lines(head) else None


def _of_lines(chunks: Iterable[bytes]) -> Iterator[str]:
    for block in documents.blocks(chunks):
        for line in block.data.split(b"\n"):
            try:
                identity = _decode(line).id
            except (msgspec.DecodeError, RecursionError, ValueError):
                continue
            if identity:
                yield identity
