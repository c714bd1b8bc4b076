"""`rightcall promote`: recorded conversations become tests."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from rightcall.faces.cli import streams
from rightcall.faces.cli.reading import redact_options, redaction, shared, test_options, trace_options
from rightcall.faces.cli.root import Command

if TYPE_CHECKING:
    from rightcall.app.choosing import Choice
    from rightcall.app.promoting import PromoteRequest, Promotion
    from rightcall.app.updating import Updated

_EPILOG = """\
\b
Examples:
  rightcall promote traces.jsonl -o refund.rightcall.yaml
  rightcall promote runs/*.jsonl --learn -o refund.rightcall.yaml
  rightcall promote today.jsonl --tests policy.rightcall.yaml --apply-all --only-failed -o failures.rightcall.yaml
  rightcall promote traces.jsonl --update refund.rightcall.yaml --dry-run
"""


@click.command("promote", cls=Command, epilog=_EPILOG)
@click.argument("traces", nargs=-1, required=True)
@trace_options
@click.option("-o", "--output", metavar="FILE", help="Write a new test set: .yaml, .yml, .json or .jsonl.")
@click.option(
    "--update",
    metavar="FILE",
    help="Change a test set in place: revise the lists of calls that do not pass, and add what is new; show the diff.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing; show what would be, also without -o.")
@click.option("--learn", is_flag=True, help="Take conversations of one id or one prompt for good runs of one test.")
@click.option("--id", "ids", multiple=True, metavar="GLOB", help="Only conversations of such an id; may be repeated.")
@click.option("--tool", "tools", multiple=True, metavar="GLOB", help="Only those that call it; may be repeated.")
@click.option("--metadata", multiple=True, metavar="KEY=VALUE", help="Only those with such metadata; may be repeated.")
@click.option("--calls", type=click.Choice(["ok", "failed"]), help="Only those in which no call failed, or one did.")
@click.option("--only-failed", is_flag=True, help="Only those that fail --tests: their tests expect what they failed.")
@click.option("-t", "--tests", multiple=True, metavar="FILE", help="The test sets for --only-failed; may be repeated.")
@test_options
@click.option(
    "--match",
    type=click.Choice(["exact", "in_order", "any_order", "superset"]),
    default="exact",
    help="How later calls must line up with those recorded. Default exact.",
)
@click.option(
    "--arguments",
    type=click.Choice(["exact", "partial", "deep", "ignore"]),
    default="exact",
    help="How their arguments must match. Default exact.",
)
@click.option("--tool-schemas", is_flag=True, help="Write the JSON Schemas of the tools that there were, too.")
@redact_options
@click.option("--no-redact", is_flag=True, help="Write secrets as they were recorded.")
def command(**options: Any) -> int:
    """Make tests of the conversations in TRACES: what the user asked, and the calls that were made.

    Of several good runs of one prompt, --learn finds what they share. Exit code 3 if a conversation made no test.
    """
    from rightcall.app.promoting import promote
    from rightcall.faces.cli.progress import Progress

    request = _request(options)
    if request.redaction.shared is not None:
        streams.hide(request.redaction.shared.text)
    with Progress(sys.stderr) as watch:
        promoted = promote(request, watch)
    for note in promoted.notes:
        streams.note(f"note: {note}")
    for refused in promoted.refused:
        streams.note(f"error: {refused}")
    _write(promoted, request, is_dry=options["dry_run"])
    return promoted.exit_code


def _request(options: dict[str, Any]) -> PromoteRequest:
    from rightcall.app.promoting import PromoteRequest

    same = ("traces", "output", "update", "tests", "only_failed", "learn", "match", "arguments")
    return PromoteRequest(
        **{name: options[name] for name in same},
        **shared(options),
        choice=_choice(options),
        schemas=options["tool_schemas"],
        is_dry=options["dry_run"],
        redaction=redaction(options),
    )


def _choice(options: dict[str, Any]) -> Choice:
    from rightcall.app import choosing

    return choosing.Choice(
        ids=options["ids"],
        tools=options["tools"],
        metadata=tuple(map(choosing.metadata, options["metadata"])),
        calls=options["calls"],
    )


def _write(promoted: Promotion, request: PromoteRequest, *, is_dry: bool) -> None:
    if promoted.updated is not None:
        _update(promoted.updated, is_dry=is_dry)
    elif promoted.data is None:
        streams.note("note: no conversation made a test; nothing was written")
    elif is_dry:
        streams.StandardOutput().write(promoted.data)
    else:
        from rightcall.app import files
        from rightcall.core.wording import amount

        files.write(str(request.output), promoted.data)
        streams.say(f"wrote {request.output}: {amount(len(promoted.drafts), 'test')}")


def _update(updated: Updated, *, is_dry: bool) -> None:
    """Show the difference, which is data, and say beside it what was done."""
    for line in updated.diff:
        _show(line)
    if not is_dry:
        updated.write()
    done = f"{len(updated.changed)} revised, {len(updated.added)} new"
    streams.note(
        f"note: {updated.file}: {done if updated.diff else 'nothing to change'}{' (dry run)' if is_dry else ''}"
    )


def _show(line: str) -> None:
    from rightcall.core.inert import inert_line
    from rightcall.core.values import visible

    streams.say(inert_line(visible(line)))
