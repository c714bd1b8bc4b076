"""Traces: what agents did, read from uploads or joined from spans that come one by one (`spans`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec
from sqlalchemy import bindparam, select, update

from rightcall.store import schema
from rightcall.store.engine import Org, Snapshot, Transaction
from rightcall.store.rows import Aggregate, Kept

State = Literal["incomplete", "complete"]

_TABLE: Final = schema.traces


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """A trace. `key` is what its sender calls it, unique in the organization; times are nanoseconds since 1970.

    It is incomplete while a span is missing to which another points, while none is the root, or while one has not
    ended. `position` is its place in the upload, from 0.
    """

    key: str
    name: str = ""
    format: str = ""
    state: State = "complete"
    upload_id: str | None = None
    position: int = 0
    conversation_id: str | None = None
    spans: int = 0
    started_at: int | None = None
    ended_at: int | None = None
    labels: dict[str, Any] = {}


TRACES: Final = Aggregate(_TABLE, Trace, "trace", "trace")


def set_trajectories(org: Org, on: Transaction, lines: Mapping[str, bytes | None]) -> None:
    """Keep what was read from traces, by their ids: a line of the native format, or `None` to read it again."""
    rows = [{"of": identity, "trajectory": line} for identity, line in lines.items()]
    if rows:
        query = update(_TABLE).where(_TABLE.c.organization_id == org, _TABLE.c.id == bindparam("of"))
        on.connection.execute(query.values(trajectory=bindparam("trajectory")), rows)


def trajectory(org: Org, on: Snapshot, identity: str) -> bytes | None:
    """What was read from a trace: a line of the native format; `None` if nothing is kept."""
    query = select(_TABLE.c.trajectory).where(_TABLE.c.organization_id == org, _TABLE.c.id == identity)
    return on.connection.execute(query).scalar_one_or_none()


def by_key(org: Org, on: Snapshot, key: str) -> Kept[Trace] | None:
    """The trace that its sender calls so; `None` if there is none."""
    query = select(_TABLE.c.id).where(_TABLE.c.organization_id == org, _TABLE.c.key == key)
    identity = on.connection.execute(query).scalar_one_or_none()
    return None if identity is None else TRACES.get(org, on, identity)


def of_upload(org: Org, on: Snapshot, upload: str) -> list[Kept[Trace]]:
    """The traces that were read from an upload, in their order."""
    query = select(_TABLE.c.id).where(_TABLE.c.organization_id == org, _TABLE.c.upload_id == upload)
    found = on.connection.execute(query.order_by(_TABLE.c.position)).scalars().all()
    return [TRACES.need(org, on, identity) for identity in found]
