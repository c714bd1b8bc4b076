"""From what went wrong to a message and an exit code (G39)."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any, Final

import click

from rightcall import __version__
from rightcall.faces.cli.streams import abandon_output, note

USAGE: Final = 2
INCOMPLETE: Final = 3
INTERRUPTED: Final = 130


def guarded(command: Callable[[], Any]) -> int:
    """Run a command that returns its exit code, or nothing for 0. Only a mistake of ours shows a traceback."""
    try:
        code = command()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        note("interrupted")
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # click leaves with 1 when the reader of its output has gone; to us that is no failure.
        abandon_output()
        return 0
    except Exception as error:
        return _told(error)
    return code if isinstance(code, int) else 0


def _told(error: Exception) -> int:
    """Say what went wrong and return the exit code."""
    from rightcall.errors import RightcallError, StoreError

    if not isinstance(error, RightcallError):
        _own_up(error)
        return INCOMPLETE
    note(f"error: {error}")
    return INCOMPLETE if isinstance(error, StoreError) else USAGE


def _own_up(error: Exception) -> None:
    traceback.print_exception(error, file=sys.stderr)
    note(
        f"error: this is a mistake in rightcall {__version__}, not in your files.\n"
        "Please report it with the lines above and, if you can, the input that leads to it."
    )
