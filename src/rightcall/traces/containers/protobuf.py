"""OTLP in protobuf: requests of spans and of log records as JSON lines, in the shape that OTLP has in JSON.

Only what spans and records need is read, field by field as the specification of OpenTelemetry's protocol numbers
them. A file holds one request, or many with the size of each before it (`frames`).
"""

from __future__ import annotations

import base64
import math
import re
import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core import jsontext
from rightcall.errors import TraceError
from rightcall.traces import heads
from rightcall.traces.containers import frames

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_DEPTH: Final = 100
_IDS = re.compile(rb"\x0a\x10.{16}\x12\x08|\x4a\x10.{16}\x52\x08", re.DOTALL)
_REQUEST = re.compile(rb"\x0a[\x80-\xff]{0,4}[\x01-\x7f][\x0a\x12\x1a]")
_TRACE_ID: Final = 16
_OF_BYTES: Final[dict[str, Callable[[bytes], str]]] = {
    "text": lambda raw: raw.decode("utf-8", "replace"),
    "id": bytes.hex,
    "bytes": lambda raw: base64.b64encode(raw).decode(),
}
"""Kinds that are bytes, as JSON writes them: ids are the ones that OTLP does not write in base64."""

_NOT_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


class _Field(msgspec.Struct, frozen=True):
    """A field of a message: its name in JSON, what it holds, and whether it may repeat."""

    name: str
    kind: str
    repeated: bool = False


_MESSAGES: Final[dict[str, dict[int, _Field]]] = {
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
    "ResourceLogs": {1: _Field("resource", "Resource"), 2: _Field("scopeLogs", "ScopeLogs", True)},
    "ScopeLogs": {1: _Field("scope", "Scope"), 2: _Field("logRecords", "LogRecord", True)},
    "LogRecord": {
        1: _Field("timeUnixNano", "number"),
        5: _Field("body", "AnyValue"),
        6: _Field("attributes", "KeyValue", True),
        9: _Field("traceId", "id"),
        10: _Field("spanId", "id"),
        11: _Field("observedTimeUnixNano", "number"),
        12: _Field("eventName", "text"),
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
        7: _Field("bytesValue", "bytes"),
    },
    "ArrayValue": {1: _Field("values", "AnyValue", True)},
    "KeyValueList": {1: _Field("values", "KeyValue", True)},
}


def claims(head: bytes) -> bool:
    """Whether bytes begin like requests, with the ids of a span or of a record among them."""
    return _is_request(head) or frames.layout(head, _is_request) is not None


def _is_request(head: bytes) -> bool:
    if _REQUEST.match(head) is None or not heads.binary(head):
        return False
    return _IDS.search(head) is not None or b"gen_ai" in head


def lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """What each resource sent, a line each; `TraceError` with the byte where requests are cut off or broken."""
    for message in frames.messages(chunks, _is_request):
        if message.data[:1] in (b"{", b"["):
            yield message.data + b"\n"
            continue
        try:
            yield from _request(message.data)
        except TraceError as error:
            framed = f"in the message at byte {message.start}: " if message.start else ""
            raise TraceError(f"{framed}{error.message}") from None


def signs(head: bytes) -> bytes:
    """The beginning of requests that is too short to be read: an empty request, and what may tell its convention."""
    return b'{"resourceSpans":[]}\n' + head.replace(b"\n", b" ")


def _request(data: bytes) -> Iterator[bytes]:
    for number, wire, value in _fields(data, 0, len(data)):
        if number == 1 and wire == _BYTES:
            start, stop = value
            sent = _sent(data, start, stop)
            if sent is not None:
                yield jsontext.encode({f"resource{sent}": [_message(data, start, stop, f"Resource{sent}", 0)]}) + b"\n"


def _sent(data: bytes, start: int, stop: int) -> str | None:
    """What a resource sent, by the first item in its first scope: `Spans`, `Logs`, or `None` for metrics.

    The messages have no names in them, but the times of spans and of records have other numbers, and what metrics
    begin with is no id.
    """
    scope = _first(data, start, stop)
    item = None if scope is None else _first(data, *scope)
    if item is None:
        return "Spans"
    found = {(number, wire): value for number, wire, value in _fields(data, *item)}
    if not found or found.keys() & {(7, _FIXED64), (8, _FIXED64)}:
        return "Spans"
    if found.keys() & {(1, _FIXED64), (11, _FIXED64)}:
        return "Logs"
    if (1, _BYTES) not in found:
        return "Spans" if (2, _BYTES) in found else "Logs"
    begin, end = found[1, _BYTES]
    return "Spans" if end - begin == _TRACE_ID else None


def _first(data: bytes, start: int, stop: int) -> tuple[int, int] | None:
    """Where the first field of number 2 in a message stands: its scopes, or the items of a scope."""
    found = (value for number, wire, value in _fields(data, start, stop) if number == 2 and wire == _BYTES)
    return next(found, None)


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
    if kind in _OF_BYTES and wire == _BYTES:
        return _OF_BYTES[kind](data[slice(*value)])
    if wire == _FIXED64:
        (number,) = struct.unpack("<d" if kind == "double" else "<Q", data[slice(*value)])
        return number if math.isfinite(number) else _NOT_FINITE[str(number)]
    if wire == _VARINT and kind in ("number", "integer", "boolean"):
        signed = value - 2**64 if kind == "integer" and value >= 2**63 else value
        return bool(value) if kind == "boolean" else signed
    raise TraceError("this is no OTLP protobuf: a field has another type than the protocol says")
