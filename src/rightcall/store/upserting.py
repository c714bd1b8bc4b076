"""`INSERT … ON CONFLICT`, which both databases have and SQLAlchemy makes by the database's own class."""

from __future__ import annotations

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def insert(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """Make an insertion that can say what is done where the row is there already."""
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)
