"""Files of OTLP requests in protobuf: log records beside spans, messages with their sizes, compressed or not."""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
import zstandard
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from support import corpus
from support.spanning import asked, ran, read_bytes, span, told

Frame = Callable[[bytes], bytes]
WORDS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def any_value(value: Any) -> dict[str, Any]:
    """A JSON value as OTLP has it in JSON."""
    if isinstance(value, dict):
        return {"kvlistValue": {"values": pairs(value)}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(item) for item in value]}}
    if isinstance(value, float) and not math.isfinite(value):
        return {"doubleValue": WORDS[str(value)]}
    kinds = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}
    return {} if value is None else {kinds[type(value)]: value}


def pairs(value: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": any_value(item)} for key, item in value.items()]


def identifier(text: str) -> str:
    """An id as protobuf's own JSON has it."""
    return base64.b64encode(bytes.fromhex(text.removeprefix("0x"))).decode()


def spans(*given: dict[str, Any]) -> bytes:
    """A request of spans, by the messages of OpenTelemetry."""
    ids = ("traceId", "spanId", "parentSpanId")
    listed = [
        {**one, **{key: identifier(one[key]) for key in ids}, "attributes": pairs(one["attributes"])} for one in given
    ]
    request = {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "s"}, "spans": listed}]}]}
    return bytes(json_format.ParseDict(request, ExportTraceServiceRequest()).SerializeToString())


def logs(*records: dict[str, Any]) -> bytes:
    """A request of log records that Python's console exporter wrote."""
    listed = [
        {
            "observedTimeUnixNano": int(datetime.fromisoformat(one["observed_timestamp"]).timestamp() * 10**6) * 10**3,
            "eventName": one["event_name"],
            "attributes": pairs(one["attributes"]),
            "body": any_value(one["body"]),
            "traceId": identifier(one["trace_id"]),
            "spanId": identifier(one["span_id"]),
        }
        for one in records
    ]
    request = {"resourceLogs": [{"resource": {}, "scopeLogs": [{"logRecords": listed}]}]}
    return bytes(json_format.ParseDict(request, ExportLogsServiceRequest()).SerializeToString())


def metrics() -> bytes:
    """A request of metrics, which a collector may write between the others."""
    metric = {"name": "tokens", "sum": {"dataPoints": [{"asInt": 1}]}}
    request = {"resourceMetrics": [{"scopeMetrics": [{"metrics": [metric]}]}]}
    return bytes(json_format.ParseDict(request, ExportMetricsServiceRequest()).SerializeToString())


def four_bytes(message: bytes) -> bytes:
    return len(message).to_bytes(4, "big") + message


def varint(message: bytes) -> bytes:
    size, out = len(message), b""
    while size >= 0x80:
        out += bytes([size & 0x7F | 0x80])
        size >>= 7
    return out + bytes([size]) + message


def compressed(message: bytes) -> bytes:
    """As the collector writes messages with `compression: zstd`."""
    return four_bytes(zstandard.compress(message))


FRAMES: list[Frame] = [four_bytes, varint, compressed]
ASKED = span(1, asked(("a", {"x": 1}, "c1"), ("b", {}, "c2")))
RAN = [span(2, ran("a", {"x": 1}, **{"gen_ai.tool.call.id": "c1"})), span(3, ran("b", {}))]


@pytest.mark.parametrize("file", ["otel-genai-legacy-logs/1.jsonl", "otel-genai-legacy-logs/2.jsonl"])
def test_log_records_in_protobuf_read_as_those_of_the_console(file: str) -> None:
    """Each field by its number, as OpenTelemetry's own messages write it."""
    data = corpus.OWN.joinpath(file).read_bytes()
    records = [json.loads(line) for line in data.splitlines()]
    expected = [told(one) for one in read_bytes(data)]
    assert expected[0]
    assert traces.detect(logs(*records)) == "otel-genai"
    assert [told(one) for one in read_bytes(logs(*records))] == expected
    assert [told(one) for one in read_bytes(b"".join(four_bytes(logs(one)) for one in records))] == expected


@pytest.mark.parametrize("frame", FRAMES)
def test_messages_with_sizes_are_one_file(frame: Frame) -> None:
    """The spans of a conversation are spread over requests, with metrics between them."""
    messages = [spans(ASKED), metrics(), *(spans(one) for one in RAN)]
    (whole,) = read_bytes(spans(ASKED, *RAN))
    data = b"".join(map(frame, messages))
    assert told(whole) == [("a", {"x": 1}), ("b", {})]
    assert read_bytes(data) == read_bytes(gzip.compress(data)) == [whole]
    assert list(traces.read([bytes([byte]) for byte in data])) == [whole]
    assert traces.detect(data) == "otel-genai"


def test_json_that_the_collector_compresses_is_read() -> None:
    """With `compression: zstd` its JSON has sizes too."""
    requests = [{"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]} for one in (ASKED, *RAN)]
    data = b"".join(compressed(json.dumps(one).encode()) for one in requests)
    (made,) = read_bytes(data)
    assert told(made) == [("a", {"x": 1}), ("b", {})]


@pytest.mark.parametrize("frame", FRAMES)
def test_a_cut_message_leaves_a_gap_and_an_error(frame: Frame) -> None:
    """What came before it is read, and never looks like all there was (G12)."""
    data = frame(spans(ASKED)) + frame(spans(*RAN))
    made, error = traces.read([data[:-5]], file="f")
    assert isinstance(made, Trajectory)
    assert isinstance(error, TraceError)
    assert told(made) == [("a", {"x": 1}), ("b", {})]
    at = len(frame(spans(ASKED)))
    assert error.message == f"the file is cut off: the message at byte {at} is longer than what follows"
    assert any(error.message in gap for gap in made.gaps)


def test_a_broken_message_is_told_with_where_it_starts() -> None:
    """The byte within it is told too."""
    first = four_bytes(spans(ASKED))
    made, error = traces.read([first + four_bytes(b"\x0a\x7f")], file="f")
    assert isinstance(made, Trajectory)
    at = len(first) + 4
    assert str(error).startswith(f"f: in the message at byte {at}: the protobuf is cut off: the field at byte 0")


def test_an_exporter_body_is_read_compressed() -> None:
    """As OTLP over HTTP sends it with `Content-Encoding: gzip`."""
    assert read_bytes(gzip.compress(spans(ASKED, *RAN))) == read_bytes(spans(ASKED, *RAN))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_cannot_write_are_words(number: float) -> None:
    """As OTLP has them in JSON."""
    (made,) = read_bytes(spans(span(1, ran("a", **{"gen_ai.tool.call.arguments": {"x": number}}))))
    assert told(made) == [("a", {"x": WORDS[str(number)]})]


def test_a_long_request_is_detected_by_its_first_bytes() -> None:
    """They hold no whole resource, but the marks of a convention."""
    many = spans(*(span(number, ran("a", {"x": "y" * 500})) for number in range(1, 400)))
    assert traces.detect(many[:65536]) == traces.detect(gzip.compress(many)[:65536]) == "otel-genai"


METRICS = b'{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"gen_ai.client.token.usage"}]}]}]}'


@pytest.mark.parametrize("data", [METRICS, METRICS + b"\n" + METRICS, b"[" + METRICS + b"]"])
def test_a_file_of_metrics_alone_is_refused_for_what_it_is(data: bytes) -> None:
    """It is not an agent that did nothing (G3)."""
    with pytest.raises(TraceError) as caught:
        list(traces.read([data], file="f"))
    assert str(caught.value) == ("f: this file holds metrics of OpenTelemetry alone, which tell of no call; give spans")
