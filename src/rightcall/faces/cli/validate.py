"""`rightcall validate`: are these test sets usable?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rightcall.faces.cli import streams
from rightcall.faces.cli.reading import config_option
from rightcall.faces.cli.root import Command

if TYPE_CHECKING:
    from rightcall.app.service import Config

_EPILOG = """\
\b
Examples:
  rightcall validate refund.rightcall.yaml
  rightcall validate tests/*.rightcall.yaml
"""


@click.command("validate", cls=Command, epilog=_EPILOG)
@click.argument("files", nargs=-1, required=True)
@click.option("--dialect", metavar="NAME", help="Whose words the tests are written in, if not ours.")
@config_option
def command(files: tuple[str, ...], dialect: str | None, config: str | None) -> int:
    """Check that test set FILES can be read and every expectation compiled, without grading anything.

    All files are checked, and every file that cannot be used is reported. Exit code 2 if there is one.
    """
    from rightcall.app import service
    from rightcall.app.files import check_standard_input

    check_standard_input((*files, *service.named(config)))
    keys = service.read_config(config)
    return max([_validate(file, dialect, keys) for file in files])


def _validate(file: str, dialect: str | None, config: Config | None) -> int:
    from rightcall.app import service
    from rightcall.errors import RightcallError

    try:
        test_set, warnings = service.validate(file, dialect, config)
    except RightcallError as error:
        streams.note(f"error: {error}")
        return 2
    for warning in warnings:
        streams.note(f"note: {warning}")
    tests = len(test_set.tests)
    assertions = sum(len(test.assertions) for test in test_set.tests)
    streams.say(f"{file}: ok, {_plural(tests, 'test')} with {_plural(assertions, 'assertion')}")
    return 0


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
