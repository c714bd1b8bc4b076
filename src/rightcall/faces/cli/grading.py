"""What commands that grade have in common: reports, the gate, and how much is shown."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from rightcall.faces.cli import streams
from rightcall.faces.cli.reading import redact_options

if TYPE_CHECKING:
    from rightcall.app.gates import GateOptions
    from rightcall.app.judging import JudgeOptions
    from rightcall.app.service import Graded
    from rightcall.app.sinks import Sink
    from rightcall.reports.terminal import Look

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS: Final[tuple[Callable[[Callable[..., Any]], Callable[..., Any]], ...]] = (
    click.option(
        "-o",
        "--output",
        multiple=True,
        metavar="FILE",
        help="Write a report: .json, .jsonl, .xml (JUnit), .md, .html, .csv, .parquet or .txt; may be repeated.",
    ),
    click.option(
        "--json", "as_json", is_flag=True, help="Print the JSON report, and nothing else, on the standard output."
    ),
    click.option(
        "--github",
        is_flag=True,
        help="In GitHub Actions: annotate the expectations that were not met, and write the summary of the step.",
    ),
    click.option(
        "--exit-zero",
        is_flag=True,
        help="Forgive failed tests: exit with 0 instead of 1, or 3 if some could not be judged.",
    ),
    click.option(
        "--min-pass-rate",
        metavar="RATE",
        help="The least share of graded tests that must pass: 0.8, 4/5, 80%. Default 1.",
    ),
    click.option(
        "--min-graded", type=click.IntRange(min=1), metavar="N", help="How many tests must have been graded. Default 1."
    ),
    click.option(
        "--allow-errors",
        type=click.IntRange(min=0),
        metavar="N",
        help="How many tests may fail to be judged. Default 0.",
    ),
    click.option(
        "--threshold",
        multiple=True,
        metavar="NAME=RATE",
        help="The least pass rate of the verdicts of one name; may be repeated.",
    ),
    click.option(
        "--baseline",
        metavar="RUN",
        help="The JSON report of another run: tell what became of its tests. See `rightcall compare`.",
    ),
    click.option(
        "--fail-on",
        type=click.Choice(["failure", "regression"]),
        default="failure",
        help="Which failures block: those the least pass rate does not allow, or those the baseline does not have. "
        "Default failure.",
    ),
    click.option(
        "--judge",
        metavar="MODEL",
        help="The model that judges rubrics: provider:model, such as openai:gpt-5, or python:path.py:function.",
    ),
    click.option("--judge-base-url", metavar="URL", help="Where that model is reached, if not at its provider."),
    click.option(
        "--judge-api-key-env", metavar="NAME", help="The environment variable with its key, if not the provider's own."
    ),
    click.option("--judge-cache", metavar="DIR", help="Keep its answers there, and do not ask again for what is kept."),
    redact_options,
    click.option(
        "--no-redact",
        is_flag=True,
        help="Hide no secrets by default, as Markdown, HTML and the reports for GitHub and GitLab do.",
    ),
    click.option("--no-color", is_flag=True, help="No colours, also on a terminal."),
    click.option("-q", "--quiet", is_flag=True, help="Show only what did not pass, and the decision."),
    click.option("-v", "--verbose", is_flag=True, help="Show every verdict, also of tests that passed."),
)


def grading_options(function: Function) -> Function:
    """Add the options for reports, for the gate, and for what is shown."""
    return reduce(lambda made, option: option(made), reversed(_OPTIONS), function)


def sinks(options: dict[str, Any]) -> list[Sink]:
    """Return the reports that the options ask for."""
    return [_screen(options), *map(_file, options["output"]), *_github(options)]


def told(graded: Graded, options: dict[str, Any]) -> int:
    """Say which reports could not be written, and return the exit code."""
    for error in graded.unwritten:
        streams.note(f"error: {error}")
    return graded.exit_code(exit_zero=options["exit_zero"])


def gate(options: dict[str, Any]) -> GateOptions:
    """Return what the options say of the gate."""
    from rightcall.app import gates

    rate = options["min_pass_rate"]
    return gates.GateOptions(
        min_pass_rate=None if rate is None else gates.rate(rate, "--min-pass-rate"),
        min_graded=options["min_graded"],
        allow_errors=options["allow_errors"],
        thresholds=dict(map(gates.threshold, options["threshold"])),
        fail_on=gates.FailOn(options["fail_on"]),
    )


def judge(options: dict[str, Any]) -> JudgeOptions:
    """Return what the options say of the judge."""
    from rightcall.app.judging import JudgeOptions

    return JudgeOptions(
        model=options["judge"],
        base_url=options["judge_base_url"],
        api_key_env=options["judge_api_key_env"],
        cache=options["judge_cache"],
    )


def _screen(options: dict[str, Any]) -> Sink:
    """Return the report that goes to the standard output."""
    from rightcall.app.sinks import Sink
    from rightcall.reports.json import JSONReport
    from rightcall.reports.terminal import TerminalReport

    if options["as_json"]:
        return Sink(JSONReport(), streams.StandardOutput)
    return Sink(TerminalReport(look_of(options)), streams.StandardOutput)


def look_of(options: dict[str, Any]) -> Look:
    """Return how what is shown looks: as the terminal can show it, and as much as the options ask for."""
    from rightcall.reports.terminal import Detail, Look

    if options["quiet"] and options["verbose"]:
        raise click.UsageError("--quiet and --verbose cannot be had together")
    return Look(
        width=streams.width(),
        colours=streams.wants_colours(refused=options["no_color"]),
        ascii_only=streams.is_ascii_only(),
        detail=Detail.QUIET if options["quiet"] else Detail.VERBOSE if options["verbose"] else Detail.NORMAL,
    )


def _file(path: str) -> Sink:
    from rightcall.app import kit, sinks

    return sinks.to_file(kit.report_for(path).make(), path)


def _github(options: dict[str, Any]) -> Iterator[Sink]:
    """Yield the reports for a step of GitHub Actions. The runner reads commands from the standard error, too."""
    if options["github"]:
        from rightcall.app import sinks
        from rightcall.reports.github import GitHubReport

        yield sinks.Sink(GitHubReport(), streams.StandardError)
        if path := os.environ.get("GITHUB_STEP_SUMMARY"):
            yield sinks.to_step_summary(path)


def progress() -> Any:
    """Return what tells how many trajectories were read."""
    from rightcall.faces.cli.progress import Progress

    return Progress(sys.stderr)
