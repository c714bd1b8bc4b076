"""The group of commands and its help."""

from __future__ import annotations

import importlib
from typing import Final

import click

from rightcall import __version__

COMMANDS: Final = {
    "grade": "Grade recorded tool calls against tests.",
    "show": "Show the tool calls that trace files hold.",
    "validate": "Check test set files without grading anything.",
    "init": "Write an example test set to begin with.",
    "schema": "Print the JSON Schema of test set files.",
}
"""Each command is one module of this package, imported when it is called."""


class LazyGroup(click.Group):
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
@click.version_option(__version__, prog_name="rightcall", message="%(prog)s %(version)s")
def root() -> None:
    """Did the agent make the right tool calls?"""
