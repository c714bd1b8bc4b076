"""The envelopes that spans travel in, one pair of functions each: whether a value is one, and what it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.traces.spans import console, jaeger, mastra, otlp, phoenix, vendors
from rightcall.traces.spans.model import Record, Span

_ROOTS: Final = ("openinference", "llm", "tool", "gen_ai", "traceloop", "ai", "langfuse", "mlflow", "gcp")
_NESTED: Final = ("openinference", "llm", "gen_ai")
_SPAN_KEYS: Final = frozenset(
    {"attributes", "span_id", "spanId", "context.span_id", "parentObservationId", "run_type", "trace"}
)

Item = Span | Record


class Envelope(msgspec.Struct, frozen=True):
    """An envelope: whether an object is one, and the spans or log records in it."""

    holds: Callable[[dict[str, Any]], bool]
    items: Callable[[dict[str, Any]], Iterable[Item]]


def _one(make: Callable[[dict[str, Any]], Item]) -> Callable[[dict[str, Any]], Iterable[Item]]:
    return lambda value: (make(value),)


def _is_attribute_map(value: dict[str, Any]) -> bool:
    if value.keys() & {"role", "messages", "choices", "tool_calls"}:
        return False
    flat = any(key.partition(".")[0] in _ROOTS and "." in key for key in value)
    return flat or any(isinstance(value.get(root), dict) for root in _NESTED)


def _is_page(value: dict[str, Any]) -> bool:
    """Whether a value is a page of an API that lists spans."""
    data = value.get("data")
    if not isinstance(data, list) or not data:
        return False
    return all(isinstance(item, dict) and item.keys() & _SPAN_KEYS and is_envelope(item) for item in data)


ENVELOPES: Final[tuple[Envelope, ...]] = (
    Envelope(otlp.is_request, otlp.request),
    Envelope(otlp.is_logs, otlp.logs),
    Envelope(otlp.is_metrics, lambda value: ()),
    Envelope(jaeger.is_answer, jaeger.spans),
    Envelope(vendors.is_mlflow, vendors.mlflow),
    Envelope(mastra.is_trace, mastra.spans),
    Envelope(vendors.is_langfuse, vendors.langfuse),
    Envelope(vendors.is_langsmith, vendors.langsmith),
    Envelope(vendors.is_logfire, _one(vendors.logfire)),
    Envelope(phoenix.is_span, _one(phoenix.span)),
    Envelope(phoenix.is_columns, phoenix.columns),
    Envelope(phoenix.is_row, _one(phoenix.row)),
    Envelope(console.is_record, _one(console.record)),
    Envelope(console.is_span, _one(console.span)),
    Envelope(_is_page, lambda value: items(value["data"])),
    Envelope(otlp.is_span, _one(otlp.span)),
    Envelope(_is_attribute_map, lambda value: (Span(attributes=value),)),
)
"""Every envelope. An object is read by the first that knows it."""


def is_envelope(value: Any) -> bool:
    """Whether a value is, or holds, spans in an envelope that is known here."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, dict) and is_envelope(item) for item in value)
    return isinstance(value, dict) and any(envelope.holds(value) for envelope in ENVELOPES)


def items(value: Any) -> Iterator[Item]:
    """Every span and log record of an envelope, in file order; nothing for a value that is none."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            envelope = next((envelope for envelope in ENVELOPES if envelope.holds(item)), None)
            yield from envelope.items(item) if envelope is not None else ()
