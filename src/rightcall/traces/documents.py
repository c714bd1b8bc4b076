"""Bytes into JSON values with their places: one value a line, one document, or documents one after another.

Nothing larger than the declared limits is kept: an oversized line is skipped while it streams by (G8).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeVar

import msgspec

from rightcall.core import jsontext
from rightcall.errors import TraceError, Where
from rightcall.traces import splitting

MAX_RECORD: Final = 10 * 1024 * 1024
"""Bytes of one record: a line, or an element of an array of records (G8)."""

MAX_DOCUMENT: Final = 256 * 1024 * 1024
"""Bytes of one document that must be held whole, such as an export of many spans."""

MOST: Final = f"the limit of {MAX_DOCUMENT // 2**20} MiB"
"""How messages call the limit of a document."""

MAX_CALLS: Final = 100_000
"""Calls of one trajectory (G8)."""

HEAD: Final = 64 * 1024
"""Bytes from the start that decide the format and the layout."""

_BLANK: Final = 1024
"""Bytes of white space that the head may begin with: a few may be more than that, as in protobuf."""

_PIECE: Final = 256 * 1024
_BOM: Final = b"\xef\xbb\xbf"
_UNREADABLE_LINES: Final = 10_000

_Item = TypeVar("_Item")


class Document(msgspec.Struct, frozen=True):
    """A JSON value, the 1-based line it starts on, and its size in bytes."""

    value: Any
    line: int
    size: int


class Block(msgspec.Struct, frozen=True):
    """Whole lines. `oversized` is one line beyond the limit, of which `data` is only the beginning."""

    data: bytes
    line: int
    oversized: bool = False
    ended: bool = True


def peek(chunks: Iterable[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, at most `HEAD`, and all chunks again, without a byte order mark.

    More than a little white space is passed over: the head begins after it. Of blank chunks beyond `HEAD` only the
    line feeds are given again, so that lines keep their numbers and memory its bounds.
    """
    source = _without_mark(chunks)
    blank, taken = list[bytes](), list[bytes]()
    lead = size = feeds = 0
    for chunk in source:
        text = chunk if taken else chunk.lstrip()
        if text:
            taken.append(chunk)
        elif lead < HEAD:
            blank.append(chunk)
        else:
            feeds += chunk.count(b"\n")
        lead, size = lead + len(chunk) - len(text), size + len(text)
        if size >= HEAD:
            break
    start = b"".join(taken)
    head = start.lstrip() if lead > _BLANK else b"".join([*blank, start])
    lines_ = (b"\n" * min(_PIECE, feeds - given) for given in range(0, feeds, _PIECE))
    return head[:HEAD], itertools.chain(blank, lines_, [start] if start else [], source)


def whole(chunks: Iterable[bytes]) -> bytes:
    """All bytes of what can only be read whole; `TraceError` beyond the limit of a document."""
    taken, size = list[bytes](), 0
    for chunk in chunks:
        taken.append(chunk)
        size += len(chunk)
        if size > MAX_DOCUMENT:
            raise TraceError(f"the file can only be read whole, and is larger than {MOST}; split it")
    return b"".join(taken)


def _without_mark(chunks: Iterable[bytes]) -> Iterator[bytes]:
    source, first = iter(chunks), b""
    while len(first) < len(_BOM) and (chunk := next(source, None)) is not None:
        first += chunk
    first = first.removeprefix(_BOM)
    return itertools.chain([first] if first else [], source)


def documents(chunks: Iterable[bytes], limit: int = MAX_RECORD) -> Iterator[Document | TraceError]:
    """Every JSON value, in order. `limit` is the size of one line.

    A line that cannot be read is yielded as an error; a document that cannot be read is raised.
    """
    head, chunks = peek(chunks)
    if is_lines(head):
        yield from readable(item for block in blocks(chunks, limit) for item in lines(block, limit))
    else:
        yield from _values(chunks)


def is_lines(head: bytes) -> bool:
    """Whether each line is a value of its own, rather than one value running over several lines."""
    text = head.lstrip()
    first, newline, rest = text.partition(b"\n")
    if not newline and len(head) >= HEAD:
        return not text.startswith(b"[")
    if not first or _is_json(first):
        return True
    following = [line for line in rest.split(b"\n")[:-1] if line.strip()] or [rest]
    all_ = following if len(head) >= HEAD else [line for line in rest.split(b"\n") if line.strip()]
    if first[:1] not in b"{[" or (first[:1] == b"{" and _are_records(all_)):
        return True
    return len(first.strip()) > 1 and all(line[:1] == b"{" and _is_json(line) for line in following[:2])


def _are_records(lines_: list[bytes]) -> bool:
    """Whether every line begins an object, and one of them writes a whole one: then others are broken records."""
    return all(line[:1] == b"{" for line in lines_) and any(map(_is_json, lines_))


def _is_json(line: bytes) -> bool:
    try:
        jsontext.decode(line, max_depth=1000)
    except jsontext.JSONError:
        return False
    return True


