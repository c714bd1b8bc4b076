"""Spans, whatever convention they follow: envelopes, attributes, grouping into conversations.

The conventions (OpenInference and its relatives) stand on top of this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rightcall.errors import TraceError
from rightcall.traces import documents
from rightcall.traces.spans.attributes import arguments, child, decoded, items, text
from rightcall.traces.spans.envelopes import is_envelope, spans
from rightcall.traces.spans.grouping import Group, along, groups
from rightcall.traces.spans.model import Event, Span
from rightcall.traces.spans.values import rfc3339

__all__ = [
    "Event",
    "Group",
    "Span",
    "along",
    "arguments",
    "child",
    "decoded",
    "groups",
    "is_envelope",
    "items",
    "read",
    "rfc3339",
    "spans",
    "text",
]


def read(chunks: Iterable[bytes], rejected: list[str]) -> Iterator[Span]:
    """Every span of a file. What cannot be read is said in `rejected`: each is a gap of the whole file."""
    for item in documents.documents(chunks, limit=documents.MAX_DOCUMENT):
        if isinstance(item, TraceError):
            rejected.append(f"line {item.where.line} was rejected: {item.message}")
        elif is_envelope(item.value):
            yield from spans(item.value)
        else:
            rejected.append(f"the value on line {item.line} was rejected: it is no span")
