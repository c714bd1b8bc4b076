"""`rightcall compare`: what became of the tests of one run in another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rightcall.faces.cli import streams
from rightcall.faces.cli.reading import redact_options, redaction
from rightcall.faces.cli.root import Command

if TYPE_CHECKING:
    from rightcall.app.comparing import Writer

_EPILOG = """\
\b
Examples:
  rightcall compare main.json branch.json
  rightcall compare main.json branch.json --json -o comparison.md
  rightcall grade traces/ -t refund.rightcall.yaml --baseline main.json
"""


@click.command("compare", cls=Command, epilog=_EPILOG)
@click.argument("baseline")
@click.argument("candidate")
@click.option(
    "-o",
    "--output",
    multiple=True,
    metavar="FILE",
    help="Write what was found to a file: .json, .md or .txt; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON, and nothing else, on the standard output.")
@redact_options
@click.option("--no-redact", is_flag=True, help="Hide no secrets by default, as Markdown does.")
@click.option("--no-color", is_flag=True, help="No colours, also on a terminal.")
@click.option("-q", "--quiet", is_flag=True, help="Show only counts, rates and the decision.")
@click.option("-v", "--verbose", is_flag=True, help="Show the calls side by side of every test whose calls changed.")
def command(**options: Any) -> int:
    """Compare the run in the report CANDIDATE with the one in BASELINE: what `grade -o run.json` wrote.

    Tests are paired by id. Exit code 1 if a test fails that did not fail in the baseline; 3 if one could not be judged
    that was no error there, or none was judged in both.
    """
    from rightcall.app import comparing

    writer = _screen(options)
    compared = comparing.compare(
        comparing.CompareRequest(
            baseline=options["baseline"],
            candidate=options["candidate"],
            outputs=options["output"],
            redaction=redaction(options),
        )
    )
    streams.StandardOutput().write(compared.written(writer))
    for error in compared.unwritten:
        streams.note(f"error: {error}")
    return compared.exit_code


def _screen(options: dict[str, Any]) -> Writer:
    """Return how it is written to the standard output."""
    from rightcall.app.comparing import JSON, Writer
    from rightcall.faces.cli.grading import look_of
    from rightcall.reports.terminal import comparison_as_text

    if options["as_json"]:
        return JSON
    look = look_of(options)
    return Writer(write=lambda comparison: comparison_as_text(comparison, look), suffixes=())
