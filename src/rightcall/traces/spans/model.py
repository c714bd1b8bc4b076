"""A span as every convention reads it, whatever envelope it came in."""

from __future__ import annotations

from typing import Any

import msgspec


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """An event on a span."""

    name: str = ""
    attributes: dict[str, Any] = {}


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One span. Ids are lower-case hexadecimal, empty if there are none; times are nanoseconds since 1970.

    `attributes` are plain values, flat or nested as they were recorded. `message` describes a failed status.
    `scope` names the instrumentation where the envelope says it. `dropped` counts attributes and events that the
    exporter says it dropped. `faults` say what of it cannot be read, each to go on after the name of the span.
    """

    trace_id: str = ""
    span_id: str = ""
    parent_id: str = ""
    name: str = ""
    start: int | None = None
    end: int | None = None
    attributes: dict[str, Any] = {}
    events: tuple[Event, ...] = ()
    failed: bool = False
    message: str = ""
    scope: str = ""
    dropped: int = 0
    faults: tuple[str, ...] = ()


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A log record that belongs to a span. `name` is that of its event, `time` nanoseconds since 1970."""

    trace_id: str = ""
    span_id: str = ""
    name: str = ""
    time: int | None = None
    attributes: dict[str, Any] = {}
    body: Any = None
