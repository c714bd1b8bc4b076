"""What was recorded: the bytes as they came, and the traces and spans in them."""

from __future__ import annotations

from sqlalchemy import Column, Index, Table, UniqueConstraint

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
    part_of,
)

uploads = Table(
    "uploads",
    METADATA,
    organization(),
    identity(),
    Column("created_at", Moment, nullable=False),
    Column("name", Words, nullable=False),
    Column("format", Words),
    Column("hash", Words, nullable=False),
    Column("size", Large, nullable=False),
    Column("body", Packed, nullable=False),
    UniqueConstraint("organization_id", "hash"),
)

traces = Table(
    "traces",
    METADATA,
    organization(),
    identity(),
    *history(),
    Column("key", Words, nullable=False),
    Column("upload_id", Words),
    Column("position", Small, nullable=False),
    Column("name", Words, nullable=False),
    Column("format", Words, nullable=False),
    Column("state", Words, nullable=False),
    Column("conversation_id", Words),
    Column("spans", Small, nullable=False),
    Column("started_at", Large),
    Column("ended_at", Large),
    Column("labels", Document, nullable=False),
    Column("trajectory", Packed),
    part_of("uploads", "upload_id", goes_with=False),
    UniqueConstraint("organization_id", "key"),
    Index(None, "organization_id", "conversation_id"),
    Index(None, "organization_id", "upload_id", "position"),
    Index(None, "organization_id", "state", "updated_at"),
)

spans = Table(
    "spans",
    METADATA,
    organization(),
    Column("trace_id", Words, primary_key=True),
    Column("span_id", Words, primary_key=True),
    Column("parent_id", Words),
    Column("name", Words, nullable=False),
    Column("started_at", Large),
    Column("ended_at", Large),
    Column("hash", Words, nullable=False),
    Column("body", Packed, nullable=False),
    part_of("traces", "trace_id"),
    Index(None, "organization_id", "trace_id", "parent_id"),
)
