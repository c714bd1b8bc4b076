"""Opening a database, and its transactions.

SQLite writes one transaction at a time: writers take turns, in this process by a lock and among processes by SQLite's,
for which they wait ten seconds. Readers see the database as it was when they began, and never wait. What has been
committed is on the disk (`synchronous=FULL`, as PostgreSQL does by itself).
"""

from __future__ import annotations

import contextlib
import datetime
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, NewType, Self, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnection

from rightcall.errors import StoreError
from rightcall.store import addresses, ids

Org = NewType("Org", str)
"""The id of an organization: the first argument of every query."""

_T = TypeVar("_T")

WAITING: Final = 10.0
"""Seconds that a writer waits for another."""

TRIES: Final = 5
"""How often work is tried that other transactions got in the way of."""

_POOL: Final[dict[str, Any]] = {"pool_size": 10, "max_overflow": 30, "pool_timeout": WAITING}
"""Connections that are kept, those that are opened besides when many ask, and seconds that others wait for one."""

_PRAGMAS: Final = ("synchronous=FULL", "foreign_keys=ON", "trusted_schema=OFF")
_PAUSE: Final = 0.01
_BEGIN: Final = "rightcall_begin"
_PASSING: Final = frozenset({"40001", "40P01"})
"""SQLSTATEs of PostgreSQL for transactions that may be tried again: serialization failure, deadlock."""


class Snapshot:
    """The database as it was at one moment, to read from."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection


class Transaction(Snapshot):
    """Changes that are made together or not at all. `now` is the time that is written into them."""

    def __init__(self, connection: Connection, now: datetime.datetime) -> None:
        super().__init__(connection)
        self.now = now
        self._numbers = ids.numbers(now)

    def new_id(self, prefix: str) -> str:
        """Make an id that sorts after those made before it in this transaction."""
        return f"{prefix}_{next(self._numbers)}"


class Store:
    """An open database. It may be used by any number of threads; `close` it when they are done."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._turn = threading.Lock() if engine.dialect.name == "sqlite" else None

    @contextlib.contextmanager
    def reading(self) -> Iterator[Snapshot]:
        """Read from one moment of the database; `StoreError` if it cannot be used."""
        with told(self.engine.url), self.engine.connect() as plain, _repeatable(plain).begin():
            yield Snapshot(plain)

    @contextlib.contextmanager
    def writing(self, now: datetime.datetime) -> Iterator[Transaction]:
        """Change rows together: all changes are on the disk at the end, or none if an exception is raised."""
        with self._taking_turns(), told(self.engine.url), self.engine.connect() as plain, immediate(plain).begin():
            yield Transaction(plain, now)

    def write(self, work: Callable[[Transaction], _T], now: datetime.datetime) -> _T:
        """Do work in a transaction, from its beginning again where another transaction got in its way.

        It has to have no effect but on the database.
        """
        for _ in range(TRIES - 1):
            with contextlib.suppress(_InTheWay), self.writing(now) as transaction:
                return work(transaction)
        with self.writing(now) as transaction:
            return work(transaction)

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _taking_turns(self) -> Iterator[None]:
        if self._turn is None:
            yield
            return
        if not self._turn.acquire(timeout=WAITING):
            raise StoreError(f"the database has been busy with other writers for {WAITING:g} seconds; try again later")
        try:
            yield
        finally:
            self._turn.release()


class _InTheWay(StoreError):
    """Another transaction got in the way; the same work may succeed when it is tried again."""


@contextlib.contextmanager
def told(url: URL) -> Iterator[None]:
    """Tell what goes wrong with the database itself as a `StoreError`, without the password."""
    try:
        yield
    except OperationalError as error:
        name = addresses.shown(url)
        if getattr(error.orig, "sqlstate", None) in _PASSING:
            raise _InTheWay(f"{name}: other transactions got in the way; try again") from None
        raise StoreError(f"{name}: the database cannot be used: {_reason(error)}") from None
    except NoConnection:
        name = addresses.shown(url)
        raise StoreError(f"{name}: all connections are in use; try again later") from None
    except DBAPIError as error:
        if getattr(error.orig, "sqlite_errorname", "") != "SQLITE_NOTADB":
            raise
        raise StoreError(f"{addresses.shown(url)}: is no SQLite database") from None


def _reason(error: SQLAlchemyError) -> str:
    said = str(getattr(error, "orig", None) or error).strip().splitlines()
    return said[0] if said else type(error).__name__


def make_engine(url: URL) -> Engine:
    """Make the pool of connections to a database, none of which is opened yet."""
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url, connect_args={"timeout": WAITING}, **_POOL)
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "begin", _begin)
        return engine
    limits = {"options": f"-c lock_timeout={WAITING:g}s"} if "options" not in url.query else {}
    asked = {"connect_timeout": int(WAITING), "application_name": "rightcall", **limits}
    return create_engine(url, pool_pre_ping=True, connect_args={**asked, **url.query}, **_POOL)


def _prepare(connection: Any, _: object) -> None:
    """Set up a connection to SQLite: transactions begin only when we say so."""
    connection.isolation_level = None
    _write_ahead(connection)
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}").close()


def _write_ahead(connection: Any) -> None:
    """Let readers go on beside a writer. SQLite does not wait for its turn to change that, so we do."""
    until = time.monotonic() + WAITING
    while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_PAUSE)


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get(_BEGIN, "BEGIN"))


def immediate(connection: Connection) -> Connection:
    """Let transactions of the connection be those of a writer from their beginning, so that none turns out late."""
    return connection.execution_options(**{_BEGIN: "BEGIN IMMEDIATE"})


def _repeatable(connection: Connection) -> Connection:
    if connection.dialect.name == "sqlite":
        return connection
    return connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
