"""What tests are made of: requirements, metrics, tests, test sets, endpoints."""

from __future__ import annotations

from sqlalchemy import Column, Index, LargeBinary, Table, UniqueConstraint

from rightcall.store.columns import METADATA, Document, Small, Words, history, identity, organization, part_of


def _listing(whole: str, part: str) -> Table:
    """The parts of each whole, each once and in an order: `test_set_tests` of `test_set` and `test`."""
    return Table(
        f"{whole}_{part}s",
        METADATA,
        organization(),
        Column(f"{whole}_id", Words, primary_key=True),
        Column(f"{part}_id", Words, primary_key=True),
        Column("position", Small, nullable=False),
        part_of(f"{whole}s", f"{whole}_id"),
        part_of(f"{part}s", f"{part}_id"),
        Index(None, "organization_id", f"{part}_id"),
        UniqueConstraint("organization_id", f"{whole}_id", "position"),
        sqlite_with_rowid=False,
    )


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

requirement_metrics = _listing("requirement", "metric")

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

test_set_tests = _listing("test_set", "test")

test_set_metrics = _listing("test_set", "metric")

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