def blocks(chunks: Iterable[bytes], limit: int = MAX_RECORD) -> Iterator[Block]:
    """Cut a stream into blocks of whole lines, about 256 KiB each where lines are short."""
    number, held, size, skipping = 1, list[bytes](), 0, False
    for piece in _pieces(chunks):
        if skipping:
            _, newline, piece = piece.partition(b"\n")
            number += len(newline)
            skipping = not newline
        cut = piece.rfind(b"\n") + 1
        if cut:
            data = b"".join([*held, piece[:cut]])
            yield Block(data, number)
            number += data.count(b"\n")
            held, size = [], 0
        held.append(piece[cut:])
        size += len(piece) - cut
        if size > limit:
            yield Block(b"".join(held)[:_PIECE], number, oversized=True)
            held, size, skipping = [], 0, True
    rest = b"".join(held)
    if rest.strip():
        yield Block(rest, number, ended=False)


def _pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        if len(chunk) <= _PIECE:
            yield chunk
        else:
            for start in range(0, len(chunk), _PIECE):
                yield chunk[start : start + _PIECE]


def lines(block: Block, limit: int = MAX_RECORD) -> Iterator[Document | TraceError]:
    """Read the lines of a block one by one; blank lines are no values."""
    if block.oversized:
        yield _too_large(block.data, block.line, limit)
        return
    for number, text in enumerate(block.data.split(b"\n"), block.line):
        if text and not text.isspace():
            yield line(text, number, block.ended, limit)


def line(text: bytes, number: int, ended: bool = True, limit: int = MAX_RECORD) -> Document | TraceError:
    """Read one line. `ended` says whether it, or a line after it, has its line feed."""
    if len(text) > limit:
        return _too_large(text, number, limit)
    try:
        return Document(jsontext.decode(text), number, len(text))
    except jsontext.JSONError as error:
        cut = "" if ended else "the last line is cut off, or "
        where = Where(line=number, column=error.column if error.line == 1 else None)
        return TraceError(f"{cut}{error.message}", where, record_id(text))


def _too_large(line: bytes, number: int, limit: int) -> TraceError:
    message = f"the record is larger than the limit of {limit // (1024 * 1024)} MiB"
    return TraceError(message, Where(line=number), record_id(line))


def within_limit(value: Any, document: Document) -> Any:
    """One record of a document as it stands; `TraceError` if it is larger than the limit of a record (G8).

    A record that is the whole document is as large as its text, an element as large as its value written tightly.
    """
    if document.size > MAX_RECORD:
        check_size(document.size if value is document.value else len(jsontext.encode(value)))
    return value


def check_size(size: int) -> None:
    """`TraceError` if a record of so many bytes is larger than the limit of a record (G8)."""
    if size > MAX_RECORD:
        raise TraceError(f"the record is larger than the limit of {MAX_RECORD // (1024 * 1024)} MiB")


def too_many_calls(count: int, path: str = "", record_id: str | None = None) -> TraceError | None:
    """What is wrong with a trajectory of so many calls, if they are more than the limit (G8)."""
    if count <= MAX_CALLS:
        return None
    return TraceError(f"{count:,} calls are more than the limit of {MAX_CALLS:,}", Where(path=path), record_id)


_ID = re.compile(
    rb'\s*\{(?:\s*"(?:[^"\\]|\\.)*+"\s*:\s*(?:"(?:[^"\\]|\\.)*+"|[-+.\w]++)\s*,)*?\s*"id"\s*:\s*("(?:[^"\\]|\\.)*+")'
)


def record_id(line: bytes) -> str | None:
    """The `id` of a broken record, where it stands before anything that is nested."""
    found = _ID.match(line[:_PIECE])
    try:
        return str(jsontext.decode(found[1])) if found else None
    except jsontext.JSONError:
        return None


def readable(items: Iterable[_Item | TraceError]) -> Iterator[_Item | TraceError]:
    """The same items, but raise if nothing among them can be read: then it is no file of lines at all."""
    held: list[TraceError] = []
    source = iter(items)
    for item in source:
        if not isinstance(item, TraceError):
            yield from held
            yield item
            yield from source
            return
        held.append(item)
        if len(held) > _UNREADABLE_LINES:
            break
    if held:
        raise held[0]


def _values(chunks: Iterable[bytes]) -> Iterator[Document | TraceError]:
    for number, (data, line, complete) in enumerate(_split(chunks)):
        item = _document(data, line, complete)
        if isinstance(item, TraceError) and number == 0:
            raise item
        yield item


def _document(data: bytes, line: int, complete: bool) -> Document | TraceError:
    try:
        return Document(jsontext.decode(data, max_depth=900), line, len(data))
    except jsontext.JSONError as error:
        cut = "" if complete else "the document is cut off, or "
        at = Where(line=line + (error.line or 1) - 1, column=error.column)
        return TraceError(f"{cut}{error.message}", at)


def _split(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, int, bool]]:
    """Cut where one top-level value ends and the next begins: the value, its line, whether it is complete."""
    held, size, line = list[bytes](), 0, 1
    for piece, ends in splitting.ends(_pieces(chunks)):
        start = 0
        for end in ends:
            data = b"".join([*held, piece[start:end]])
            yield data, line + _leading_lines(data), True
            line += data.count(b"\n")
            held, size, start = [], 0, end
        held.append(piece[start:])
        size += len(piece) - start
        if size > MAX_DOCUMENT:
            raise TraceError(f"one document is larger than {MOST}; write one record or request a line")
    data = b"".join(held)
    if data.strip():
        yield data, line + _leading_lines(data), False


def _leading_lines(data: bytes) -> int:
    return data.count(b"\n", 0, len(data) - len(data.lstrip()))
