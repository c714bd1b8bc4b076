"""`rightcall init`: an example to begin with."""

from __future__ import annotations

import click

from rightcall.faces.cli import streams
from rightcall.faces.cli.root import Command

_EPILOG = """\
\b
Examples:
  rightcall init
  rightcall init evals
"""


@click.command("init", cls=Command, epilog=_EPILOG)
@click.argument("directory", default=".")
def command(directory: str) -> None:
    """Write an example test set, a recorded conversation for it and the schema for editors into DIRECTORY.

    Nothing is written if one of the files exists already.
    """
    from rightcall.app import service

    written = service.init(directory)
    for path in written:
        streams.say(f"wrote {path}")
    tests, traces, *_ = written
    streams.say(f"next: rightcall grade {traces} --tests {tests}")
