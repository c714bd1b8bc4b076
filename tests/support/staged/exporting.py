"""Spans and log records that a library made, written in every way in which they are exported."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rightcall import traces
from support.staged.server import Files


class Telemetry:
    """A tracer and a logger whose spans and records are kept in memory."""

    def __init__(self) -> None:
        self._spans = InMemorySpanExporter()
        logs: Any = InMemoryLogRecordExporter
        self._logs = logs()
        self.tracer_provider = TracerProvider()
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self._spans))
        self.logger_provider = LoggerProvider()
        self.logger_provider.add_log_record_processor(SimpleLogRecordProcessor(self._logs))

    def process(self, processor: SpanProcessor) -> None:
        """Let a processor see each span before it is kept."""
        self.tracer_provider = TracerProvider()
        self.tracer_provider.add_span_processor(processor)
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self._spans))

    def files(self, name: str) -> Files:
        """What was made since the last time, in files of that name."""
        spans, logs = self._spans.get_finished_spans(), self._logs.get_finished_logs()
        self._spans.clear()
        self._logs.clear()
        found = _with_logs(spans, logs) if logs else _spans(spans)
        return {f"{name}.{ending}": data for ending, data in found.items()}


def _spans(spans: Sequence[ReadableSpan]) -> Files:
    """OTLP, whole, span by span in any order, and twice; the console's text; what is read of the objects in memory."""
    request = encode_spans(spans)
    otlp = json.dumps(_hexadecimal(MessageToDict(request))).encode()
    alone = [json.dumps(_hexadecimal(MessageToDict(encode_spans([span])))).encode() + b"\n" for span in spans]
    random.Random(7).shuffle(alone)
    return {
        "otlp.json": otlp,
        "otlp-base64.json": json.dumps(MessageToDict(request)).encode(),
        "otlp.pb": request.SerializeToString(),
        "console.txt": "".join(span.to_json() + "\n" for span in spans).encode(),
        "objects.json": msgspec.json.encode(traces.read_object(list(spans))),
        "shuffled.jsonl": b"".join(alone),
        "twice.jsonl": otlp + b"\n" + otlp + b"\n",
    }


def _with_logs(spans: Sequence[ReadableSpan], logs: Sequence[Any]) -> Files:
    """A request of log records and one of spans; both in the text of the console."""
    requests = [MessageToDict(encode_logs(logs)), MessageToDict(encode_spans(spans))]
    texts = [record.to_json() for record in logs] + [span.to_json() for span in spans]
    return {
        "otlp.jsonl": b"".join(json.dumps(_hexadecimal(one)).encode() + b"\n" for one in requests),
        "console.txt": "".join(text + "\n" for text in texts).encode(),
    }


_IDS: Final = frozenset({"traceId", "spanId", "parentSpanId"})


def _hexadecimal(value: Any) -> Any:
    """The message with its ids as OTLP writes them, which is not how protobuf writes bytes in JSON."""
    if isinstance(value, list):
        return [_hexadecimal(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: base64.b64decode(item).hex() if key in _IDS else _hexadecimal(item) for key, item in value.items()}
