"""What Jaeger's query service answers: traces with tags, logs and times in microseconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rightcall.traces.spans.model import Event, Span
from rightcall.traces.spans.otlp import objects
from rightcall.traces.spans.values import identifier

_PARENTS: Final = ("CHILD_OF", "FOLLOWS_FROM")


def is_answer(value: dict[str, Any]) -> bool:
    """Whether a value is such an answer, or one of its traces."""
    traces = objects(value.get("data")) or [value]
    return all("traceID" in trace and isinstance(trace.get("spans"), list) for trace in traces)


def spans(value: dict[str, Any]) -> Iterator[Span]:
    """Every span of an answer."""
    for trace in objects(value.get("data")) or [value]:
        yield from map(_span, objects(trace.get("spans")))


def _span(value: dict[str, Any]) -> Span:
    tags = _tags(value.get("tags"))
    start, duration = (_nanoseconds(value.get(key)) for key in ("startTime", "duration"))
    return Span(
        trace_id=identifier(value.get("traceID")),
        span_id=identifier(value.get("spanID")),
        parent_id=_parent(value),
        name=str(value.get("operationName") or ""),
        start=start,
        end=None if start is None or duration is None else start + duration,
        attributes=tags,
        events=tuple(map(_event, objects(value.get("logs")))),
        failed=tags.get("otel.status_code") == "ERROR" or tags.get("error") is True,
        message=str(tags.get("otel.status_description") or ""),
        scope=str(tags.get("otel.scope.name") or ""),
    )


def _parent(value: dict[str, Any]) -> str:
    """The parent by its references; only within the trace."""
    known = [
        reference.get("spanID")
        for kind in _PARENTS
        for reference in objects(value.get("references"))
        if reference.get("refType") == kind and reference.get("traceID", value.get("traceID")) == value.get("traceID")
    ]
    return identifier(known[0] if known else value.get("parentSpanID"))


def _nanoseconds(value: Any) -> int | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**53
    return int(value) * 1000 if is_number else None


def _tags(pairs: Any) -> dict[str, Any]:
    return {str(pair.get("key")): pair.get("value") for pair in objects(pairs)}


def _event(value: dict[str, Any]) -> Event:
    fields = _tags(value.get("fields"))
    return Event(name=str(fields.get("event") or fields.get("name") or ""), attributes=fields)
