"""Log records joined to the spans that they belong to; a record is an event of its span."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from rightcall.core import jsontext
from rightcall.traces.spans.attributes import decoded
from rightcall.traces.spans.model import Event, Record, Span

_DETAILS: Final = "gen_ai.client.inference.operation.details"
_ENDS: Final = frozenset({_DETAILS, "gen_ai.choice"})
_Key = tuple[str, str, int]


def joined(items: Iterable[Span | Record]) -> list[Span]:
    """The spans, each with its records; records whose span is not there make one.

    Records without a span id are events of one model call until its answer.
    """
    spans: list[Span] = []
    records: dict[_Key, list[Record]] = {}
    seen: set[bytes] = set()
    loose = 0
    for item in items:
        if isinstance(item, Span):
            spans.append(item)
        elif item.name.startswith("gen_ai.") and not _is_repeated(item, seen):
            records.setdefault((item.trace_id, item.span_id, 0 if item.span_id else loose), []).append(item)
            loose += not item.span_id and item.name in _ENDS
    known = {(span.trace_id, span.span_id, 0): at for at, span in enumerate(spans)}
    for key, found in records.items():
        at = known.get(key)
        if at is None:
            spans.append(_with(Span(trace_id=key[0], span_id=key[1]), found))
        else:
            spans[at] = _with(spans[at], found)
    return spans


def _is_repeated(record: Record, seen: set[bytes]) -> bool:
    """Whether the very same record was there before: exporters deliver at least once."""
    if record.time is None:
        return False
    key = jsontext.encode(msgspec.to_builtins(record))
    known = key in seen
    seen.add(key)
    return known


def _with(span: Span, records: list[Record]) -> Span:
    ordered = sorted(records, key=lambda record: record.time or 0)
    start = ordered[0].time if span.start is None else span.start
    attributes: dict[str, Any] = dict(span.attributes)
    for record in ordered:
        if record.name == _DETAILS:
            attributes = {**record.attributes, **_object(record.body), **attributes}
        elif not span.attributes:
            attributes = {**record.attributes, **attributes}
    events = tuple(Event(name=record.name, attributes=_content(record)) for record in ordered)
    return msgspec.structs.replace(span, start=start, attributes=attributes, events=(*span.events, *events))


def _object(body: Any) -> dict[str, Any]:
    found = decoded(body)
    return found if isinstance(found, dict) else {}


def _content(record: Record) -> dict[str, Any]:
    """What an event says: its body, which may be JSON text, else its attributes."""
    body = decoded(record.body)
    if isinstance(body, dict):
        return body
    return record.attributes if record.body is None else {**record.attributes, "content": record.body}
