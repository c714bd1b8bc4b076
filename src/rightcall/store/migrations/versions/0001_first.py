"""The first version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0001"
down_revision: Final = None

_WORDS: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "organizations",
        _words("id"),
        *_history(),
        _words("name"),
        _unique("organizations", "name"),
        sa.PrimaryKeyConstraint("id", name="pk_organizations"),
    )
    _table(
        "api_keys",
        ["id"],
        _words("id"),
        _words("name"),
        _words("prefix"),
        _words("hash"),
        _document("scopes"),
        _number("created_at"),
        _number("last_used_at", nullable=True),
        _number("revoked_at", nullable=True),
        _unique("api_keys", "hash"),
    )
    _table(
        "audit_log",
        ["id"],
        _words("id"),
        _number("at"),
        _words("actor"),
        _words("action"),
        _words("subject"),
        _document("details"),
    )
    _table(
        "counters",
        ["name"],
        _words("name"),
        _number("value"),
        sqlite_with_rowid=False,
    )
    _table(
        "endpoints",
        ["id"],
        _words("id"),
        *_history(),
        _words("name"),
        _words("kind"),
        _document("content"),
    )
    _index("endpoints", "organization_id", "name")
    _table(
        "idempotency_keys",
        ["key"],
        _words("key"),
        _words("request_hash"),
        _integer("status"),
        _document("headers"),
        _bytes("body"),
        _number("created_at"),
    )
    _index("idempotency_keys", "created_at")
    _table(
        "metrics",
        ["id"],
        _words("id"),
        *_history(),
        _words("name"),
        _words("kind"),
        _words("description"),
        _document("content"),
        _words("built_in", nullable=True),
        _unique("metrics", "organization_id", "built_in"),
    )
    _index("metrics", "organization_id", "name")
    _table(
        "policies",
        ["id"],
        _words("id"),
        *_history(),
        _words("name"),
        _document("content"),
    )
    _index("policies", "organization_id", "name")
    _table(
        "requirements",
        ["id"],
        _words("id"),
        *_history(),
        _words("name"),
        _words("description"),
        _document("labels"),
    )
    _index("requirements", "organization_id", "name")
    _table(
        "runs",
        ["id"],
        _words("id"),
        *_history(),
        _number("number"),
        _words("alias", nullable=True),
        _words("source"),
        _words("status"),
        _words("test_set_id", nullable=True),
        _words("endpoint_id", nullable=True),
        _document("content"),
        _document("summary", nullable=True),
        _number("started_at", nullable=True),
        _number("finished_at", nullable=True),
        _words("worker", nullable=True),
        _number("claimed_until", nullable=True),
        _unique("runs", "organization_id", "alias"),
        _unique("runs", "organization_id", "number"),
    )
    _index("runs", "organization_id", "test_set_id")
    _index("runs", "status", "claimed_until")
    _table(
        "test_sets",
        ["id"],
        _words("id"),
        *_history(),
        _words("name"),
        _words("description"),
        _document("labels"),
        _document("content"),
    )
    _index("test_sets", "organization_id", "name")
    _table(
        "uploads",
        ["id"],
        _words("id"),
        _number("created_at"),
        _words("name"),
        _words("format", nullable=True),
        _words("hash"),
        _number("size"),
        _bytes("body"),
        _unique("uploads", "organization_id", "hash"),
    )
    _table(
        "endpoint_secrets",
        ["endpoint_id", "name"],
        _words("endpoint_id"),
        _words("name"),
        _bytes("sealed"),
        _part_of("endpoint_secrets", ["endpoint_id"], "endpoints", ["id"]),
        sqlite_with_rowid=False,
    )
    _table(
        "requirement_metrics",
        ["requirement_id", "metric_id"],
        _words("requirement_id"),
        _words("metric_id"),
        _integer("position"),
        _part_of("requirement_metrics", ["metric_id"], "metrics", ["id"]),
        _part_of("requirement_metrics", ["requirement_id"], "requirements", ["id"]),
        _unique("requirement_metrics", "organization_id", "requirement_id", "position"),
        sqlite_with_rowid=False,
    )
    _index("requirement_metrics", "organization_id", "metric_id")
    _table(
        "results",
        ["run_id", "position"],
        _words("run_id"),
        _integer("position"),
        _words("test_id"),
        _words("name"),
        _integer("planned"),
        _words("outcome", nullable=True),
        _words("reason"),
        _document("statistics", nullable=True),
        _document("test"),
        _part_of("results", ["run_id"], "runs", ["id"]),
    )
    _index("results", "organization_id", "run_id", "outcome", "position")
    _index("results", "organization_id", "test_id")
    _table(
        "test_set_metrics",
        ["test_set_id", "metric_id"],
        _words("test_set_id"),
        _words("metric_id"),
        _integer("position"),
        _part_of("test_set_metrics", ["metric_id"], "metrics", ["id"]),
        _part_of("test_set_metrics", ["test_set_id"], "test_sets", ["id"]),
        _unique("test_set_metrics", "organization_id", "test_set_id", "position"),
        sqlite_with_rowid=False,
    )
    _index("test_set_metrics", "organization_id", "metric_id")
    _table(
        "tests",
        ["id"],
        _words("id"),
        *_history(),
        _words("name"),
        _words("requirement_id", nullable=True),
        _document("labels"),
        _document("content"),
        _part_of("tests", ["requirement_id"], "requirements", ["id"], on_delete=None),
    )
    _index("tests", "organization_id", "name")
    _index("tests", "organization_id", "requirement_id")
    _table(
        "traces",
        ["id"],
        _words("id"),
        *_history(),
        _words("key"),
        _words("upload_id", nullable=True),
        _integer("position"),
        _words("name"),
        _words("format"),
        _words("state"),
        _words("conversation_id", nullable=True),
        _integer("spans"),
        _number("started_at", nullable=True),
        _number("ended_at", nullable=True),
        _document("labels"),
        _bytes("trajectory", nullable=True),
        _part_of("traces", ["upload_id"], "uploads", ["id"], on_delete=None),
        _unique("traces", "organization_id", "key"),
    )
    _index("traces", "organization_id", "conversation_id")
    _index("traces", "organization_id", "state", "updated_at")
    _index("traces", "organization_id", "upload_id", "position")
    _table(
        "attempts",
        ["run_id", "position", "number"],
        _words("run_id"),
        _integer("position"),
        _integer("number"),
        _words("outcome"),
        _number("started_at", nullable=True),
        _number("finished_at"),
        _words("trace_id", nullable=True),
        _document("record"),
        _bytes("trajectory", nullable=True),
        _part_of("attempts", ["run_id", "position"], "results", ["run_id", "position"]),
    )
    _table(
        "spans",
        ["trace_id", "span_id"],
        _words("trace_id"),
        _words("span_id"),
        _words("parent_id", nullable=True),
        _words("name"),
        _number("started_at", nullable=True),
        _number("ended_at", nullable=True),
        _words("hash"),
        _bytes("body"),
        _part_of("spans", ["trace_id"], "traces", ["id"]),
    )
    _index("spans", "organization_id", "trace_id", "parent_id")
    _table(
        "test_set_tests",
        ["test_set_id", "test_id"],
        _words("test_set_id"),
        _words("test_id"),
        _integer("position"),
        _part_of("test_set_tests", ["test_id"], "tests", ["id"]),
        _part_of("test_set_tests", ["test_set_id"], "test_sets", ["id"]),
        _unique("test_set_tests", "organization_id", "test_set_id", "position"),
        sqlite_with_rowid=False,
    )
    _index("test_set_tests", "organization_id", "test_id")
    _table(
        "cells",
        ["run_id", "position", "number", "verdict"],
        _words("run_id"),
        _integer("position"),
        _integer("number"),
        _words("verdict"),
        _words("metric_id", nullable=True),
        _words("status"),
        _words("severity"),
        sa.Column("score", sa.Float(), nullable=True),
        _part_of("cells", ["run_id", "position", "number"], "attempts", ["run_id", "position", "number"]),
        sqlite_with_rowid=False,
    )
    _index("cells", "organization_id", "run_id", "verdict", "status", "position")


def _words(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, _WORDS, nullable=nullable)


def _document(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _number(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.BigInteger(), nullable=nullable)


def _integer(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer(), nullable=False)


def _bytes(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.LargeBinary(), nullable=nullable)


def _history() -> tuple[sa.Column[Any], ...]:
    return _integer("version"), _number("created_at"), _number("updated_at")


def _part_of(table: str, ours: list[str], other: str, theirs: list[str], on_delete: str | None = "CASCADE") -> Any:
    key = ["organization_id", *ours]
    name = f"fk_{table}_{'_'.join(key)}"
    return sa.ForeignKeyConstraint(
        key, [f"{other}.{column}" for column in ("organization_id", *theirs)], name, ondelete=on_delete
    )


def _unique(table: str, *columns: str) -> sa.UniqueConstraint:
    return sa.UniqueConstraint(*columns, name=f"uq_{table}_{'_'.join(columns)}")


def _table(name: str, key: Sequence[str], *rest: Any, **options: Any) -> None:
    """Make a table of rows that belong to an organization, which is the first part of their key."""
    owner = ["organization_id"]
    op.create_table(
        name,
        _words("organization_id"),
        *rest,
        sa.ForeignKeyConstraint(owner, ["organizations.id"], f"fk_{name}_organization_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint(*owner, *key, name=f"pk_{name}"),
        **options,
    )


def _index(table: str, *columns: str) -> None:
    op.create_index(f"ix_{table}_{'_'.join(columns)}", table, columns)
