"""How far a long run has come, on a terminal's standard error."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self, TextIO

from rightcall.app.service import Watch
from rightcall.faces.cli.streams import is_terminal

FIRST: Final = 1.0
"""Seconds before anything is said."""

EVERY: Final = 0.2
"""Seconds between two updates."""


class Line:
    """One line that is rewritten, and cleared at the end. Silent where nobody looks."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self.clock = clock
        self._is_shown = is_terminal(stream) and not os.environ.get("CI")
        self.began = self._next = 0.0
        self._has_line = False

    def __enter__(self) -> Self:
        self.began = self.clock()
        self._next = self.began + FIRST
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.pause()

    def pause(self) -> None:
        """Clear the line, since something else is about to be shown."""
        if self._has_line:
            self._has_line = False
            self._write("\r\x1b[K")

    def is_due(self) -> bool:
        """Whether it is time to say something again."""
        return self._is_shown and self.clock() >= self._next

    def show(self, text: str) -> None:
        """Put a text into the line."""
        self._next = self.clock() + EVERY
        self._has_line = True
        self._write(f"\r{text}\x1b[K")

    def _write(self, text: str) -> None:
        """Write, or say nothing more if the terminal has gone."""
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._is_shown = self._has_line = False


class Progress(Line, Watch):
    """Counts trajectories."""

    _count = 0

    def step(self) -> None:
        """One more trajectory was read."""
        self._count += 1
        if self.is_due():
            self.show(f"{self._count:,} trajectories read")
