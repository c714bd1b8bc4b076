"""The envelopes that spans travel in: OTLP requests, the console exporter's objects, bare attribute maps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rightcall.traces.spans.model import Event, Span
from rightcall.traces.spans.values import attributes, field, identifier, nanoseconds

_ROOTS: Final = ("openinference", "llm", "tool", "gen_ai")


def is_envelope(value: Any) -> bool:
    """Whether a value is, or holds, spans in an envelope that is known here."""
    if isinstance(value, list):
        return bool(value) and all(map(is_envelope, value))
    if not isinstance(value, dict):
        return False
    return _is_request(value) or _is_console(value) or _is_wrapped(value) or _is_attribute_map(value)


def _is_request(value: dict[str, Any]) -> bool:
    return isinstance(field(value, "resourceSpans"), list)


def _is_console(value: dict[str, Any]) -> bool:
    context = value.get("context")
    known = isinstance(context, dict) and "span_id" in context and isinstance(value.get("attributes"), dict)
    return known and "span_kind" not in value


def _is_wrapped(value: dict[str, Any]) -> bool:
    """Whether a value is a span by the field names of OTLP, or an object with `attributes` alone."""
    if not isinstance(value.get("attributes"), dict | list):
        return False
    return not value.keys() & {"body", "severity_number", "observed_timestamp", "span_kind"}


def _is_attribute_map(value: dict[str, Any]) -> bool:
    flat = any(key.partition(".")[0] in _ROOTS and "." in key for key in value)
    return flat or any(isinstance(value.get(root), dict) for root in ("openinference", "llm", "gen_ai"))


def spans(value: Any) -> Iterator[Span]:
    """Every span of an envelope, in file order; nothing for a value that is none."""
    if isinstance(value, list):
        for item in value:
            yield from spans(item) if not isinstance(item, list) else ()
    elif isinstance(value, dict):
        if _is_request(value):
            yield from _request(value)
        elif _is_console(value):
            yield _console(value)
        elif _is_wrapped(value):
            yield _span(value, "")
        elif _is_attribute_map(value):
            yield Span(attributes=value)


def _request(value: dict[str, Any]) -> Iterator[Span]:
    for resource in _objects(field(value, "resourceSpans")):
        scopes = field(resource, "scopeSpans") or field(resource, "instrumentationLibrarySpans")
        for group in _objects(scopes):
            scope = group.get("scope")
            name = str(scope.get("name") or "") if isinstance(scope, dict) else ""
            for span in _objects(group.get("spans")):
                yield _span(span, name)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _span(value: dict[str, Any], scope: str) -> Span:
    status = _object(value.get("status"))
    return Span(
        trace_id=identifier(field(value, "traceId")),
        span_id=identifier(field(value, "spanId")),
        parent_id=identifier(field(value, "parentSpanId")),
        name=str(value.get("name") or ""),
        start=nanoseconds(field(value, "startTimeUnixNano")),
        end=nanoseconds(field(value, "endTimeUnixNano")),
        attributes=attributes(value.get("attributes")),
        events=tuple(_event(event) for event in _objects(value.get("events"))),
        failed=status.get("code") in (2, "2", "STATUS_CODE_ERROR", "ERROR"),
        message=str(status.get("message") or ""),
        scope=scope,
        dropped=_count(field(value, "droppedAttributesCount")),
    )


def _console(value: dict[str, Any]) -> Span:
    context = value["context"]
    status = _object(value.get("status"))
    return Span(
        trace_id=identifier(context.get("trace_id")),
        span_id=identifier(context.get("span_id")),
        parent_id=identifier(value.get("parent_id")),
        name=str(value.get("name") or ""),
        start=nanoseconds(value.get("start_time")),
        end=nanoseconds(value.get("end_time")),
        attributes=value["attributes"],
        events=tuple(_event(event) for event in _objects(value.get("events"))),
        failed=str(status.get("status_code")).rpartition(".")[2] == "ERROR",
        message=str(status.get("description") or ""),
    )


def _event(value: dict[str, Any]) -> Event:
    return Event(name=str(value.get("name") or ""), attributes=attributes(value.get("attributes")))


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0
