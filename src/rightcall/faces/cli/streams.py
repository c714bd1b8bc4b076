"""The standard streams: UTF-8 always, colours and symbols as wanted, and a reader that may go away."""

from __future__ import annotations

import io
import os
import shutil
import sys
from typing import Any, TextIO

WIDTH = 100
"""Cells in a line where no terminal says how many."""

_unicode_streams: dict[str, bool] = {}


def prepare_streams() -> None:
    """Make the standard output and error UTF-8, whatever the locale, and able to take any text.

    What the locale would have had is remembered: a terminal without UTF-8 is shown symbols of ASCII.
    """
    for name, stream in (("stdout", sys.stdout), ("stderr", sys.stderr)):
        if isinstance(stream, io.TextIOWrapper):
            _unicode_streams[name] = "utf" in stream.encoding.lower()
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def is_ascii_only() -> bool:
    """Tell whether the locale of the standard output knows no more than a few letters."""
    return not _unicode_streams.get("stdout", True)


def wants_colours(*, refused: bool) -> bool:
    """Tell whether to colour the standard output: `NO_COLOR` forbids it, `FORCE_COLOR` asks for it."""
    if refused or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return is_terminal(sys.stdout) and os.environ.get("TERM") != "dumb"


def is_terminal(stream: TextIO | Any) -> bool:
    """Tell whether somebody is looking."""
    return stream is not None and not stream.closed and stream.isatty()


def width() -> int:
    """Return how many cells a line may take."""
    return max(40, shutil.get_terminal_size((WIDTH, 24)).columns)


def note(text: str) -> None:
    """Say something beside the data, on the standard error."""
    from rightcall.core.values import visible

    print("\n".join(visible(line) for line in text.split("\n")), file=sys.stderr, flush=True)  # noqa: T201  # the face


class StandardOutput:
    """The standard output as a report's target. A reader that has gone away is no trouble: nobody wants the rest."""

    def __init__(self) -> None:
        self._is_open = True

    def write(self, data: bytes) -> None:
        """Write, as far as somebody reads."""
        if not self._is_open or not data:
            return
        try:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            self._is_open = False
            abandon_output()
        except OSError as error:
            from rightcall.errors import StoreError, Where

            abandon_output()
            raise StoreError(f"cannot be written: {error.strerror or error}", Where(file="<stdout>")) from None

    def finish(self) -> None:
        """Do nothing: all has been written."""

    def discard(self) -> None:
        """Do nothing: what has been written cannot be taken back."""


def abandon_output() -> None:
    """Let nothing more reach the standard output, nor the interpreter complain of it at the end."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
