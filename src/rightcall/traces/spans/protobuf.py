"""OTLP in protobuf: its wire format read into the shape that OTLP has in JSON.

Only what spans need is read, field by field as the specification of OpenTelemetry's protocol numbers them.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from rightcall.errors import TraceError

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_DEPTH: Final = 100
_IDS = re.compile(rb"\x0a\x10.{16}\x12\x08", re.DOTALL)
_REQUEST = re.compile(rb"\x0a[\x80-\xff]{0,4}[\x01-\x7f][\x0a\x12\x1a]")


class _Field(msgspec.Struct, frozen=True):
    """A field of a message: its name in JSON, what it holds, and whether it may repeat."""

    name: str
    kind: str
    repeated: bool = False


_MESSAGES: Final[dict[str, dict[int, _Field]]] = {
    "Request": {1: _Field("resourceSpans", "ResourceSpans", True)},
    "ResourceSpans": {1: _Field("resource", "Resource"), 2: _Field("scopeSpans", "ScopeSpans", True)},
    "Resource": {1: _Field("attributes", "KeyValue", True)},
    "ScopeSpans": {1: _Field("scope", "Scope"), 2: _Field("spans", "Span", True)},
    "Scope": {1: _Field("name", "text")},
    "Span": {
        1: _Field("traceId", "id"),
        2: _Field("spanId", "id"),
        4: _Field("parentSpanId", "id"),
        5: _Field("name", "text"),
        7: _Field("startTimeUnixNano", "number"),
        8: _Field("endTimeUnixNano", "number"),
        9: _Field("attributes", "KeyValue", True),
        10: _Field("droppedAttributesCount", "number"),
        11: _Field("events", "Event", True),
        12: _Field("droppedEventsCount", "number"),
        15: _Field("status", "Status"),
    },
    "Event": {
        1: _Field("timeUnixNano", "number"),
        2: _Field("name", "text"),
        3: _Field("attributes", "KeyValue", True),
    },
    "Status": {2: _Field("message", "text"), 3: _Field("code", "number")},
    "KeyValue": {1: _Field("key", "text"), 2: _Field("value", "AnyValue")},
    "AnyValue": {
        1: _Field("stringValue", "text"),
        2: _Field("boolValue", "boolean"),
        3: _Field("intValue", "integer"),
        4: _Field("doubleValue", "double"),
        5: _Field("arrayValue", "ArrayValue"),
        6: _Field("kvlistValue", "KeyValueList"),
        7: _Field("bytesValue", "id"),
    },
    "ArrayValue": {1: _Field("values", "AnyValue", True)},
    "KeyValueList": {1: _Field("values", "KeyValue", True)},
}


def claims(head: bytes) -> bool:
    """Whether bytes begin like a request of spans, and the ids of a span are among them."""
    return _REQUEST.match(head) is not None and _IDS.search(head) is not None


def request(data: bytes) -> dict[str, Any]:
    """A request of spans as OTLP has it in JSON; `TraceError` with the byte if it is cut off or broken."""
    return _message(data, 0, len(data), "Request", 0)


def _message(data: bytes, start: int, stop: int, name: str, depth: int) -> dict[str, Any]:
    if depth > _DEPTH:
        raise TraceError(f"the message at byte {start} is nested deeper than the limit of {_DEPTH}")
    fields = _MESSAGES[name]
    found: dict[str, Any] = {field.name: [] for field in fields.values() if field.repeated}
    for number, wire, value in _fields(data, start, stop):
        field = fields.get(number)
        if field is None:
            continue
        read = _value(data, field.kind, wire, value, depth)
        if field.repeated:
            found[field.name].append(read)
        else:
            found[field.name] = read
    return found


def _fields(data: bytes, at: int, stop: int) -> Iterator[tuple[int, int, Any]]:
    """Each field: its number, its wire type, and its number or the range of its bytes."""
    while at < stop:
        begin = at
        tag, at = _varint(data, at, stop)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, at = _varint(data, at, stop)
            yield number, wire, value
            continue
        if wire == _BYTES:
            length, at = _varint(data, at, stop)
        else:
            length = {_FIXED64: 8, _FIXED32: 4}.get(wire, -1)
        if length < 0 or number == 0:
            raise TraceError(f"this is no OTLP protobuf: byte {begin} is no field")
        if at + length > stop:
            raise TraceError(f"the protobuf is cut off: the field at byte {begin} is longer than what follows")
        yield number, wire, (at, at + length)
        at += length


def _varint(data: bytes, at: int, stop: int) -> tuple[int, int]:
    value = shift = 0
    for offset in range(at, min(at + 10, stop)):
        value |= (data[offset] & 0x7F) << shift
        if data[offset] < 0x80:
            return value & (2**64 - 1), offset + 1
        shift += 7
    raise TraceError(f"the protobuf is cut off or broken at byte {at}")


def _value(data: bytes, kind: str, wire: int, value: Any, depth: int) -> Any:
    if kind in _MESSAGES and wire == _BYTES:
        start, stop = value
        return _message(data, start, stop, kind, depth + 1)
    if kind in ("text", "id") and wire == _BYTES:
        raw = data[slice(*value)]
        return raw.hex() if kind == "id" else raw.decode("utf-8", "replace")
    if wire == _FIXED64:
        (number,) = struct.unpack("<d" if kind == "double" else "<Q", data[slice(*value)])
        return number
    if wire == _VARINT and kind in ("number", "integer", "boolean"):
        signed = value - 2**64 if kind == "integer" and value >= 2**63 else value
        return bool(value) if kind == "boolean" else signed
    raise TraceError("this is no OTLP protobuf: a field has another type than the protocol says")
