"""`rightcall run`: an agent driven on tests, recorded and graded."""

from __future__ import annotations

import math
import secrets
import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from rightcall.faces.cli import streams
from rightcall.faces.cli.grading import gate, grading_options, judge, sinks, told
from rightcall.faces.cli.guard import INTERRUPTED
from rightcall.faces.cli.reading import config_option, redaction
from rightcall.faces.cli.root import Command

if TYPE_CHECKING:
    from rightcall.agents.pace import Pace
    from rightcall.app.running.planning import Order, Selection
    from rightcall.app.running.preparing import Crew, Plan, RunRequest
    from rightcall.app.sinks import Sink

_EPILOG = """\
\b
Examples:
  rightcall run refund.rightcall.yaml --plan
  rightcall run refund.rightcall.yaml --endpoint python:agent.py:answer
  rightcall run refund.rightcall.yaml --repeat 5 -j 20 -o junit.xml
  rightcall run refund.rightcall.yaml --filter 'late-*' --filter tag:smoke
  rightcall run --resume .rightcall/runs/20261130-201500-1f0c2a
"""


def _finite(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """A number of seconds as it is; `nan` and `inf` are none."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is no number of seconds.")
    return value


@click.command("run", cls=Command, epilog=_EPILOG)
@click.argument("files", nargs=-1)
@click.option("--endpoint", metavar="AGENT", help="How the agent is reached: python:FILE:FUNCTION, command:…, a URL.")
@click.option("--plan", is_flag=True, help="Show what would be sent, and call nothing.")
@click.option("--dry-run", is_flag=True, help="Call the agent and grade, but keep and gate nothing.")
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="PATTERN",
    help="Only tests whose id is like this, or FIELD:PATTERN with tag, requirement, category, topic or name; may be "
    "repeated.",
)
@click.option("--failed-first", is_flag=True, help="Begin with the tests that did not pass when they were last run.")
@click.option("--failed", is_flag=True, help="Only the tests that did not pass when they were last run.")
@click.option("--repeat", type=click.IntRange(min=1), metavar="N", help="Attempts at each test, whatever tests say.")
@click.option("--early-stop", is_flag=True, help="Make no further attempt at a test that is settled.")
@click.option(
    "-j", "--concurrency", type=click.IntRange(1, 10_000), metavar="N", help="Attempts at once, at most. Default 10."
)
@click.option("--rate", metavar="RATE", help="Turns sent at most: 5 (in a second), 300/m, 1000/h.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    callback=_finite,
    metavar="SECONDS",
    help="How long one turn may take.",
)
@click.option(
    "--retries",
    type=click.IntRange(min=0),
    metavar="N",
    help="How often a conversation is begun anew after trouble that passes. Default 2.",
)
@click.option(
    "--simulator", metavar="MODEL", help="The model that plays the users of tests with a persona. Default the judge."
)
@click.option("--out-dir", metavar="DIR", help="Where runs are kept. Default .rightcall/runs.")
@click.option("--resume", metavar="RUN", help="Go on with a run that was broken off: its directory.")
@click.option("--retry-errors", is_flag=True, help="With --resume: make the attempts again in which there was trouble.")
@click.option("--dialect", metavar="NAME", help="Whose words the tests are written in, if not ours.")
@config_option
@grading_options
def command(**options: Any) -> int:
    """Drive the agent on every test of FILES, keep what it did, and grade it.

    How the agent is reached stands in the test set, or is said by --endpoint.
    """
    _check(options)
    if options["plan"]:
        return _show_plan(options)
    return _resume(options) if options["resume"] else _run(options)


def _check(options: dict[str, Any]) -> None:
    """Refuse options that cannot go together."""
    if not options["files"] and not options["resume"]:
        raise click.UsageError("name a test set, or a run to go on with: --resume RUN")
    fixed = (
        "filters",
        "failed_first",
        "failed",
        "repeat",
        "early_stop",
        "plan",
        "dry_run",
        "out_dir",
        "dialect",
        "config",
    )
    unfit = {"--resume": fixed, "--dry-run": ("output",)}
    for option, others in unfit.items():
        given = [name for name in others if options[name]]
        if options[option.strip("-").replace("-", "_")] and given:
            name = {"filters": "filter"}.get(given[0], given[0]).replace("_", "-")
            reason = "the run goes on as it began" if option == "--resume" else "nothing is kept"
            raise click.UsageError(f"--{name} cannot be had with {option}: {reason}")
    if options["retry_errors"] and not options["resume"]:
        raise click.UsageError("--retry-errors needs a run to go on with: --resume RUN")


def _request(options: dict[str, Any]) -> RunRequest:
    from rightcall.app.judging import SimulatorOptions
    from rightcall.app.running.preparing import RunRequest

    return RunRequest(
        tests=options["files"],
        dialect=options["dialect"],
        config=options["config"],
        endpoint=options["endpoint"],
        selection=_selection(options),
        pace=_pace(options),
        early_stop=options["early_stop"],
        gate=gate(options),
        redaction=redaction(options),
        judge=judge(options),
        simulator=SimulatorOptions(model=options["simulator"]),
        baseline=options["baseline"],
    )


def _selection(options: dict[str, Any]) -> Selection:
    from rightcall.app.running.planning import Selection

    order: Order = "failed_only" if options["failed"] else "failed_first" if options["failed_first"] else "as_written"
    return Selection(filters=options["filters"], order=order, repeat=options["repeat"])


def _pace(options: dict[str, Any], before: Pace | None = None) -> Pace:
    """How fast it is run: as it was before, or by default, but for what the options say."""
    from msgspec.structs import replace

    from rightcall.agents.pace import Pace, rate

    asked = {name: options[name] for name in ("concurrency", "timeout", "retries") if options[name] is not None}
    if options["rate"] is not None:
        asked["rate"] = rate(options["rate"])
    return replace(before or Pace(), **asked)


def _planned(request: RunRequest, options: dict[str, Any]) -> Plan:
    from rightcall.app.running import keeping, preparing

    base = options["out_dir"] or keeping.RUNS
    return preparing.plan(request, preparing.read_suites(request), lambda: keeping.failed_last(request.tests, base))


def _show_plan(options: dict[str, Any]) -> int:
    from msgspec.structs import replace

    from rightcall.faces.cli import planned

    request = replace(_request(options), judge=None)  # its key is not looked up
    planned.show(_planned(request, options), request, as_json=options["as_json"])
    return 0


class _Going(NamedTuple):
    """A run that is about to go: everything is read, and the agents can be driven."""

    plan: Plan
    request: RunRequest
    crew: Crew
    reports: list[Sink]


def _going(plan: Plan, request: RunRequest, options: dict[str, Any]) -> _Going:
    """Find out all that can be wrong before anything is sent or kept."""
    from rightcall.app.running import preparing

    reports = sinks(options)
    preparing.check_reports(request, reports)
    return _Going(plan, request, preparing.crew(plan, request), reports)


def _run(options: dict[str, Any]) -> int:
    """Begin a run, in a directory of its own unless nothing is to be kept."""
    from rightcall.app.running import keeping

    request = _request(options)
    going = _going(_planned(request, options), request, options)
    now = datetime.now(UTC)
    identity = keeping.new_identity(now, secrets.token_bytes(3))
    if options["dry_run"]:
        return _driven(going, options, identity, None)
    base = options["out_dir"] or keeping.RUNS
    return _driven(going, options, identity, keeping.begin(going.plan, request, base, identity, now))


def _resume(options: dict[str, Any]) -> int:
    """Go on with a run, with whatever of the pace is not said anew."""
    from msgspec.structs import replace

    from rightcall.app.running import journal, keeping

    directory = options["resume"]
    before = journal.read_head(directory).pace
    request = replace(_request(options), pace=_pace(options, before))
    head, request, plan = keeping.resumed(directory, request)
    return _driven(_going(plan, request, options), options, head.id, directory)


def _driven(going: _Going, options: dict[str, Any], identity: str, directory: str | None) -> int:
    from rightcall.app.running import keeping, live
    from rightcall.faces.cli.run_progress import RunProgress
    from rightcall.faces.cli.stopping import stopping

    plan, request, crew, reports = going
    with ExitStack() as stack:
        stop, watch = stack.enter_context(stopping()), stack.enter_context(RunProgress(sys.stderr))
        journal = None
        if directory is not None:
            kept = keeping.opened(directory, reports, retry_errors=options["retry_errors"])
            journal, reports = stack.enter_context(kept)
        ran = live.run(plan, request, live.begin(plan, request, crew, identity, journal), reports, watch, stop)
    if directory is not None:
        streams.note(f"go on with: rightcall run --resume {directory}" if stop.asked else f"kept in {directory}")
    code = told(ran, {**options, "exit_zero": options["exit_zero"] or options["dry_run"]})
    return INTERRUPTED if stop.asked else code
