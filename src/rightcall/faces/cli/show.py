"""`rightcall show`: what was recorded, and what was made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from rightcall.faces.cli import streams
from rightcall.faces.cli.root import Command

if TYPE_CHECKING:
    from rightcall.app.matching import Reading
    from rightcall.core.calls import ToolCall, Trajectory


_EPILOG = """\
\b
Examples:
  rightcall show traces.jsonl
  rightcall show spans.json --json > native.jsonl
"""


@click.command("show", cls=Command, epilog=_EPILOG)
@click.argument("traces", nargs=-1, required=True)
@click.option(
    "--format", "trace_format", metavar="NAME", help="The format of the traces, if it should not be detected."
)
@click.option("--json", "as_json", is_flag=True, help="Print each trajectory as one line of the native format.")
def command(traces: tuple[str, ...], trace_format: str | None, as_json: bool) -> int:
    """Show the tool calls that TRACES hold, trajectory by trajectory, and what could not be read.

    Exit code 3 if a record could not be read or there is none.
    """
    from rightcall.app import service

    output, counts = streams.StandardOutput(), Counter[str]()
    for reading in service.read_traces(traces, trace_format):
        output.write(_native(reading, counts) if as_json else _told(reading, counts))
    if not as_json:
        output.write(_encoded(["", _summary(counts)]))
    return 3 if counts["rejected"] or not counts["trajectories"] else 0


def _native(reading: Reading, counts: Counter[str]) -> bytes:
    from rightcall.core.calls import Trajectory
    from rightcall.traces import native

    if isinstance(reading.item, Trajectory):
        counts["trajectories"] += 1
        return native.encode(reading.item)
    counts["rejected"] += 1
    streams.note(f"error: {reading.item}")
    return b""


def _told(reading: Reading, counts: Counter[str]) -> bytes:
    from rightcall.core.calls import Trajectory

    if not isinstance(reading.item, Trajectory):
        counts["rejected"] += 1
        return _encoded([f"! not read: {reading.item}"])
    _count(reading.item, counts)
    return _encoded(_trajectory(reading.item, reading.file))


def _count(trajectory: Trajectory, counts: Counter[str]) -> None:
    counts["trajectories"] += 1
    counts["not recorded"] += trajectory.tool_calls is None
    for call in trajectory.tool_calls or ():
        counts["calls"] += 1
        counts["joined"] += max(0, len(call.sources) - 1)
        if call.arguments_state != "ok":
            counts[f"state:{call.arguments_state}"] += 1


def _trajectory(trajectory: Trajectory, file: str) -> Iterator[str]:
    calls = trajectory.tool_calls
    told = "no calls recorded" if calls is None else _plural(len(calls), "call")
    yield f"{trajectory.id or '(no id)'}  {told}  {file}"
    for number, call in enumerate(calls or (), 1):
        yield f"  {number:>2} {_call(call)}"
    yield from (f"  gap: {gap}" for gap in trajectory.gaps)
    yield from (f"  note: {warning}" for warning in trajectory.warnings)


def _call(call: ToolCall) -> str:
    from rightcall.core.sidebyside import call_text
    from rightcall.core.values import cut

    if call.arguments_state == "ok":
        text = call_text({"name": call.name, "arguments": call.arguments})
    else:
        state = call.arguments_state.replace("_", " ")
        shown = "" if call.arguments_text is None else f": {cut(call.arguments_text, 80)}"
        text = f"{call.name}(<arguments {state}{shown}>)"
    marks: list[str] = [] if call.kind == "client" else [call.kind]
    marks += [] if call.status in ("requested", "ok") else [call.status]
    marks += [] if len(call.sources) < 2 else [f"seen {len(call.sources)} times"]
    return f"{text}  [{', '.join(marks)}]" if marks else text


def _summary(counts: Counter[str]) -> str:
    parts = [_plural(counts["trajectories"], "trajectory", "trajectories"), _plural(counts["calls"], "call")]
    states = sorted(key for key in counts if key.startswith("state:"))
    parts += [f"{counts[key]} with arguments {key[6:].replace('_', ' ')}" for key in states]
    if counts["joined"]:
        parts.append(f"{counts['joined']} further sightings joined to them")
    if counts["not recorded"]:
        parts.append(f"{counts['not recorded']} without recorded calls")
    if counts["rejected"]:
        parts.append(f"{_plural(counts['rejected'], 'record')} not read")
    return ", ".join(parts)


def _plural(number: int, noun: str, many: str = "") -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {many or noun + 's'}"


def _encoded(lines: list[str] | Iterator[str]) -> bytes:
    from rightcall.core.values import visible

    return "".join(f"{visible(line)}\n" for line in lines).encode("utf-8", "backslashreplace")
