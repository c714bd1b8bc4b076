"""The standard streams: UTF-8 always, colours and symbols as wanted, and a reader that may go away.

Each of them may be missing from the start: Python then has `None` in its place.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import signal
import sys
from collections.abc import Callable
from typing import Any, Final, TextIO

WIDTH: Final = 100
"""Cells in a line where no terminal says how many."""

_STANDARD: Final = (0, 1, 2)

_unicode_streams: dict[str, bool] = {}
_hiding: list[Callable[[str], str]] = []


def prepare_streams() -> None:
    """Make the standard output and error UTF-8, whatever the locale, and able to take any text.

    What the locale would have had is remembered: a terminal without UTF-8 is shown symbols of ASCII.
    """
    _occupy()
    for name, stream in (("stdout", sys.stdout), ("stderr", sys.stderr)):
        if isinstance(stream, io.TextIOWrapper):
            _unicode_streams[name] = "utf" in stream.encoding.lower()
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _occupy() -> None:
    """Keep the numbers of closed streams from files, which would then be taken for streams."""
    for number in _STANDARD:
        try:
            os.fstat(number)
        except OSError:
            with contextlib.suppress(OSError):
                os.open(os.devnull, os.O_RDWR)


def heed_termination() -> None:
    """Be interrupted also by what asks a program to end, such as the end of a CI job: nothing half-done stays."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def settle() -> None:
    """Let nothing that happens from now on change the exit code.

    What the streams still hold is written. The interpreter would try again, and end with a code of its own if it
    fails; it would also let itself be interrupted, with nothing left to interrupt unless a thread goes on.
    """
    threading = sys.modules.get("threading")
    if threading is None or threading.active_count() == 1:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except (OSError, ValueError):
                abandon(stream)


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


def hide(shown: Callable[[str], str] | None) -> None:
    """From now on, say beside the data only what is left of it by a function, or all of it."""
    _hiding[:] = [] if shown is None else [shown]


def note(text: str) -> None:
    """Say something beside the data, on the standard error; whether anybody hears it is no matter."""
    from rightcall.core.inert import inert_line
    from rightcall.core.values import visible

    for shown in _hiding:
        text = shown(text)
    plain_note("\n".join(inert_line(visible(line)) for line in text.split("\n")))


def plain_note(text: str) -> None:
    """Say something that needs no escapes."""
    stream: TextIO | None = sys.stderr
    if stream is None:
        return
    try:
        stream.write(f"{text}\n")
        stream.flush()
    except (OSError, ValueError):
        abandon(stream)


def say(text: str) -> None:
    """Print a line of data on the standard output."""
    StandardOutput().write(f"{text}\n".encode("utf-8", "backslashreplace"))


class _Standard:
    """A standard stream as a report's target. A reader that has gone away is no trouble: nobody wants the rest."""

    name: str

    def __init__(self) -> None:
        self._is_open = True

    def write(self, data: bytes) -> None:
        """Write, as far as somebody reads; `StoreError` with the cause if it takes nothing."""
        if not self._is_open or not data:
            return
        stream: TextIO | None = getattr(sys, self.name)
        if stream is None:
            raise _unwritable("it is closed", self.name)
        try:
            stream.buffer.write(data)
            stream.buffer.flush()
        except BrokenPipeError:
            self._is_open = False
            abandon(stream)
        except OSError as error:
            abandon(stream)
            raise _unwritable(error.strerror or str(error), self.name) from None

    def finish(self) -> None:
        """Do nothing: all has been written."""

    def discard(self) -> None:
        """Do nothing: what has been written cannot be taken back."""


class StandardOutput(_Standard):
    """Where data goes."""

    name = "stdout"


class StandardError(_Standard):
    """Where messages go."""

    name = "stderr"


def _unwritable(cause: str, name: str) -> Exception:
    from rightcall.errors import StoreError, Where

    return StoreError(f"cannot be written: {cause}", Where(file=f"<{name}>"))


def abandon(stream: TextIO) -> None:
    """Let nothing more reach a stream, nor the interpreter complain of it at the end."""
    with contextlib.suppress(OSError, ValueError):
        number = stream.fileno()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, number)
        os.close(null)
