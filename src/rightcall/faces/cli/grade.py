"""`rightcall grade`: recorded tool calls against tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from rightcall.faces.cli.grading import gate, grading_options, judge, progress, sinks, told
from rightcall.faces.cli.reading import redaction, shared, test_options, trace_options
from rightcall.faces.cli.root import Command

if TYPE_CHECKING:
    from rightcall.app.service import Graded, GradeRequest, Watch
    from rightcall.app.sinks import Sink

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
        judge=judge(options),
        baseline=options["baseline"],
    )
    reports = sinks(options)
    with progress() as watch:
        graded = _grade(request, reports, watch)
    return told(graded, options)


def _grade(request: GradeRequest, reports: Sequence[Sink], watch: Watch) -> Graded:
    """Grade recordings, or a run of an agent, which alone needs what agents need."""
    from rightcall.app import files, service

    if any(map(files.is_run, request.traces)):
        from rightcall.app.running import regrading

        return regrading.grade(request, reports, watch)
    return service.grade(request, reports, watch)
