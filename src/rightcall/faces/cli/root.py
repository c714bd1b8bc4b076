"""The group of commands and its help."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Final

import click

from rightcall import __version__
from rightcall.faces.cli import streams
from rightcall.faces.cli.streams import say

COMMANDS: Final = {
    "grade": "Grade recorded tool calls against tests.",
    "run": "Drive an agent on tests, and grade what it does.",
    "endpoint": "Try how an agent is reached.",
    "show": "Show the tool calls that trace files hold.",
    "compare": "Compare two runs: regressions, fixes, other calls.",
    "validate": "Check test set files without grading anything.",
    "lint": "Find expectations that cannot pass, cannot fail, or let wrong calls pass.",
    "promote": "Make tests of recorded conversations.",
    "convert": "Say a test set in another tool's words.",
    "init": "Write an example test set to begin with.",
    "schema": "Print the JSON Schema of test set files.",
    "serve": "Serve the HTTP API.",
    "keys": "Make, list and revoke the keys of a server.",
    "db": "Make, upgrade, check and copy the database of a server.",
}
"""Each command is one module of this package, imported when it is called."""


class Command(click.Command):
    """A command whose help goes where its other output goes."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option, with our way of printing."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _print_help
        return option


class Group(Command, click.Group):
    """A command of several, with the same help."""


def _print_help(ctx: click.Context, _: click.Parameter, is_wanted: bool) -> None:
    if is_wanted and not ctx.resilient_parsing:
        say(ctx.get_help())
        ctx.exit()


def _print_version(ctx: click.Context, _: click.Parameter, is_wanted: bool) -> None:
    if is_wanted and not ctx.resilient_parsing:
        say(f"rightcall {__version__}")
        ctx.exit()


class LazyGroup(Command, click.Group):
    """Knows its commands by name and imports only the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of their use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"rightcall.faces.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called; for one that there is not, name the nearest."""
        from rightcall.errors import did_you_mean

        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            known = ", ".join(COMMANDS)
            ctx.fail(f"there is no command `{name}`{did_you_mean(name, COMMANDS)}; the commands are {known}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


_EPILOG = """\
\b
Examples:
  rightcall init                                       write an example to begin with
  rightcall show traces.jsonl                          see what was recorded
  rightcall grade traces.jsonl --tests refund.rightcall.yaml
  rightcall grade traces/ --tests refund.rightcall.yaml -o junit.xml -o results.json

\b
Exit codes:
  0  passed                       2    wrong usage, or a file that cannot be used
  1  blocked by failed tests      3    incomplete: something could not be judged
                                  130  interrupted
"""


@click.group(
    cls=LazyGroup, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version and exit.",
)
def root() -> None:
    """Did the agent make the right tool calls?"""


def invoke(arguments: Sequence[str]) -> Any:
    """Parse the arguments, call the command and return what it returns.

    click's own way to start a command ends the program by itself when a stream breaks; this one raises.
    """
    streams.hide(None)
    with root.make_context("rightcall", list(arguments)) as context:
        return root.invoke(context)
