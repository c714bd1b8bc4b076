"""Uploads: the bytes of recordings as they came. The same bytes are kept once."""

from __future__ import annotations

import datetime
import hashlib
from typing import Final

import msgspec
from sqlalchemy import delete, select

from rightcall.errors import UnknownRowError
from rightcall.store import schema
from rightcall.store.engine import Org, Snapshot, Transaction
from rightcall.store.rows import needed
from rightcall.store.upserting import insert_new

_TABLE: Final = schema.uploads
_TOLD: Final = [column for column in _TABLE.c if column.name not in ("organization_id", "body")]


class Upload(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes that came: `hash` is their SHA-256, `size` how many they are, `format` what they were said to be."""

    id: str
    created_at: datetime.datetime
    name: str
    format: str | None
    hash: str
    size: int


def keep(org: Org, on: Transaction, body: bytes, name: str = "", format: str | None = None) -> tuple[Upload, bool]:
    """Keep bytes; the flag says whether they are new."""
    made = Upload(
        id=on.new_id("upl"),
        created_at=on.now,
        name=name,
        format=format,
        hash=hashlib.sha256(body).hexdigest(),
        size=len(body),
    )
    row = {"organization_id": org, "body": body, **msgspec.structs.asdict(made)}
    if insert_new(on.connection, _TABLE, row):
        return made, True
    query = select(*_TOLD).where(_TABLE.c.organization_id == org, _TABLE.c.hash == made.hash)
    return Upload(**on.connection.execute(query).mappings().one()), False


def get(org: Org, on: Snapshot, identity: str) -> Upload | None:
    """What is known of an upload; `None` if there is none."""
    query = select(*_TOLD).where(_TABLE.c.organization_id == org, _TABLE.c.id == identity)
    found = on.connection.execute(query).mappings().first()
    return None if found is None else Upload(**found)


def body(org: Org, on: Snapshot, identity: str) -> bytes | None:
    """The bytes as they came; `None` if there is no such upload."""
    query = select(_TABLE.c.body).where(_TABLE.c.organization_id == org, _TABLE.c.id == identity)
    return on.connection.execute(query).scalar_one_or_none()


def remove(org: Org, on: Transaction, identity: str) -> None:
    """Delete bytes; `ConflictError` while there are traces that were read from them, `UnknownRowError` if none."""
    query = delete(_TABLE).where(_TABLE.c.organization_id == org, _TABLE.c.id == identity)
    with needed("upload"):
        if not on.connection.execute(query).rowcount:
            raise UnknownRowError(f"there is no upload `{identity}`")
