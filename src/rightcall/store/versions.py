"""Which version a database is of, and which this program needs; told without loading what migrates."""

from __future__ import annotations

import enum
import importlib.resources
from typing import Final

from sqlalchemy import Connection, Text, column, inspect, select, table

from rightcall.errors import StoreError

TABLE: Final = "rightcall_version"
"""The table that holds the version of a database."""

_VERSION: Final = table(TABLE, column("version_num", Text)).c.version_num


class State(enum.StrEnum):
    """What is found where a database is to be."""

    EMPTY = "has no tables yet"
    FOREIGN = "holds tables of another program"
    OLDER = "is of an older version"
    CURRENT = "is of the version that this program needs"
    NEWER = "is of a newer version"


def known() -> list[str]:
    """The numbers of all versions, the first one first: the names of the migrations begin with them."""
    files = importlib.resources.files("rightcall.store.migrations.versions").iterdir()
    return sorted(file.name[:4] for file in files if file.name[:4].isdigit())


def version(connection: Connection) -> str | None:
    """The version of a database; `None` if it has none."""
    if not inspect(connection).has_table(TABLE):
        return None
    found: str | None = connection.execute(select(_VERSION)).scalar_one_or_none()
    return found


def state(connection: Connection) -> State:
    """What is found in a database."""
    found = version(connection)
    if found is None:
        return State.FOREIGN if inspect(connection).has_table("organizations") else State.EMPTY
    if found == known()[-1]:
        return State.CURRENT
    return State.OLDER if found in known() else State.NEWER


def require(connection: Connection, database: str) -> None:
    """`StoreError`, which says what to do, if a database is not of the version that this program needs."""
    found = state(connection)
    if found is State.CURRENT:
        return
    advice = {
        State.EMPTY: f"make them: rightcall db upgrade --database {database}",
        State.OLDER: f"keep a copy and bring it up to date: rightcall db upgrade --database {database}",
        State.NEWER: "use the version of rightcall that made it, or a later one",
        State.FOREIGN: "use a database of its own for rightcall",
    }
    raise StoreError(f"{database}: the database {_told(connection, found)}; {advice[found]}")


def _told(connection: Connection, found: State) -> str:
    if found in (State.OLDER, State.NEWER):
        return f"{found} ({version(connection)}, this program needs {known()[-1]})"
    return str(found)
