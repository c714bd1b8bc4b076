"""`rightcall lint`: expectations that prove they can fail."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from rightcall.faces.cli import streams
from rightcall.faces.cli.reading import redact_options, redaction, shared, test_options, trace_options
from rightcall.faces.cli.root import Command

if TYPE_CHECKING:
    from rightcall.app.lint import Linted, LintRequest

_EPILOG = """\
\b
Examples:
  rightcall lint refund.rightcall.yaml
  rightcall lint tests/*.rightcall.yaml --level warning
  rightcall lint refund.rightcall.yaml --traces good.jsonl --min-mutation-score 90%
"""


@click.command("lint", cls=Command, epilog=_EPILOG)
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--traces",
    multiple=True,
    metavar="TRACES",
    help="Recordings, as for grade; may be repeated. What passes is changed, to see which changes are noticed.",
)
@trace_options
@test_options
@click.option(
    "--level",
    type=click.Choice(["error", "warning", "note"]),
    default="error",
    help="The least bad remark for which the exit code is 1. Default error.",
)
@click.option("--min-mutation-score", metavar="RATE", help="The least share of mutants that must be killed: 0.9, 90%.")
@click.option(
    "--max-mutants", type=click.IntRange(min=1), metavar="N", help="Mutants of one trajectory at most. Default 10000."
)
@redact_options
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON, and nothing else.")
def command(**options: Any) -> int:
    """Look for expectations in test set FILES that can never pass, can never fail, or let wrong calls pass.

    Without traces: contradictions, expectations that nothing can fail, unknown tools and arguments. With --traces:
    mutants of each trajectory that passes, such as a call left out or an argument changed, that pass too.
    """
    from rightcall.app.lint import lint
    from rightcall.faces.cli.progress import Progress

    with Progress(sys.stderr) as watch:
        linted = lint(_request(options), watch)
    for error in linted.refused:
        streams.note(f"error: {error}")
    for warning in linted.warnings:
        streams.note(f"note: {warning}")
    streams.StandardOutput().write(_json(linted) if options["as_json"] else _text(linted))
    return linted.exit_code


def _request(options: dict[str, Any]) -> LintRequest:
    from rightcall.app import gates
    from rightcall.app.lint import LintRequest
    from rightcall.testsets.linting import Level

    least = options["min_mutation_score"]
    return LintRequest(
        files=options["files"],
        traces=options["traces"],
        **shared(options),
        level=Level(options["level"]),
        min_mutation_score=None if least is None else gates.rate(least, "--min-mutation-score"),
        max_mutants=options["max_mutants"],
        redaction=redaction(options),
    )


def _json(linted: Linted) -> bytes:
    import msgspec

    from rightcall.core import jsontext

    return msgspec.json.format(jsontext.encode(linted.record()), indent=2) + b"\n"


def _text(linted: Linted) -> bytes:
    from rightcall.core.values import visible
    from rightcall.faces.cli.linted import told

    return "".join(f"{visible(line)}\n" for line in told(linted)).encode("utf-8", "backslashreplace")
