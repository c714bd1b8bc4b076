"""Spans, whatever convention they follow: envelopes, attributes, grouping into conversations.

The conventions (OpenInference and its relatives) stand on top of this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rightcall.core.masking import is_masked
from rightcall.errors import TraceError
from rightcall.traces import documents
from rightcall.traces.spans import otlp
from rightcall.traces.spans.attributes import arguments, child, decoded, is_cut, items, root, roots, text
from rightcall.traces.spans.envelopes import is_envelope
from rightcall.traces.spans.envelopes import items as enveloped
from rightcall.traces.spans.grouping import Group, along, groups
from rightcall.traces.spans.model import Event, Record, Span
from rightcall.traces.spans.spilled import Grouping, grouped
from rightcall.traces.spans.values import nanoseconds, rfc3339

__all__ = [
    "Event",
    "Group",
    "Grouping",
    "Record",
    "Span",
    "along",
    "arguments",
    "child",
    "decoded",
    "grouped",
    "groups",
    "is_cut",
    "is_envelope",
    "is_masked",
    "items",
    "nanoseconds",
    "read",
    "rfc3339",
    "root",
    "roots",
    "text",
]


def read(chunks: Iterable[bytes], rejected: list[str]) -> Iterator[Span | Record]:
    """Every span and log record of a file. What cannot be read is said in `rejected`: a gap of the whole file.

    `TraceError` if the file holds metrics and nothing else.
    """
    kinds = set[bool]()
    for item in documents.documents(chunks, limit=documents.MAX_DOCUMENT):
        if isinstance(item, TraceError):
            rejected.append(f"line {item.where.line} was rejected: {item.message}")
        elif is_envelope(item.value):
            kinds.add(_is_of_metrics(item.value))
            yield from enveloped(item.value)
            rejected += _incomplete(item.value)
        elif item.value != []:
            rejected.append(f"the value on line {item.line} was rejected: it is no span")
    if kinds == {True} and not rejected:
        raise TraceError("this file holds metrics of OpenTelemetry alone, which tell of no call; give spans")


def _is_of_metrics(value: Any) -> bool:
    listed = value if isinstance(value, list) else [value]
    return all(otlp.is_metrics(one) and not otlp.is_request(one) and not otlp.is_logs(one) for one in listed)


def _incomplete(value: Any) -> Iterable[str]:
    """A page of an API that says that more follows."""
    if not isinstance(value, dict) or not isinstance(value.get("data"), list):
        return ()
    meta = value.get("meta")
    pages: Any = meta.get("totalPages") if isinstance(meta, dict) else None
    several = isinstance(pages, int) and pages > 1
    return ("the file is one page of several",) if several or value.get("next_cursor") else ()
