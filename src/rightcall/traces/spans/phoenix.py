"""What Phoenix exports: spans of its REST API, and rows of a dataframe with a column an attribute."""

from __future__ import annotations

from typing import Any, Final

from rightcall.traces.spans.model import Span
from rightcall.traces.spans.otlp import event, object_, objects
from rightcall.traces.spans.values import identifier, nanoseconds

_COLUMN: Final = "attributes."


def is_span(value: dict[str, Any]) -> bool:
    """Whether a value is a span of the REST API."""
    context = value.get("context")
    return isinstance(context, dict) and "span_kind" in value and isinstance(value.get("attributes"), dict)


def span(value: dict[str, Any]) -> Span:
    """One span of the REST API."""
    return _span(value, object_(value.get("context")), object_(value.get("attributes")))


def is_row(value: dict[str, Any]) -> bool:
    """Whether a value is a row of a dataframe of spans."""
    known = "context.span_id" in value or ("span_kind" in value and "parent_id" in value)
    return known and any(key.startswith(_COLUMN) for key in value)


def row(value: dict[str, Any]) -> Span:
    """One row of a dataframe. Columns of other spans are null."""
    context = {key: value.get(f"context.{key}") for key in ("trace_id", "span_id")}
    known = {key[len(_COLUMN) :]: cell for key, cell in value.items() if key.startswith(_COLUMN)}
    return _span(value, context, {key: without_nulls(cell) for key, cell in known.items() if cell is not None})


def without_nulls(cell: Any) -> Any:
    """A cell without the null members that columns of structs add to every one of them."""
    if isinstance(cell, dict):
        return {key: without_nulls(item) for key, item in cell.items() if item is not None}
    return [without_nulls(item) for item in cell] if isinstance(cell, list) else cell


def _span(value: dict[str, Any], context: dict[str, Any], attributes: dict[str, Any]) -> Span:
    kind = value.get("span_kind")
    if isinstance(kind, str) and kind not in ("", "UNKNOWN"):
        attributes = {"openinference.span.kind": kind, **attributes}
    return Span(
        trace_id=identifier(context.get("trace_id")),
        span_id=identifier(context.get("span_id")),
        parent_id=identifier(value.get("parent_id")),
        name=str(value.get("name") or ""),
        start=nanoseconds(value.get("start_time")),
        end=nanoseconds(value.get("end_time")),
        attributes=attributes,
        events=tuple(map(event, objects(value.get("events")))),
        failed=value.get("status_code") == "ERROR",
        message=str(value.get("status_message") or ""),
    )
