"""`rightcall grade`: recorded tool calls against tests."""

from __future__ import annotations

from typing import Any

import click

from rightcall.faces.cli.grading import gate, grading_options, progress, sinks, told
from rightcall.faces.cli.reading import redaction, shared, test_options, trace_options
from rightcall.faces.cli.root import Command

_EPILOG = """\
\b
Examples:
  rightcall grade traces.jsonl --tests refund.rightcall.yaml
  rightcall grade traces/ -t refund.rightcall.yaml -o junit.xml -o results.json
  rightcall grade traces/ -t policy.rightcall.yaml --apply-all --min-pass-rate 99%
  cat records.jsonl | rightcall grade - --json
"""


@click.command("grade", cls=Command, epilog=_EPILOG)
@click.argument("traces", nargs=-1, required=True)
@click.option(
    "-t",
    "--tests",
    multiple=True,
    metavar="FILE",
    help="A test set; may be repeated. Without it, records are graded by the expectations they carry.",
)
@trace_options
@test_options
@grading_options
def command(**options: Any) -> int:
    """Grade the tool calls recorded in TRACES (files, directories, patterns or - for the standard input).

    A trajectory is graded for the test that it names, or whose id is its own id or its conversation's; one
    trajectory and one test belong together anyway. Several trajectories for one test are its attempts.
    """
    from rightcall.app import service

    request = service.GradeRequest(
        traces=options["traces"],
        tests=options["tests"],
        **shared(options),
        gate=gate(options),
        redaction=redaction(options),
        baseline=options["baseline"],
    )
    reports = sinks(options)
    with progress() as watch:
        graded = service.grade(request, reports, watch)
    return told(graded, options)
