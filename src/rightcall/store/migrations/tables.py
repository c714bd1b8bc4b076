"""Words in which migrations say what tables are like: they never change, since databases were made with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa
from alembic import op

_WORDS: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def words(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    """Text, ordered by its bytes."""
    return sa.Column(name, _WORDS, nullable=nullable)


def document(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    """JSON, as text."""
    return sa.Column(name, sa.Text(), nullable=nullable)


def number(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    """A time, or any other large integer."""
    return sa.Column(name, sa.BigInteger(), nullable=nullable)


def integer(name: str) -> sa.Column[Any]:
    """A count or a position."""
    return sa.Column(name, sa.Integer(), nullable=False)


def blob(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    """Bytes."""
    return sa.Column(name, sa.LargeBinary(), nullable=nullable)


def history() -> tuple[sa.Column[Any], ...]:
    """What changes with every change."""
    return integer("version"), number("created_at"), number("updated_at")


def part_of(
    table: str, ours: list[str], other: str, theirs: list[str], on_delete: str | None = "CASCADE"
) -> sa.ForeignKeyConstraint:
    """Tie columns to the key of another table of the same organization."""
    key = ["organization_id", *ours]
    pointed_at = [f"{other}.{column}" for column in ("organization_id", *theirs)]
    return sa.ForeignKeyConstraint(key, pointed_at, f"fk_{table}_{'_'.join(key)}", ondelete=on_delete)


def unique(table: str, *columns: str) -> sa.UniqueConstraint:
    """Let no two rows have the same in these columns."""
    return sa.UniqueConstraint(*columns, name=f"uq_{table}_{'_'.join(columns)}")


def table(name: str, key: Sequence[str], *rest: Any, **options: Any) -> None:
    """Make a table of rows that belong to an organization, which is the first part of their key."""
    owner = ["organization_id"]
    op.create_table(
        name,
        words("organization_id"),
        *rest,
        sa.ForeignKeyConstraint(owner, ["organizations.id"], f"fk_{name}_organization_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint(*owner, *key, name=f"pk_{name}"),
        **options,
    )


def index(table: str, *columns: str) -> None:
    """Find rows of a table by columns."""
    op.create_index(f"ix_{table}_{'_'.join(columns)}", table, columns)
