"""OTLP in protobuf: our own decoder against an encoder of the same messages, and against damage."""

from __future__ import annotations

import contextlib
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall import traces
from rightcall.errors import TraceError
from support import corpus
from support.spanning import read_bytes, told

REAL = corpus.OWN.joinpath("openinference-otlp-pb", "1.pb").read_bytes()


def varint(number: int) -> bytes:
    number %= 2**64
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def block(field: int, data: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(data)) + data


def any_value(value: Any) -> bytes:
    """An `AnyValue` by the numbers of its fields."""
    if isinstance(value, str):
        return block(1, value.encode())
    if isinstance(value, bytes):
        return block(7, value)
    if isinstance(value, bool):
        return varint(2 << 3) + varint(value)
    if isinstance(value, int):
        return varint(3 << 3) + varint(value)
    if isinstance(value, float):
        return varint(4 << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, list):
        return block(5, b"".join(block(1, any_value(item)) for item in value))
    if isinstance(value, dict):
        return block(6, b"".join(block(1, pair(key, item)) for key, item in value.items()))
    return b""


def pair(key: str, value: Any) -> bytes:
    return block(1, key.encode()) + block(2, any_value(value))


def request(attributes: dict[str, Any], extra: bytes = b"") -> bytes:
    """A request with one span."""
    span = block(1, b"\xab" * 16) + block(2, b"\x01" * 8) + block(5, b"a") + varint(7 << 3 | 1) + struct.pack("<Q", 5)
    span += b"".join(block(9, pair(key, value)) for key, value in attributes.items()) + extra
    return block(1, block(2, block(2, span)))


def tool(arguments: Any) -> dict[str, Any]:
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "a", "gen_ai.tool.call.arguments": arguments}


NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=4))
def test_every_kind_of_value_is_read_as_it_was_written(arguments: dict[str, Any]) -> None:
    """Text, booleans, signed integers, floats, lists and objects, at any depth."""
    (trajectory,) = read_bytes(request(tool(arguments)))
    assert told(trajectory) == [("a", arguments)]


def test_bytes_that_are_text_are_read_as_text() -> None:
    """As they are in JSON; other bytes are no arguments."""
    assert [told(one) for one in read_bytes(request(tool(b'{"x": 1}')))] == [[("a", {"x": 1})]]
    assert [told(one) for one in read_bytes(request(tool(b"\xff\xfe")))] == [[("a", "not_captured")]]


def test_unknown_fields_are_passed_over() -> None:
    """Newer versions of the protocol add some, of every wire type."""
    extra = (
        varint(90 << 3)
        + varint(7)
        + varint(91 << 3 | 1)
        + bytes(8)
        + block(92, b"new")
        + varint(93 << 3 | 5)
        + bytes(4)
    )
    (trajectory,) = read_bytes(request(tool({"x": 1}), extra))
    assert told(trajectory) == [("a", {"x": 1})]


def test_status_and_times_are_read() -> None:
    """A failed span is a failed call."""
    failed = block(15, block(2, b"it failed") + varint(3 << 3) + varint(2))
    (trajectory,) = read_bytes(request(tool({}), failed))
    (call,) = trajectory.tool_calls or ()
    assert (call.status, call.error, call.started_at) == ("error", "it failed", "1970-01-01T00:00:00.000000005Z")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (REAL[:-1], "the protobuf is cut off"),
        (REAL + b"\x0a", "the protobuf is cut off or broken at byte"),
        (REAL + b"\x0f\x01", "this is no OTLP protobuf"),
        (request(tool({}), varint(9 << 3) + varint(1)), "a field has another type than the protocol says"),
        (request(tool({}), varint(7 << 3 | 2) + b"\x00"), "a field has another type than the protocol says"),
    ],
)
def test_damage_is_an_error_with_its_place(data: bytes, message: str) -> None:
    """Never a part of the spans as if it were all."""
    with pytest.raises(TraceError, match=message) as caught:
        read_bytes(data)
    assert caught.value.where.file == "f"


def test_values_nested_without_end_are_refused() -> None:
    """The limit is named (G8)."""
    value: Any = 1
    for _ in range(60):
        value = [value]
    with pytest.raises(TraceError, match="nested deeper than the limit of 100"):
        read_bytes(request(tool(value)))


@given(
    st.lists(st.tuples(st.integers(0, len(REAL)), st.integers(0, 12), st.binary(max_size=4)), min_size=1, max_size=3)
)
def test_damaged_requests_give_declared_errors_or_trajectories(edits: list[tuple[int, int, bytes]]) -> None:
    """Whatever bytes are cut out or put in (G5)."""
    data = REAL
    for start, length, put in edits:
        data = data[:start] + put + data[start + length :]
    with contextlib.suppress(TraceError):
        list(traces.read([data], format="openinference"))
