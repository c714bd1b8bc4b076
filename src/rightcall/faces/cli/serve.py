"""`rightcall serve`: the HTTP server."""

from __future__ import annotations

import os
from typing import Any, Final

import click

from rightcall.faces.cli import streams
from rightcall.faces.cli.extras import needing
from rightcall.faces.cli.root import Command

SECRET_KEYS: Final = "RIGHTCALL_SECRET_KEYS"
"""The environment variable with the keys for secrets of endpoints: the first seals, all open."""

_EPILOG = """\
\b
Examples:
  rightcall serve
  rightcall serve --database /var/lib/rightcall/rightcall.db --port 9000
  rightcall keys create ci && rightcall serve --host 0.0.0.0 --allow-host grading.example.org
  rightcall serve --print-openapi > openapi.json
"""


@click.command(cls=Command, epilog=_EPILOG)
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="Where to listen. Default 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65535), default=8321, metavar="N", help="Default 8321; 0: any.")
@click.option(
    "--database",
    default="rightcall.db",
    metavar="URL",
    help="A file of SQLite, or postgresql://…; default rightcall.db.",
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="A name by which the server may be addressed, besides that of this machine; may be repeated.",
)
@click.option("--max-body", type=click.IntRange(min=1), default=10, metavar="MIB", help="Largest request. Default 10.")
@click.option(
    "--rate-limit", type=click.IntRange(min=1), default=600, metavar="N", help="Requests a minute from one address."
)
@click.option("--print-openapi", is_flag=True, help="Print the description of the API, and serve nothing.")
def command(**options: Any) -> None:
    """Serve the HTTP API, until it is stopped.

    By default only this machine is listened to, and no key is needed until there is one. To listen to others, make a
    key first: rightcall keys create NAME.
    """
    with needing("the server", "server"):
        from rightcall.faces.http import openapi, serving
    if options["print_openapi"]:
        streams.say(openapi.checked_in().decode().rstrip("\n"))
    else:
        serving.serve(_asked(options), streams.note)


def _asked(options: dict[str, Any]) -> Any:
    from rightcall.faces.http.serving import Serving
    from rightcall.faces.http.settings import LOCAL_HOSTS, Settings

    hosts = dict.fromkeys([*LOCAL_HOSTS, options["host"], *options["allow_host"]])
    settings = Settings(
        allowed_hosts=tuple(hosts),
        max_body=options["max_body"] * 1024 * 1024,
        per_minute=options["rate_limit"],
    )
    sealing = tuple(key.strip() for key in os.environ.get(SECRET_KEYS, "").split(",") if key.strip())
    return Serving(
        host=options["host"],
        port=options["port"],
        database=options["database"],
        settings=settings,
        secret_keys=sealing,
    )
