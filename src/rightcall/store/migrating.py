"""Bringing a database up to date, checking it, and copying it while it is in use."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, Text, text
from sqlalchemy.engine import URL
from sqlalchemy.types import TypeEngine

from rightcall.errors import StoreError, UsageError, Where
from rightcall.store import addresses, versions
from rightcall.store.columns import Words
from rightcall.store.engine import Store, immediate, make_engine, told
from rightcall.store.versions import State

if TYPE_CHECKING:
    from alembic.migration import MigrationContext

_LOCK: Final = 0x52434442
"""The number of PostgreSQL's lock that one program holds while it migrates."""

_MIGRATING: Final = threading.Lock()
"""Held while Alembic works, which keeps what it works on where all threads see it."""


def open_store(database: str) -> Store:
    """Open a database of the version that this program needs; `StoreError` says what to do about any other."""
    url = addresses.read(database)
    if addresses.is_sqlite(url) and not os.path.exists(url.database or ""):
        name = addresses.shown(url)
        raise StoreError(f"{name}: there is no database; make one: rightcall db upgrade --database {name}")
    store = Store(make_engine(url))
    try:
        with store.reading() as on:
            versions.require(on.connection, addresses.shown(url))
    except BaseException:
        store.close()
        raise
    return store


def open_or_make(database: str) -> Store:
    """Open a database, after making its tables if it has none; never changes those of an older version."""
    with _opened(addresses.read(database)) as (_, connection):
        found = versions.state(connection)
    if found is State.EMPTY:
        upgrade(database)
    return open_store(database)


def upgrade(database: str) -> tuple[str | None, str]:
    """Bring a database up to date, or make it: from which version to which. All of it happens, or nothing."""
    with _opened(addresses.read(database)) as (url, connection):
        before = versions.version(connection)
        if versions.state(connection) in (State.FOREIGN, State.NEWER):
            versions.require(connection, addresses.shown(url))
        migrate(connection)
        for words in _pointless(connection):
            raise StoreError(f"{addresses.shown(url)}: cannot be brought up to date, and stays as it was: {words}")
        return before, versions.known()[-1]


def migrate(connection: Connection, to: str = "head") -> None:
    """Run the migrations that are still to be run, up to a version, in the transaction of the connection."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "rightcall.store:migrations")
    config.attributes["connection"] = connection
    with _MIGRATING:
        command.upgrade(config, to)


def check(database: str) -> list[str]:
    """What is wrong inside a database, in words; nothing is if there are none."""
    with open_store(database) as store, store.reading() as on:
        return [*_missing(on.connection), *(_broken(on.connection) if addresses.is_sqlite(store.engine.url) else ())]


def backup(database: str, file: str) -> None:
    """Copy a database of SQLite to a new file while it is in use: the copy is of one moment, and whole.

    `UsageError` for PostgreSQL, which has its own program, and where the file is there already.
    """
    url = addresses.read(database)
    if not addresses.is_sqlite(url):
        raise UsageError(f"PostgreSQL is backed up by its own program: pg_dump --format=custom --file={file} DATABASE")
    if os.path.exists(file):
        raise UsageError("there is such a file already; a backup is never written over", Where(file=file))
    open_store(database).close()
    with told(url):
        _copy(url.database or "", file)


def _copy(source: str, target: str) -> None:
    partial = f"{target}.part"
    _make_private(partial)
    try:
        with (
            contextlib.closing(sqlite3.connect(source)) as ours,
            contextlib.closing(sqlite3.connect(partial)) as theirs,
        ):
            ours.backup(theirs)
        os.replace(partial, target)
    except (sqlite3.Error, OSError) as error:
        os.unlink(partial)
        raise StoreError(f"the backup cannot be written: {error}", Where(file=target)) from None


@contextlib.contextmanager
def _opened(url: URL) -> Iterator[tuple[URL, Connection]]:
    """Open a connection that nobody else can change the tables beside; a file that is not there is made.

    SQLite changes a table by making it anew, and would delete all that points at the old one while it looks after that.
    """
    if addresses.is_sqlite(url):
        _make_private(url.database or "")
    engine = make_engine(url)
    try:
        with told(url), engine.connect() as plain, _alone(plain).begin():
            if not addresses.is_sqlite(url):
                plain.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _LOCK})
            yield url, plain
    finally:
        engine.dispose()


def _alone(connection: Connection) -> Connection:
    if connection.dialect.name == "sqlite":
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        driver.execute("PRAGMA foreign_keys=OFF").close()  # it can only be changed before a transaction
    return immediate(connection)


def _make_private(path: str) -> None:
    """Make a file, if there is none, that only its owner can read."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreError(f"the database cannot be made: {error.strerror}", Where(file=path)) from None


def _missing(connection: Connection) -> Iterator[str]:
    """How the tables differ from what they have to be."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from rightcall.store import schema

    options = {"version_table": versions.TABLE, "compare_type": _is_of_another_type}
    context = MigrationContext.configure(connection, opts=options)
    for difference in compare_metadata(context, schema.METADATA):
        yield f"the tables are not as they have to be: {difference}"


def _is_of_another_type(
    context: MigrationContext, _column: object, _ours: object, found: TypeEngine[Any], type_: TypeEngine[Any]
) -> bool | None:
    """Whether a column has a type that it must not have; `None` lets Alembic tell, which knows no order of text."""
    if not isinstance(type_, Words):
        return None
    wanted = type_.load_dialect_impl(context.dialect)
    return not isinstance(found, Text) or found.collation != getattr(wanted, "collation", None)


def _broken(connection: Connection) -> Iterator[str]:
    """What SQLite finds wrong with the file, and rows that point at nothing."""
    for (said,) in connection.exec_driver_sql("PRAGMA integrity_check"):
        if said != "ok":
            yield f"the file is damaged: {said}"
    yield from _pointless(connection)


def _pointless(connection: Connection) -> Iterator[str]:
    """Rows that point at nothing, in SQLite; PostgreSQL never has any."""
    if connection.dialect.name != "sqlite":
        return
    for table, row, parent, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
        which = "a row" if row is None else f"row {row}"
        yield f"{which} of {table} points at a row of {parent} that is not there"
