"""`INSERT … ON CONFLICT`, which both databases have and SQLAlchemy makes by the database's own class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def insert(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """Make an insertion that can say what is done where the row is there already."""
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)


def insert_new(connection: Connection, table: Table, row: Mapping[str, Any]) -> bool:
    """Insert a row, unless it is there already: whether it is new.

    It is told by what the database returns, since counts of rows are not the same with every driver.
    """
    query = insert(connection, table).on_conflict_do_nothing().returning(table.c.organization_id)
    return connection.execute(query, dict(row)).first() is not None
