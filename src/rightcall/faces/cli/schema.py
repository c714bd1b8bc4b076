"""`rightcall schema`: the JSON Schema of test set files, for editors."""

from __future__ import annotations

import click

from rightcall.faces.cli import streams
from rightcall.faces.cli.root import Command

_EPILOG = """\
\b
Examples:
  rightcall schema -o rightcall.schema.json
"""


@click.command("schema", cls=Command, epilog=_EPILOG)
@click.option("-o", "--output", metavar="FILE", help="Write it to a file instead of the standard output.")
def command(output: str | None) -> None:
    """Print the JSON Schema of test set files, made from the kinds of assertion that are installed.

    An editor that knows it completes keys and shows mistakes while you type.
    """
    from rightcall.app import files, service

    data = service.schema_text()
    if output is None:
        streams.StandardOutput().write(data)
    else:
        files.write(output, data)
