"""What tests are made of: requirements, metrics, tests, test sets, endpoints."""

from __future__ import annotations

from sqlalchemy import Column, Index, LargeBinary, Table, UniqueConstraint

from rightcall.store.columns import METADATA, Document, Small, Words, history, identity, organization, part_of

requirements = Table(
    "requirements",
    METADATA,
    organization(),
    identity(),
    *history(),
    Column("name", Words, nullable=False),
    Column("description", Words, nullable=False),
    Column("labels", Document, nullable=False),
    Index(None, "organization_id", "name"),
)

metrics = Table(
    "metrics",
    METADATA,
    organization(),
    identity(),
    *history(),
    Column("name", Words, nullable=False),
    Column("kind", Words, nullable=False),
    Column("description", Words, nullable=False),
    Column("content", Document, nullable=False),
    Column("built_in", Words),
    UniqueConstraint("organization_id", "built_in"),
    Index(None, "organization_id", "name"),
)

requirement_metrics = Table(
    "requirement_metrics",
    METADATA,
    organization(),
    Column("requirement_id", Words, primary_key=True),
    Column("metric_id", Words, primary_key=True),
    Column("position", Small, nullable=False),
    part_of("requirements", "requirement_id"),
    part_of("metrics", "metric_id"),
    Index(None, "organization_id", "metric_id"),
    UniqueConstraint("organization_id", "requirement_id", "position"),
    sqlite_with_rowid=False,
)

tests = Table(
    "tests",
    METADATA,
    organization(),
    identity(),
    *history(),
    Column("name", Words, nullable=False),
    Column("requirement_id", Words),
    Column("labels", Document, nullable=False),
    Column("content", Document, nullable=False),
    part_of("requirements", "requirement_id", goes_with=False),
    Index(None, "organization_id", "name"),
    Index(None, "organization_id", "requirement_id"),
)

test_sets = Table(
    "test_sets",
    METADATA,
    organization(),
    identity(),
    *history(),
    Column("name", Words, nullable=False),
    Column("description", Words, nullable=False),
    Column("labels", Document, nullable=False),
    Column("content", Document, nullable=False),
    Index(None, "organization_id", "name"),
)

test_set_tests = Table(
    "test_set_tests",
    METADATA,
    organization(),
    Column("test_set_id", Words, primary_key=True),
    Column("test_id", Words, primary_key=True),
    Column("position", Small, nullable=False),
    part_of("test_sets", "test_set_id"),
    part_of("tests", "test_id"),
    Index(None, "organization_id", "test_id"),
    UniqueConstraint("organization_id", "test_set_id", "position"),
    sqlite_with_rowid=False,
)

test_set_metrics = Table(
    "test_set_metrics",
    METADATA,
    organization(),
    Column("test_set_id", Words, primary_key=True),
    Column("metric_id", Words, primary_key=True),
    Column("position", Small, nullable=False),
    part_of("test_sets", "test_set_id"),
    part_of("metrics", "metric_id"),
    Index(None, "organization_id", "metric_id"),
    UniqueConstraint("organization_id", "test_set_id", "position"),
    sqlite_with_rowid=False,
)

endpoints = Table(
    "endpoints",
    METADATA,
    organization(),
    identity(),
    *history(),
    Column("name", Words, nullable=False),
    Column("kind", Words, nullable=False),
    Column("content", Document, nullable=False),
    Index(None, "organization_id", "name"),
)

endpoint_secrets = Table(
    "endpoint_secrets",
    METADATA,
    organization(),
    Column("endpoint_id", Words, primary_key=True),
    Column("name", Words, primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
    part_of("endpoints", "endpoint_id"),
    sqlite_with_rowid=False,
)
