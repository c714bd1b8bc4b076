"""Requests that may be sent again: the same key with the same request gets the same answer, and does nothing more."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Final

import msgspec
from sqlalchemy import delete, select, update

from rightcall.errors import ConflictError
from rightcall.store import schema
from rightcall.store.engine import Org, Snapshot, Transaction
from rightcall.store.upserting import insert_new

_TABLE: Final = schema.idempotency_keys


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a request was answered."""

    status: int
    headers: dict[str, str] = {}
    body: bytes = b""


_RESERVED: Final = Answer(status=0)


def once(org: Org, on: Transaction, key: str, request_hash: str, work: Callable[[], Answer]) -> Answer:
    """Do the work and keep its answer with it, or return the answer of the first time.

    `ConflictError` if the key was used for another request. Whoever comes with the same key at the same time waits.
    """
    row = {"organization_id": org, "key": key, "request_hash": request_hash, "created_at": on.now}
    if not insert_new(on.connection, _TABLE, {**row, **msgspec.structs.asdict(_RESERVED)}):
        return _answered(org, on, key, request_hash)
    answer = work()
    owned = (_TABLE.c.organization_id == org, _TABLE.c.key == key)
    on.connection.execute(update(_TABLE).where(*owned).values(**msgspec.structs.asdict(answer)))
    return answer


def forget(org: Org, on: Transaction, before: datetime.datetime) -> int:
    """Forget the keys that were used before a time. How many were there?"""
    old = (_TABLE.c.organization_id == org, _TABLE.c.created_at < before)
    return on.connection.execute(delete(_TABLE).where(*old)).rowcount


def _answered(org: Org, on: Snapshot, key: str, request_hash: str) -> Answer:
    query = select(_TABLE).where(_TABLE.c.organization_id == org, _TABLE.c.key == key)
    row = on.connection.execute(query).mappings().one()
    if row["request_hash"] != request_hash:
        raise ConflictError("the idempotency key was used for another request; use a new one for each request")
    return Answer(status=row["status"], headers=row["headers"], body=row["body"])
