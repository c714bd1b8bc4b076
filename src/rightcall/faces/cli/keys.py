"""`rightcall keys`: the keys of a server, made where its database is."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rightcall.faces.cli import streams
from rightcall.faces.cli.extras import needing
from rightcall.faces.cli.root import Command, Group

if TYPE_CHECKING:
    from rightcall.store.keys import Key

Function = TypeVar("Function", bound=Callable[..., Any])

_EPILOG = """\
\b
Examples:
  rightcall keys create ci --scope read --scope write
  rightcall keys list
  rightcall keys revoke key_01kqsdr2g03rm0gsn973r636h8
"""


@click.group("keys", cls=Group, epilog=_EPILOG)
def command() -> None:
    """Make, list and revoke the keys of a server."""


def _of_database(function: Function) -> Function:
    database = click.option(
        "--database", default="rightcall.db", metavar="URL", help="The server's; default rightcall.db."
    )
    organization = click.option(
        "--organization", default="default", metavar="NAME", help="Whose keys; default `default`."
    )
    return database(organization(function))


@command.command("create", cls=Command)
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(["read", "write", "ingest", "admin"]),
    help="What it allows; may be repeated. Default read and write.",
)
@_of_database
def create(name: str, scopes: tuple[Any, ...], database: str, organization: str) -> None:
    """Make a key called NAME, and print it: it is not shown again."""
    with needing("a database", "server"):
        from rightcall.app import keyring

    key, text = keyring.create(database, organization, name, scopes or ("read", "write"), _now())
    streams.note(f"made {key.id}, which allows {', '.join(key.scopes)}; keep this, it is not shown again:")
    streams.say(text)


@command.command("list", cls=Command)
@_of_database
def show(database: str, organization: str) -> None:
    """List the keys of an organization, the oldest first."""
    with needing("a database", "server"):
        from rightcall.app import keyring

    for key in keyring.all_of(database, organization):
        streams.say(_line(key))


@command.command("revoke", cls=Command)
@click.argument("key")
@_of_database
def revoke(key: str, database: str, organization: str) -> None:
    """Let the KEY of this id be of no more use, from the next request on."""
    with needing("a database", "server"):
        from rightcall.app import keyring

    revoked = keyring.revoke(database, organization, key, _now())
    streams.say(f"revoked {revoked.id} ({revoked.name})")


def _line(key: Key) -> str:
    state = "revoked" if key.revoked_at is not None else "active"
    used = "never used" if key.last_used_at is None else f"last used {key.last_used_at:%Y-%m-%d}"
    return f"{key.id}  {key.prefix}…  {state}  {', '.join(key.scopes)}  {used}  {key.name}"


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
