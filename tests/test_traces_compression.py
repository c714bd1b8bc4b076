"""Compressed traces read as what is in them; what is cut off or damaged is never taken for a whole trace."""

from __future__ import annotations

import contextlib
import gzip
import json
import sys
import tracemalloc
import types
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import MissingExtraError, TraceError
from support import corpus

gzipped = partial(gzip.compress, mtime=0)
"""The same bytes whenever they are made: cases are named after them."""

PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzipped,
    "Zstandard": zstandard.compress,
    "Zstandard in gzip": lambda data: gzipped(zstandard.compress(data)),
}
RECORDS = b"".join(
    json.dumps({"id": f"r{number}", "tool_calls": [{"name": "a", "arguments": {"x": number}}]}).encode() + b"\n"
    for number in range(200)
)


def read(data: bytes, size: int = 4096) -> list[Trajectory | TraceError]:
    chunks = [data[start : start + size] for start in range(0, len(data), size)]
    return list(traces.read(chunks, file="f"))


def plain(items: list[Trajectory | TraceError]) -> list[Any]:
    return [str(item) if isinstance(item, TraceError) else msgspec.to_builtins(item) for item in items]


@pytest.mark.parametrize("entry", corpus.everything())
def test_a_compressed_trace_reads_as_the_trace_in_it(entry: corpus.Entry | None) -> None:
    """Every file that can be read is read the same and detected the same, in each compression and in two."""
    entry = corpus.present(entry)
    if entry.reader is None:
        pytest.skip("it is no trace")
    data = entry.path.read_bytes()
    expected = plain(read(data))
    for pack in PACKED.values():
        assert plain(read(pack(data))) == expected
        assert traces.detect(pack(data)) == entry.reader


@pytest.mark.parametrize("pack", [gzipped, zstandard.compress])
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_members_one_after_another_are_one_text(pack: Callable[[bytes], bytes], size: int) -> None:
    """As appending programs write them, also cut in the middle of a line, and whatever the chunks are."""
    parts = [RECORDS[start : start + 900] for start in range(0, len(RECORDS), 900)]
    assert plain(read(b"".join(map(pack, parts)), size)) == plain(read(RECORDS))


@pytest.mark.parametrize(
    "data",
    [
        gzipped(RECORDS) + bytes(512),
        b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + zstandard.compress(RECORDS),
        zstandard.ZstdCompressor(write_content_size=False, write_checksum=True).compress(RECORDS),
    ],
    ids=["zeros after gzip, as tapes pad", "a frame to skip first", "a frame with a checksum and without a size"],
)
def test_what_the_formats_allow_around_their_data_is_read(data: bytes) -> None:
    """Padding and skipped frames hold nothing."""
    assert plain(read(data)) == plain(read(RECORDS))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzipped(RECORDS)[:-300], "the gzip data is cut off: it ends after {} bytes, within what it holds"),
        (gzipped(RECORDS)[:-1], "the gzip data is cut off: it ends after {} bytes, within what it holds"),
        (gzipped(RECORDS) + b"more", "the gzip data is damaged before byte {}: "),
        (
            zstandard.compress(RECORDS) + zstandard.compress(RECORDS)[:-1],
            "the Zstandard data is cut off: it ends after {} bytes, within what it holds",
        ),
        (zstandard.compress(RECORDS) + b"more", "the Zstandard data is damaged before byte {}: "),
    ],
    ids=["gzip cut", "gzip without its last byte", "gzip and more", "Zstandard cut", "more"],
)
def test_what_was_read_before_the_damage_has_a_gap_and_an_error_follows(data: bytes, message: str) -> None:
    """A file that stops in the middle never looks like a whole one (G12, G39)."""
    *items, last = read(data, 100_000)
    assert isinstance(last, TraceError)
    assert message.format(len(data)) in str(last)
    assert last.where.file == "f"
    made = [item for item in items if isinstance(item, Trajectory)]
    assert made
    assert [item.id for item in made[:200]] == [f"r{number}" for number in range(len(made[:200]))]
    assert all(last.message in gap for item in made for gap in item.gaps[-1:] or [""])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzipped(RECORDS)[:12], "the gzip data is cut off"),
        (gzipped(RECORDS)[:-8] + bytes(8), "the gzip data is damaged before byte .*: .*incorrect data check"),
        (zstandard.compress(RECORDS)[:8], "the Zstandard data is cut off"),
        (b"\x1f\x8b\x08\x00", "the gzip data is cut off"),
    ],
)
def test_damage_before_anything_is_read_refuses_the_file(data: bytes, message: str) -> None:
    """There is nothing that an error could stand among (G39)."""
    with pytest.raises(TraceError, match=message):
        read(data)


