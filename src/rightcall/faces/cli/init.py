"""`rightcall init`: an example to begin with."""

from __future__ import annotations

import click


@click.command("init")
@click.argument("directory", default=".")
def command(directory: str) -> None:
    r"""Write an example test set, a recorded conversation for it and the schema for editors into DIRECTORY.

    Nothing is written if one of the files exists already.

    \b
    Examples:
      rightcall init
      rightcall init evals
    """
    from rightcall.app import service

    for path in service.init(directory):
        click.echo(f"wrote {path}")
