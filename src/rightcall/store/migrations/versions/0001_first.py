"""The first version."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

from rightcall.store.migrations import tables

revision: Final = "0001"
down_revision: Final = None


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "organizations",
        tables.words("id"),
        *tables.history(),
        tables.words("name"),
        tables.unique("organizations", "name"),
        sa.PrimaryKeyConstraint("id", name="pk_organizations"),
    )
    tables.table(
        "api_keys",
        ["id"],
        tables.words("id"),
        tables.words("name"),
        tables.words("prefix"),
        tables.words("hash"),
        tables.document("scopes"),
        tables.number("created_at"),
        tables.number("last_used_at", nullable=True),
        tables.number("revoked_at", nullable=True),
        tables.unique("api_keys", "hash"),
    )
    tables.table(
        "audit_log",
        ["id"],
        tables.words("id"),
        tables.number("at"),
        tables.words("actor"),
        tables.words("action"),
        tables.words("subject"),
        tables.document("details"),
    )
    tables.table(
        "counters",
        ["name"],
        tables.words("name"),
        tables.number("value"),
        sqlite_with_rowid=False,
    )
    tables.table(
        "endpoints",
        ["id"],
        tables.words("id"),
        *tables.history(),
        tables.words("name"),
        tables.words("kind"),
        tables.document("content"),
    )
    tables.index("endpoints", "organization_id", "name")
    tables.table(
        "idempotency_keys",
        ["key"],
        tables.words("key"),
        tables.words("request_hash"),
        tables.integer("status"),
        tables.document("headers"),
        tables.blob("body"),
        tables.number("created_at"),
    )
    tables.index("idempotency_keys", "created_at")
    tables.table(
        "metrics",
        ["id"],
        tables.words("id"),
        *tables.history(),
        tables.words("name"),
        tables.words("kind"),
        tables.words("description"),
        tables.document("content"),
        tables.words("built_in", nullable=True),
        tables.unique("metrics", "organization_id", "built_in"),
    )
    tables.index("metrics", "organization_id", "name")
    tables.table(
        "policies",
        ["id"],
        tables.words("id"),
        *tables.history(),
        tables.words("name"),
        tables.document("content"),
    )
    tables.index("policies", "organization_id", "name")
    tables.table(
        "requirements",
        ["id"],
        tables.words("id"),
        *tables.history(),
        tables.words("name"),
        tables.words("description"),
        tables.document("labels"),
    )
    tables.index("requirements", "organization_id", "name")
    tables.table(
        "runs",
        ["id"],
        tables.words("id"),
        *tables.history(),
        tables.number("number"),
        tables.words("alias", nullable=True),
        tables.words("source"),
        tables.words("status"),
        tables.words("test_set_id", nullable=True),
        tables.words("endpoint_id", nullable=True),
        tables.document("content"),
        tables.document("summary", nullable=True),
        tables.number("started_at", nullable=True),
        tables.number("finished_at", nullable=True),
        tables.words("worker", nullable=True),
        tables.number("claimed_until", nullable=True),
        tables.unique("runs", "organization_id", "alias"),
        tables.unique("runs", "organization_id", "number"),
    )
    tables.index("runs", "organization_id", "test_set_id")
    tables.index("runs", "status", "claimed_until")
    tables.table(
        "test_sets",
        ["id"],
        tables.words("id"),
        *tables.history(),
        tables.words("name"),
        tables.words("description"),
        tables.document("labels"),
        tables.document("content"),
    )
    tables.index("test_sets", "organization_id", "name")
    tables.table(
        "uploads",
        ["id"],
        tables.words("id"),
        tables.number("created_at"),
        tables.words("name"),
        tables.words("format", nullable=True),
        tables.words("hash"),
        tables.number("size"),
        tables.blob("body"),
        tables.unique("uploads", "organization_id", "hash"),
    )
    tables.table(
        "endpoint_secrets",
        ["endpoint_id", "name"],
        tables.words("endpoint_id"),
        tables.words("name"),
        tables.blob("sealed"),
        tables.part_of("endpoint_secrets", ["endpoint_id"], "endpoints", ["id"]),
        sqlite_with_rowid=False,
    )
    tables.table(
        "requirement_metrics",
        ["requirement_id", "metric_id"],
        tables.words("requirement_id"),
        tables.words("metric_id"),
        tables.integer("position"),
        tables.part_of("requirement_metrics", ["metric_id"], "metrics", ["id"]),
        tables.part_of("requirement_metrics", ["requirement_id"], "requirements", ["id"]),
        tables.unique("requirement_metrics", "organization_id", "requirement_id", "position"),
        sqlite_with_rowid=False,
    )
    tables.index("requirement_metrics", "organization_id", "metric_id")
    tables.table(
        "results",
        ["run_id", "position"],
        tables.words("run_id"),
        tables.integer("position"),
        tables.words("test_id"),
        tables.words("name"),
        tables.integer("planned"),
        tables.words("outcome", nullable=True),
        tables.words("reason"),
        tables.document("statistics", nullable=True),
        tables.document("test"),
        tables.part_of("results", ["run_id"], "runs", ["id"]),
    )
    tables.index("results", "organization_id", "run_id", "outcome", "position")
    tables.index("results", "organization_id", "test_id")
    tables.table(
        "test_set_metrics",
        ["test_set_id", "metric_id"],
        tables.words("test_set_id"),
        tables.words("metric_id"),
        tables.integer("position"),
        tables.part_of("test_set_metrics", ["metric_id"], "metrics", ["id"]),
        tables.part_of("test_set_metrics", ["test_set_id"], "test_sets", ["id"]),
        tables.unique("test_set_metrics", "organization_id", "test_set_id", "position"),
        sqlite_with_rowid=False,
    )
    tables.index("test_set_metrics", "organization_id", "metric_id")
    tables.table(
        "tests",
        ["id"],
        tables.words("id"),
        *tables.history(),
        tables.words("name"),
        tables.words("requirement_id", nullable=True),
        tables.document("labels"),
        tables.document("content"),
        tables.part_of("tests", ["requirement_id"], "requirements", ["id"], on_delete=None),
    )
    tables.index("tests", "organization_id", "name")
    tables.index("tests", "organization_id", "requirement_id")
    tables.table(
        "traces",
        ["id"],
        tables.words("id"),
        *tables.history(),
        tables.words("key"),
        tables.words("upload_id", nullable=True),
        tables.integer("position"),
        tables.words("name"),
        tables.words("format"),
        tables.words("state"),
        tables.words("conversation_id", nullable=True),
        tables.integer("spans"),
        tables.number("started_at", nullable=True),
        tables.number("ended_at", nullable=True),
        tables.document("labels"),
        tables.blob("trajectory", nullable=True),
        tables.part_of("traces", ["upload_id"], "uploads", ["id"], on_delete=None),
        tables.unique("traces", "organization_id", "key"),
    )
    tables.index("traces", "organization_id", "conversation_id")
    tables.index("traces", "organization_id", "state", "updated_at")
    tables.index("traces", "organization_id", "upload_id", "position")
    tables.table(
        "attempts",
        ["run_id", "position", "number"],
        tables.words("run_id"),
        tables.integer("position"),
        tables.integer("number"),
        tables.words("outcome"),
        tables.number("started_at", nullable=True),
        tables.number("finished_at"),
        tables.words("trace_id", nullable=True),
        tables.document("record"),
        tables.blob("trajectory", nullable=True),
        tables.part_of("attempts", ["run_id", "position"], "results", ["run_id", "position"]),
    )
    tables.table(
        "spans",
        ["trace_id", "span_id"],
        tables.words("trace_id"),
        tables.words("span_id"),
        tables.words("parent_id", nullable=True),
        tables.words("name"),
        tables.number("started_at", nullable=True),
        tables.number("ended_at", nullable=True),
        tables.words("hash"),
        tables.blob("body"),
        tables.part_of("spans", ["trace_id"], "traces", ["id"]),
    )
    tables.index("spans", "organization_id", "trace_id", "parent_id")
    tables.table(
        "test_set_tests",
        ["test_set_id", "test_id"],
        tables.words("test_set_id"),
        tables.words("test_id"),
        tables.integer("position"),
        tables.part_of("test_set_tests", ["test_id"], "tests", ["id"]),
        tables.part_of("test_set_tests", ["test_set_id"], "test_sets", ["id"]),
        tables.unique("test_set_tests", "organization_id", "test_set_id", "position"),
        sqlite_with_rowid=False,
    )
    tables.index("test_set_tests", "organization_id", "test_id")
    tables.table(
        "cells",
        ["run_id", "position", "number", "verdict"],
        tables.words("run_id"),
        tables.integer("position"),
        tables.integer("number"),
        tables.words("verdict"),
        tables.words("metric_id", nullable=True),
        tables.words("status"),
        tables.words("severity"),
        sa.Column("score", sa.Float(), nullable=True),
        tables.part_of("cells", ["run_id", "position", "number"], "attempts", ["run_id", "position", "number"]),
        sqlite_with_rowid=False,
    )
    tables.index("cells", "organization_id", "run_id", "verdict", "status", "position")
