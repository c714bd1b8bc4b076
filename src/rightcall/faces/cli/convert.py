"""`rightcall convert`: a test set in another tool's words."""

from __future__ import annotations

import click

from rightcall.faces.cli import streams
from rightcall.faces.cli.root import Command

_EPILOG = """\
\b
Examples:
  rightcall convert refund.evalset.json --from adk --config test_config.json -o refund.rightcall.yaml
  rightcall convert promptfooconfig.yaml --from promptfoo
  rightcall convert refund.rightcall.yaml --to langchain -o refund.json
"""


@click.command("convert", cls=Command, epilog=_EPILOG)
@click.argument("file")
@click.option("--from", "dialect", metavar="DIALECT", help="Whose words the file is in, if it does not say so itself.")
@click.option("--to", "target", metavar="DIALECT", default="native", help="Whose words to write. Default: native.")
@click.option(
    "--config",
    metavar="FILE",
    help="Keys for the whole test set, such as a metric's parameters or ADK's test_config.json.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Where to write it: .yaml, .yml or .json. Without it: to the standard output.",
)
def command(file: str, dialect: str | None, target: str, config: str | None, output: str | None) -> int:
    """Say the test set FILE in another tool's words, by meaning.

    What does not mean quite the same there is told on the standard error; what cannot be said is refused, and
    nothing is written.
    """
    from rightcall.app import converting, files

    reading = [file, *([] if config is None else [config])]
    files.check_standard_input(reading)
    files.check_apart(reading, [] if output is None else [output])
    converted = converting.convert(file, dialect, target, config, output)
    for note in converted.notes:
        streams.note(f"note: {note}")
    if output is None:
        streams.StandardOutput().write(converted.data)
    else:
        files.write(output, converted.data)
    return 0
