"""OTLP in JSON: requests of spans and of log records, in camel or snake case, and Tempo's name for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rightcall.traces.spans.model import Event, Record, Span
from rightcall.traces.spans.values import any_value, attributes, field, identifier, nanoseconds

_SCOPES: Final = (
    "scopeSpans",
    "scope_spans",
    "instrumentationLibrarySpans",
    "instrumentation_library_spans",
)
_NOT_SPANS = frozenset({"body", "severity_number", "severityNumber", "observed_timestamp", "span_kind", "event_name"})


def is_request(value: dict[str, Any]) -> bool:
    """Whether a value is a request of spans, as OTLP or Tempo write it."""
    inner = value.get("trace")
    if isinstance(inner, dict) and value.keys() <= {"trace", "status", "message", "metrics"}:
        value = inner
    return isinstance(field(value, "resourceSpans"), list) or _is_tempo(value)


def _is_tempo(value: dict[str, Any]) -> bool:
    batches = value.get("batches")
    known = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
    return isinstance(batches, list) and any(isinstance(batch, dict) and batch.keys() & {*known} for batch in batches)


def request(value: dict[str, Any]) -> Iterator[Span]:
    """The spans of a request."""
    value = object_(value.get("trace")) or value
    for resource in _under(value, "resourceSpans", "resource_spans", "batches"):
        for group in _under(resource, *_SCOPES):
            scope = group.get("scope") or group.get("instrumentationLibrary")
            name = str(scope.get("name") or "") if isinstance(scope, dict) else ""
            for item in objects(group.get("spans")):
                yield span(item, name)


def _under(value: dict[str, Any], *names: str) -> list[dict[str, Any]]:
    """The objects of the lists under all these names: while names changed, exporters wrote both."""
    return [item for name in names for item in objects(value.get(name))]


def is_metrics(value: dict[str, Any]) -> bool:
    """Whether a value is a request of metrics, which a collector may write between the spans."""
    return isinstance(field(value, "resourceMetrics"), list)


def is_span(value: dict[str, Any]) -> bool:
    """Whether a value is a span by the field names of OTLP, or an object with `attributes` alone."""
    return isinstance(value.get("attributes"), dict | list) and not value.keys() & _NOT_SPANS


def span(value: dict[str, Any], scope: str = "") -> Span:
    """One span by the field names of OTLP."""
    faults: list[str] = []
    status = object_(value.get("status"))
    return Span(
        trace_id=identifier(field(value, "traceId")),
        span_id=identifier(field(value, "spanId")),
        parent_id=identifier(field(value, "parentSpanId")),
        name=str(value.get("name") or ""),
        start=nanoseconds(field(value, "startTimeUnixNano")),
        end=nanoseconds(field(value, "endTimeUnixNano")),
        attributes=attributes(value.get("attributes"), faults),
        events=tuple(event(item, faults) for item in objects(value.get("events"))),
        failed=status.get("code") in (2, "2", "STATUS_CODE_ERROR", "ERROR"),
        message=str(status.get("message") or ""),
        scope=scope,
        dropped=sum(_count(field(value, f"dropped{lost}Count")) for lost in ("Attributes", "Events")),
        faults=tuple(dict.fromkeys(faults)),
    )


def event(value: dict[str, Any], faults: list[str] | None = None) -> Event:
    """One event of a span; what of it cannot be read is said in `faults`."""
    return Event(name=str(value.get("name") or ""), attributes=attributes(value.get("attributes"), faults))


def is_logs(value: dict[str, Any]) -> bool:
    """Whether a value is a request of log records."""
    return isinstance(field(value, "resourceLogs"), list)


def logs(value: dict[str, Any]) -> Iterator[Record]:
    """The log records of a request."""
    for resource in objects(field(value, "resourceLogs")):
        for group in objects(field(resource, "scopeLogs")):
            yield from map(_record, objects(field(group, "logRecords")))


def _record(value: dict[str, Any]) -> Record:
    given = attributes(value.get("attributes"))
    times = (nanoseconds(field(value, name)) for name in ("timeUnixNano", "observedTimeUnixNano"))
    return Record(
        trace_id=identifier(field(value, "traceId")),
        span_id=identifier(field(value, "spanId")),
        name=str(field(value, "eventName") or given.get("event.name") or ""),
        time=next((time for time in times if time), None),
        attributes=given,
        body=any_value(value.get("body")),
    )


def object_(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _count(value: Any) -> int:
    """A number of things, also where JSON has it as text."""
    number = int(value) if isinstance(value, str) and value.isdecimal() else value
    return number if isinstance(number, int) and number > 0 else 0
