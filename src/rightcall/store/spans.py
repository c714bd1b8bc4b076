"""Spans that come one by one, in any order, some of them twice: however they come, the same trace comes of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, and_, case, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from rightcall.store import schema, upserting
from rightcall.store.engine import Org, Snapshot, Transaction

_TABLE: Final = schema.spans
_TRACES: Final = schema.traces


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """A span as it came: `body` is what it says, as its format has it. Times are nanoseconds since 1970."""

    span_id: str
    parent_id: str | None = None
    name: str = ""
    started_at: int | None = None
    ended_at: int | None = None
    body: bytes


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """Which trace spans came to, and how many of them said something new."""

    trace_id: str
    new: int


def take(org: Org, on: Transaction, key: str, spans: Sequence[Span], format: str) -> Taken:
    """Join spans to the trace that their sender calls so, which is made if it is the first time.

    Of two that have one id the one that ended later stays, and among equals the one with the greater hash: whichever
    came first. What was read from the trace is to be read again if anything is new.
    """
    trace = _open(org, on, key, format)
    new = sum(_keep(org, on, trace, span) for span in spans)
    if new:
        _tell(org, on, trace)
    return Taken(trace_id=trace, new=new)


def of_trace(org: Org, on: Snapshot, trace: str) -> list[Span]:
    """The spans of a trace by the time they began, those that do not say last."""
    query = select(*(_TABLE.c[name] for name in Span.__struct_fields__)).where(*_owned(org, trace))
    ordered = query.order_by(_TABLE.c.started_at.is_(None), _TABLE.c.started_at, _TABLE.c.span_id)
    return [Span(**row) for row in on.connection.execute(ordered).mappings()]


def _open(org: Org, on: Transaction, key: str, format: str) -> str:
    """The id of the trace, which nobody else may change until the end of the transaction."""
    made = {"id": on.new_id("trace"), "version": 1, "created_at": on.now, "updated_at": on.now}
    told = {"key": key, "name": "", "format": format, "state": "incomplete", "position": 0, "spans": 0, "labels": {}}
    row = upserting.insert(on.connection, _TRACES).values(organization_id=org, **made, **told)
    same = row.on_conflict_do_update(index_elements=["organization_id", "key"], set_={"key": key})
    identity: str = on.connection.execute(same.returning(_TRACES.c.id)).scalar_one()
    return identity


def _keep(org: Org, on: Transaction, trace: str, span: Span) -> bool:
    """Whether the span says something new."""
    hashed = hashlib.sha256(msgspec.msgpack.encode(span)).hexdigest()
    told = {**msgspec.structs.asdict(span), "hash": hashed}
    row = upserting.insert(on.connection, _TABLE).values(organization_id=org, trace_id=trace, **told)
    upsert = row.on_conflict_do_update(
        index_elements=["organization_id", "trace_id", "span_id"],
        set_={name: row.excluded[name] for name in told},
        where=_is_later(row),
    )
    return on.connection.execute(upsert.returning(_TABLE.c.span_id)).first() is not None


def _is_later(row: postgresql.Insert | sqlite.Insert) -> ColumnElement[bool]:
    ours, theirs = (func.coalesce(table.ended_at, -1) for table in (_TABLE.c, row.excluded))
    return or_(theirs > ours, and_(theirs == ours, row.excluded.hash > _TABLE.c.hash))


def _tell(org: Org, on: Transaction, trace: str) -> None:
    """Write what the spans of a trace come to."""
    is_root = _TABLE.c.parent_id.is_(None)
    query = select(
        func.count().label("spans"),
        func.min(_TABLE.c.started_at).label("started_at"),
        func.max(_TABLE.c.ended_at).label("ended_at"),
        func.count(case((is_root, 1))).label("roots"),
        func.count(_TABLE.c.ended_at).label("ended"),
        func.min(case((is_root, _TABLE.c.name))).label("name"),
    ).where(*_owned(org, trace))
    found = on.connection.execute(query).mappings().one()
    is_whole = found["roots"] > 0 and found["ended"] == found["spans"] and not _has_gaps(org, on, trace)
    told: dict[str, Any] = {name: found[name] for name in ("spans", "started_at", "ended_at")}
    told |= {"name": found["name"] or "", "state": "complete" if is_whole else "incomplete", "trajectory": None}
    told |= {"version": _TRACES.c.version + 1, "updated_at": on.now}
    on.connection.execute(update(_TRACES).where(_TRACES.c.organization_id == org, _TRACES.c.id == trace).values(told))


def _has_gaps(org: Org, on: Snapshot, trace: str) -> bool:
    """Whether a span points at one that is not there."""
    parents = _TABLE.alias()
    there = select(parents.c.span_id).where(
        parents.c.organization_id == org, parents.c.trace_id == trace, parents.c.span_id == _TABLE.c.parent_id
    )
    query = select(_TABLE.c.span_id).where(*_owned(org, trace), _TABLE.c.parent_id.is_not(None), ~there.exists())
    return on.connection.execute(query.limit(1)).first() is not None


def _owned(org: Org, trace: str) -> tuple[ColumnElement[bool], ...]:
    return _TABLE.c.organization_id == org, _TABLE.c.trace_id == trace
