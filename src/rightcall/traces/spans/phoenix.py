"""What Phoenix exports: spans of its REST API, and rows of a dataframe with a column an attribute."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rightcall.traces.spans.model import Span
from rightcall.traces.spans.otlp import event, object_, objects
from rightcall.traces.spans.values import identifier, nanoseconds

_COLUMN: Final = "attributes."
_DEPTH: Final = 64
_UNITS: Final = ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3))


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


def is_columns(value: dict[str, Any]) -> bool:
    """Whether a value is a dataframe of spans column by column, as pandas writes it unless it is told otherwise."""
    known = all(isinstance(value.get(key), dict) for key in ("name", "span_kind"))
    return known and any(key.startswith(_COLUMN) for key in value)


def columns(value: dict[str, Any]) -> Iterator[Span]:
    """The rows of such a dataframe. Its index is the id of the span, if no column is."""
    cells = {key: column for key, column in value.items() if isinstance(column, dict)}
    for index in cells["name"]:
        yield row({"context.span_id": index} | {key: column.get(index) for key, column in cells.items()})


def without_nulls(cell: Any, depth: int = 0) -> Any:
    """A cell without the null members that columns of structs add to every one of them."""
    if depth > _DEPTH:
        return cell
    if isinstance(cell, dict):
        return {key: without_nulls(item, depth + 1) for key, item in cell.items() if item is not None}
    return [without_nulls(item, depth + 1) for item in cell] if isinstance(cell, list) else cell


def _span(value: dict[str, Any], context: dict[str, Any], attributes: dict[str, Any]) -> Span:
    kind = value.get("span_kind")
    if isinstance(kind, str) and kind not in ("", "UNKNOWN"):
        attributes = {"openinference.span.kind": kind, **attributes}
    return Span(
        trace_id=identifier(context.get("trace_id")),
        span_id=identifier(context.get("span_id")),
        parent_id=identifier(value.get("parent_id")),
        name=str(value.get("name") or ""),
        start=_time(value.get("start_time")),
        end=_time(value.get("end_time")),
        attributes=attributes,
        events=tuple(map(event, objects(value.get("events")))),
        failed=value.get("status_code") == "ERROR",
        message=str(value.get("status_message") or ""),
    )


def _time(value: Any) -> int | None:
    """A time in RFC 3339, or a number since 1970 in the unit that its size says: pandas writes milliseconds."""
    moment = nanoseconds(value)
    if moment is None or isinstance(value, str):
        return moment
    return moment * next((factor for limit, factor in _UNITS if abs(moment) < limit), 1)
