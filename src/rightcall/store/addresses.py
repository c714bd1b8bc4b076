"""Where a database is: a file of SQLite, or the URL of PostgreSQL."""

from __future__ import annotations

import importlib.util

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from rightcall.errors import MissingExtraError, UsageError

_KNOWN = "a file such as rightcall.db, sqlite:///FILE, or postgresql://USER@HOST/NAME"


def read(database: str) -> URL:
    """Where `database` says that it is; `UsageError` if it says nothing that can be opened."""
    if "://" not in database:
        return _file(database)
    try:
        url = make_url(database)
    except (ArgumentError, ValueError):
        raise UsageError(f"expected a database: {_KNOWN}") from None
    if url.drivername == "sqlite":
        return _file(url.database or "")
    if url.drivername not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise UsageError(f"there is no way to a database by `{url.drivername}`; expected {_KNOWN}")
    if importlib.util.find_spec("psycopg") is None:
        raise MissingExtraError("a database of PostgreSQL", "postgres")
    return url.set(drivername="postgresql+psycopg")


def _file(path: str) -> URL:
    if path in ("", ":memory:"):
        raise UsageError(f"a database has to be kept in a file; expected {_KNOWN}")
    return URL.create("sqlite", database=path)


def is_sqlite(url: URL) -> bool:
    """Whether the database is a file of SQLite."""
    return url.get_backend_name() == "sqlite"


def shown(url: URL) -> str:
    """What people may see of it: the file, or the URL without the password."""
    if is_sqlite(url):
        return url.database or ""
    return url.set(drivername="postgresql", query={}).render_as_string(hide_password=True)
