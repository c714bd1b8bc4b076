"""`rightcall init`: an example to begin with."""

from __future__ import annotations

import click

_EPILOG = """\
\b
Examples:
  rightcall init
  rightcall init evals
"""


@click.command("init", epilog=_EPILOG)
@click.argument("directory", default=".")
def command(directory: str) -> None:
    """Write an example test set, a recorded conversation for it and the schema for editors into DIRECTORY.

    Nothing is written if one of the files exists already.
    """
    from rightcall.app import service

    for path in service.init(directory):
        click.echo(f"wrote {path}")
