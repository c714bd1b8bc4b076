"""What the console exporters of OpenTelemetry's Python SDK print: spans and log records."""

from __future__ import annotations

from typing import Any

from rightcall.traces.spans.model import Record, Span
from rightcall.traces.spans.otlp import event, object_, objects
from rightcall.traces.spans.values import identifier, nanoseconds


def is_span(value: dict[str, Any]) -> bool:
    """Whether a value is a span of the console exporter."""
    context = value.get("context")
    known = isinstance(context, dict) and "span_id" in context and isinstance(value.get("attributes"), dict)
    return known and "span_kind" not in value


def span(value: dict[str, Any]) -> Span:
    """One span of the console exporter."""
    context = value["context"]
    status = object_(value.get("status"))
    return Span(
        trace_id=identifier(context.get("trace_id")),
        span_id=identifier(context.get("span_id")),
        parent_id=identifier(value.get("parent_id")),
        name=str(value.get("name") or ""),
        start=nanoseconds(value.get("start_time")),
        end=nanoseconds(value.get("end_time")),
        attributes=value["attributes"],
        events=tuple(map(event, objects(value.get("events")))),
        failed=str(status.get("status_code")).rpartition(".")[2] == "ERROR",
        message=str(status.get("description") or ""),
    )


def is_record(value: dict[str, Any]) -> bool:
    """Whether a value is a log record of the console exporter."""
    return "body" in value and "trace_id" in value and bool(value.keys() & {"severity_number", "observed_timestamp"})


def record(value: dict[str, Any]) -> Record:
    """One log record of the console exporter."""
    given = object_(value.get("attributes"))
    times = (nanoseconds(value.get(name)) for name in ("timestamp", "observed_timestamp"))
    return Record(
        trace_id=identifier(value.get("trace_id")),
        span_id=identifier(value.get("span_id")),
        name=str(value.get("event_name") or given.get("event.name") or ""),
        time=next((time for time in times if time), None),
        attributes=given,
        body=value.get("body"),
    )
