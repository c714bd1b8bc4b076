"""The floor of grading a file: decode its records by type, with arguments as dicts, and encode the same results.

Nothing that reads such records with the fastest decoder known and writes such results can be faster in Python.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

CHUNK = 256 * 1024


class Call(msgspec.Struct):
    """A call, expected or made."""

    name: str
    arguments: dict[str, Any]


class Record(msgspec.Struct):
    """A record as the file has it."""

    id: str
    prompt: str
    expected_tool_calls: list[Call]
    tool_calls: list[Call]
    output: str


_decode = msgspec.json.Decoder(Record).decode_lines
_encode = msgspec.json.Encoder().encode_lines


def chunks(path: Path) -> Iterator[bytes]:
    """The file in pieces of whole lines, each about a quarter of a megabyte."""
    rest = b""
    with path.open("rb") as file:
        while piece := file.read(CHUNK):
            cut = piece.rfind(b"\n") + 1
            yield rest + piece[:cut]
            rest = piece[cut:]
    if rest:
        yield rest


def decode(path: Path) -> None:
    """Decode a file by type, chunk by chunk, keeping nothing."""
    for chunk in chunks(path):
        _decode(chunk)


def standard_library(path: Path) -> None:
    """Decode a file with `json.loads`, line by line."""
    with path.open("rb") as file:
        for line in file:
            json.loads(line)


def encode_seconds(results: Path, output: Path) -> float:
    """The processor seconds of encoding the results of a run again and writing them."""
    taken = 0.0
    decode_results = msgspec.json.Decoder(Any).decode_lines
    with output.open("wb") as file:
        for chunk in chunks(results):
            values = decode_results(chunk)
            started = time.process_time()
            file.write(_encode(values))
            taken += time.process_time() - started
    return taken
