"""What was run and what became of it."""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, Table, UniqueConstraint

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

runs = Table(
    "runs",
    METADATA,
    organization(),
    identity(),
    *history(),
    Column("number", Large, nullable=False),
    Column("alias", Words),
    Column("source", Words, nullable=False),
    Column("status", Words, nullable=False),
    Column("test_set_id", Words),
    Column("endpoint_id", Words),
    Column("content", Document, nullable=False),
    Column("summary", Document),
    Column("started_at", Moment),
    Column("finished_at", Moment),
    Column("worker", Words),
    Column("claimed_until", Moment),
    UniqueConstraint("organization_id", "number"),
    UniqueConstraint("organization_id", "alias"),
    Index(None, "organization_id", "test_set_id"),
    Index(None, "status", "claimed_until"),
)

results = Table(
    "results",
    METADATA,
    organization(),
    Column("run_id", Words, primary_key=True),
    Column("position", Small, primary_key=True),
    Column("test_id", Words, nullable=False),
    Column("name", Words, nullable=False),
    Column("planned", Small, nullable=False),
    Column("outcome", Words),
    Column("reason", Words, nullable=False),
    Column("statistics", Document),
    Column("test", Document, nullable=False),
    part_of("runs", "run_id"),
    Index(None, "organization_id", "run_id", "outcome", "position"),
    Index(None, "organization_id", "test_id"),
)

attempts = Table(
    "attempts",
    METADATA,
    organization(),
    Column("run_id", Words, primary_key=True),
    Column("position", Small, primary_key=True),
    Column("number", Small, primary_key=True),
    Column("outcome", Words, nullable=False),
    Column("started_at", Moment),
    Column("finished_at", Moment, nullable=False),
    Column("trace_id", Words),
    Column("record", Document, nullable=False),
    Column("trajectory", Packed),
    part_of("results", "run_id", "position", key=("run_id", "position")),
)

cells = Table(
    "cells",
    METADATA,
    organization(),
    Column("run_id", Words, primary_key=True),
    Column("position", Small, primary_key=True),
    Column("number", Small, primary_key=True),
    Column("verdict", Words, primary_key=True),
    Column("metric_id", Words),
    Column("status", Words, nullable=False),
    Column("severity", Words, nullable=False),
    Column("score", Float),
    part_of("attempts", "run_id", "position", "number", key=("run_id", "position", "number")),
    Index(None, "organization_id", "run_id", "verdict", "status", "position"),
    sqlite_with_rowid=False,
)
