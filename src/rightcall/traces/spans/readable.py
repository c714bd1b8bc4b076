"""Spans of OpenTelemetry's Python SDK as a program holds them (`ReadableSpan`).

Nothing of OpenTelemetry is imported: https://opentelemetry-python.readthedocs.io/en/latest/sdk/trace.html
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rightcall.traces.spans.model import Event, Record, Span

_DEPTH: Final = 64


def span(value: Any) -> Span:
    """The same span that the exporters write: ids in hexadecimal, times in nanoseconds."""
    context, scope = value.get_span_context(), getattr(value, "instrumentation_scope", None)
    return Span(
        trace_id=_identifier(context, "trace_id", 32),
        span_id=_identifier(context, "span_id", 16),
        parent_id=_identifier(value.parent, "span_id", 16),
        name=str(value.name or ""),
        start=value.start_time,
        end=value.end_time,
        attributes=_attributes(value.attributes),
        events=tuple(Event(name=str(event.name), attributes=_attributes(event.attributes)) for event in value.events),
        failed=getattr(value.status.status_code, "name", "") == "ERROR",
        message=str(value.status.description or ""),
        scope=str(getattr(scope, "name", None) or ""),
        dropped=getattr(value, "dropped_attributes", 0) + getattr(value, "dropped_events", 0),
    )


def record(value: Any) -> Record:
    """The same log record that the exporters write, of the SDK's `LogRecord`."""
    given = _attributes(value.attributes)
    return Record(
        trace_id=_identifier(value, "trace_id", 32),
        span_id=_identifier(value, "span_id", 16),
        name=str(value.event_name or given.get("event.name") or ""),
        time=value.timestamp or value.observed_timestamp,
        attributes=given,
        body=_plain(value.body),
    )


def _identifier(context: Any, name: str, digits: int) -> str:
    number = getattr(context, name, 0)
    return f"{number:0{digits}x}" if number else ""


def _attributes(found: Mapping[str, Any] | None) -> dict[str, Any]:
    return {str(key): _plain(value) for key, value in (found or {}).items()}


def _plain(value: Any, depth: int = 0) -> Any:
    """A value of an attribute as OTLP writes it in JSON: bytes as base64, what is no number by its name."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if depth < _DEPTH and isinstance(value, Mapping):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    if depth < _DEPTH and isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item, depth + 1) for item in value]
    return value
