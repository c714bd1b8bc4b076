"""`rightcall db`: the database of a server, made, brought up to date, checked and copied."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final

import click

from rightcall.faces.cli import streams
from rightcall.faces.cli.root import Command, Group

_EPILOG = """\
\b
Examples:
  rightcall db upgrade
  rightcall db check --database /var/lib/rightcall/rightcall.db
  rightcall db upgrade --database postgresql://rightcall@db.example.org/rightcall
  rightcall db backup rightcall-backup.db
"""

_WRONG: Final = 1


@click.group("db", cls=Group, epilog=_EPILOG)
def command() -> None:
    """Make the database of a server, bring it up to date, check it, copy it."""


def _database_option(function: Callable[..., Any]) -> Callable[..., Any]:
    said = "A file of SQLite, or postgresql://…; default rightcall.db."
    return click.option("--database", default="rightcall.db", metavar="URL", help=said)(function)


@command.command(cls=Command)
@_database_option
def upgrade(database: str) -> None:
    """Make the tables that this version needs, or bring those of an older one up to date.

    All of it happens, or nothing. Keep a copy of an older database first.
    """
    with _libraries():
        from rightcall.store import addresses, migrating
    name = addresses.shown(addresses.read(database))
    before, after = migrating.upgrade(database)
    if before == after:
        streams.say(f"{name}: is up to date, version {after}")
    else:
        streams.say(f"{name}: version {after}" + (" (made)" if before is None else f" (was {before})"))


@command.command(cls=Command)
@_database_option
def check(database: str) -> int:
    """Look for damage: in the file, in the tables, and rows that point at nothing. Exit code 1 if there is any."""
    with _libraries():
        from rightcall.store import addresses, migrating
    name = addresses.shown(addresses.read(database))
    wrong = migrating.check(database)
    for words in wrong or ["nothing is wrong"]:
        streams.say(f"{name}: {words}")
    return _WRONG if wrong else 0


@command.command(cls=Command)
@click.argument("file")
@_database_option
def backup(file: str, database: str) -> None:
    """Copy a database of SQLite to FILE, which must not be there yet, also while a server uses it."""
    with _libraries():
        from rightcall.store import migrating
    migrating.backup(database, file)
    streams.say(f"{file}: the copy is whole")


@contextlib.contextmanager
def _libraries() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        from rightcall.errors import MissingExtraError

        raise MissingExtraError("a database", "server") from error