def test_a_document_that_is_cut_off_in_its_compression_is_refused_for_that() -> None:
    """The cause is told, not that the JSON in it ends too early."""
    document = json.dumps([{"role": "user", "content": str(number) * 9} for number in range(500)]).encode()
    with pytest.raises(TraceError, match="the gzip data is cut off"):
        read(gzipped(document)[:-20])


def test_three_layers_are_refused() -> None:
    """Nobody compresses so, but who makes bombs."""
    with pytest.raises(TraceError, match="the file is compressed more than 2 times; unpack it first"):
        read(gzipped(gzipped(gzipped(RECORDS))))


@given(st.sampled_from(list(PACKED)), st.integers(0, 4000), st.integers(0, 4000), st.integers(0, 255))
def test_damaged_compression_never_reads_as_a_whole_trace(name: str, cut: int, at: int, value: int) -> None:
    """Cut anywhere, with any byte changed: declared errors, and nothing that was whole before without one (G5, G12)."""
    whole = PACKED[name](RECORDS)
    data = bytearray(whole[: cut % len(whole)])
    if data:
        data[at % len(data)] = value
    with contextlib.suppress(TraceError):
        items = read(bytes(data))
        assert not items or isinstance(items[-1], TraceError)


def bomb(pack: Callable[[], Any], text: bytes, pieces: int) -> Iterator[bytes]:
    """The compressed bytes of a text that is repeated, made as they are asked for."""
    packing = pack()
    for _ in range(pieces):
        yield packing.compress(text)
    yield packing.flush()


def _gzip() -> Any:
    import zlib

    return zlib.compressobj(1, wbits=31)


def _zstandard() -> Any:
    return zstandard.ZstdCompressor(level=1).compressobj()


@pytest.mark.parametrize("pack", [_gzip, _zstandard])
@pytest.mark.parametrize(
    ("text", "pieces", "message"),
    [
        (bytes(1024 * 1024), 1024, "this is binary data"),
        (b"a" * 1024 * 1024, 300, "the format is not known"),
        (b'{"tool_calls": [' + b" " * 1024 * 1024, 300, "larger than the limit of"),
    ],
    ids=["zeros", "a line without end", "a record without end"],
)
def test_a_bomb_is_an_error_within_bounded_memory(
    pack: Callable[[], Any], text: bytes, pieces: int, message: str
) -> None:
    """A gibibyte in few bytes is given up at the limits, and never held (G8)."""
    data = b"".join(bomb(pack, text, pieces))
    assert len(data) < 8 * 1024 * 1024
    tracemalloc.start()
    with pytest.raises(TraceError, match=message):
        list(traces.read([data]))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 96 * 1024 * 1024


def test_blank_bombs_hold_no_trajectory() -> None:
    """White space is passed over, however much there is."""
    assert list(traces.read(bomb(_zstandard, b" " * 1024 * 1024, 256))) == []


def test_without_a_library_for_zstandard_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the file, since it may be one of a directory."""
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    with pytest.raises(
        MissingExtraError, match=r"compressed with Zstandard needs the extra `bulk`: pip install 'right"
    ):
        read(zstandard.compress(RECORDS))


class Decompressor:
    """What Python 3.14 offers, over the package: output has a limit, and the rest is asked for without input."""

    def __init__(self) -> None:
        self._inner = zstandard.ZstdDecompressor().decompressobj()
        self._waiting = b""

    @property
    def eof(self) -> bool:
        return self._inner.eof and not self._waiting

    @property
    def needs_input(self) -> bool:
        return not self._waiting

    @property
    def unused_data(self) -> bytes:
        return bytes(self._inner.unused_data)

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        if data:
            self._waiting += self._inner.decompress(data)
        given, self._waiting = self._waiting[:max_length], self._waiting[max_length:]
        return given


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the real one is there")
def test_the_standard_library_is_used_where_it_has_zstandard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then no package is needed, and long output still comes in pieces."""
    library = types.ModuleType("compression.zstd")
    vars(library).update(ZstdDecompressor=Decompressor, ZstdError=zstandard.ZstdError)
    monkeypatch.setitem(sys.modules, "compression", types.ModuleType("compression"))
    monkeypatch.setitem(sys.modules, "compression.zstd", library)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    long = RECORDS * 40
    data = zstandard.compress(long) + zstandard.compress(RECORDS)
    assert plain(read(data)) == plain(read(long + RECORDS))


def test_a_value_in_memory_may_be_compressed() -> None:
    """What was read from a file is read like the file."""
    record = b'{"tool_calls": [{"name": "a", "arguments": {}}]}'
    assert traces.read_object(gzipped(record)) == traces.read_object(record)
