"""`rightcall show`: what was recorded, and what was made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rightcall.faces.cli import streams
from rightcall.faces.cli.grading import look_of
from rightcall.faces.cli.reading import how, redact_options, redaction, trace_options
from rightcall.faces.cli.root import Command

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rightcall.app.matching import Reading
    from rightcall.app.service import Source
    from rightcall.reports.terminal import Look
    from rightcall.reports.terminal.ingestion import Totals
    from rightcall.reports.terminal.paint import Line


_EPILOG = """\
\b
Examples:
  rightcall show traces.jsonl
  rightcall show -v spans.json
  rightcall show spans.json --json > native.jsonl
"""


@click.command("show", cls=Command, epilog=_EPILOG)
@click.argument("traces", nargs=-1, required=True)
@trace_options
@redact_options
@click.option("-v", "--verbose", is_flag=True, help="Show the result of each call, and how often it was seen.")
@click.option("--no-color", is_flag=True, help="Use no colours.")
@click.option("--json", "as_json", is_flag=True, help="Print each trajectory as one line of the native format.")
def command(traces: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Show the tool calls that TRACES hold as the tree that they form, what may be missing, and what was read.

    Exit code 3 if a record could not be read or there is none.
    """
    from rightcall.app import service
    from rightcall.app.redaction import without_secrets

    look = look_of({**options, "quiet": False})
    sources = without_secrets(service.read_sources(traces, service.How(**how(options))), redaction(options))
    return _written(sources) if as_json else _shown(sources, look)


def _written(sources: Iterable[tuple[Source, Iterable[Reading]]]) -> int:
    """Print the native format; what could not be read is said beside it."""
    from rightcall.core.calls import Trajectory
    from rightcall.traces import native

    output, written, rejected = streams.StandardOutput(), 0, 0
    for reading in (reading for _, readings in sources for reading in readings):
        if isinstance(reading.item, Trajectory):
            written += 1
            output.write(native.encode(reading.item))
        else:
            rejected += 1
            streams.note(f"error: {reading.item}")
    return 3 if rejected or not written else 0


def _shown(sources: Iterable[tuple[Source, Iterable[Reading]]], look: Look) -> int:
    """Print each trajectory, then for each file, and for all together, what was read of it."""
    from rightcall.reports.terminal.ingestion import Totals
    from rightcall.reports.terminal.paint import coloured, plain

    output, paint = streams.StandardOutput(), coloured if look.colours else plain
    everything, files = Totals(), 0
    for source, readings in sources:
        files += 1
        totals = Totals()
        for reading in readings:
            output.write(paint(_told(reading, (totals, everything), look)))
        head = f"read {source.file}{f' as {source.format}' if source.format else ''}: {_size(source)}"
        output.write(paint(_block(head, totals, look)))
    if files > 1:
        output.write(paint(_block(f"read {files} files: ", everything, look)))
    return 3 if everything.rejected or not everything.trajectories else 0


def _size(source: Source) -> str:
    from rightcall.core.wording import amount

    return f"{amount(source.lines, 'line')}, "


def _told(reading: Reading, totals: Sequence[Totals], look: Look) -> Iterable[Line]:
    from rightcall.core.calls import Trajectory
    from rightcall.reports.terminal import calls

    for one in totals:
        one.count(reading.item)
    if isinstance(reading.item, Trajectory):
        return calls.shown(reading.item, reading.file, look)
    return [(("fail", f"! not read: {reading.item}"),)]


def _block(head: str, totals: Totals, look: Look) -> list[Line]:
    from rightcall.core.wording import amount

    told = amount(totals.trajectories, "trajectory", "trajectories")
    return [(), (("strong", f"{head}{told}"),), *totals.lines(look.width)]
