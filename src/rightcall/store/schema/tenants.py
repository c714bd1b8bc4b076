"""Organizations, and what is kept of those that ask."""

from __future__ import annotations

from sqlalchemy import Column, Index, Table

from rightcall.store.columns import (
    METADATA,
    Document,
    Large,
    Moment,
    Packed,
    Small,
    Words,
    history,
    identity,
    organization,
)

organizations = Table(
    "organizations", METADATA, identity(), *history(), Column("name", Words, nullable=False, unique=True)
)

api_keys = Table(
    "api_keys",
    METADATA,
    organization(),
    identity(),
    Column("name", Words, nullable=False),
    Column("prefix", Words, nullable=False),
    Column("hash", Words, nullable=False, unique=True),
    Column("scopes", Document, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("last_used_at", Moment),
    Column("revoked_at", Moment),
)

counters = Table(
    "counters",
    METADATA,
    organization(),
    Column("name", Words, primary_key=True),
    Column("value", Large, nullable=False),
    sqlite_with_rowid=False,
)

idempotency_keys = Table(
    "idempotency_keys",
    METADATA,
    organization(),
    Column("key", Words, primary_key=True),
    Column("request_hash", Words, nullable=False),
    Column("status", Small, nullable=False),
    Column("headers", Document, nullable=False),
    Column("body", Packed, nullable=False),
    Column("created_at", Moment, nullable=False),
    Index(None, "created_at"),
)

audit_log = Table(
    "audit_log",
    METADATA,
    organization(),
    identity(),
    Column("at", Moment, nullable=False),
    Column("actor", Words, nullable=False),
    Column("action", Words, nullable=False),
    Column("subject", Words, nullable=False),
    Column("details", Document, nullable=False),
)

policies = Table(
    "policies",
    METADATA,
    organization(),
    identity(),
    *history(),
    Column("name", Words, nullable=False),
    Column("content", Document, nullable=False),
    Index(None, "organization_id", "name"),
)
