"""From what went wrong to a message and an exit code (G39)."""

from __future__ import annotations

import io
import traceback
from collections.abc import Callable
from typing import Any, Final

import click

from rightcall import __version__
from rightcall.faces.cli.streams import note, plain_note

USAGE: Final = 2
INCOMPLETE: Final = 3
INTERRUPTED: Final = 130


def guarded(command: Callable[[], Any]) -> int:
    """Run a command that returns its exit code, or nothing for 0. Only a mistake of ours shows a traceback."""
    try:
        code = command()
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        note(_shown(error))
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        # Not `note`: it imports, and it may be an import that was interrupted.
        plain_note("interrupted")
        return INTERRUPTED
    except BaseException as error:
        return _told(error)
    return code if isinstance(code, int) else 0


def _shown(error: click.ClickException) -> str:
    """Return the message as click words it."""
    text = io.StringIO()
    error.show(text)
    return text.getvalue().rstrip("\n")


def _told(error: BaseException) -> int:
    """Say what went wrong and return the exit code."""
    from rightcall.errors import RightcallError, StoreError

    if isinstance(error, RightcallError):
        note(f"error: {error}")
        return INCOMPLETE if isinstance(error, StoreError) else USAGE
    if isinstance(error, OSError):
        note(f"error: {_cause(error)}")
    else:
        _own_up(error)
    return INCOMPLETE


def _cause(error: OSError) -> str:
    """Return what the machine refused: no disk for temporary files, for example."""
    cause = error.strerror or str(error) or type(error).__name__
    return cause if error.filename is None else f"{error.filename}: {cause}"


def _own_up(error: BaseException) -> None:
    what = "".join(traceback.format_exception(error)).rstrip("\n")
    if isinstance(error, SystemExit):
        note(f"{what}\nerror: something ended the program before it was done; the lines above say where.")
        return
    note(
        f"{what}\nerror: this is a mistake in rightcall {__version__}, not in your files.\n"
        "Please report it with the lines above and, if you can, the input that leads to it."
    )
