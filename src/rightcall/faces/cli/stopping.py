"""Ending a run early when somebody asks for it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rightcall.agents.command import kill_running
from rightcall.app.running.driving import Stop
from rightcall.faces.cli.guard import INTERRUPTED
from rightcall.faces.cli.streams import plain_note


@contextmanager
def stopping() -> Iterator[Stop]:
    """What is asked by the first signal to end, of the keyboard or another program; the second ends it at once."""
    stop = Stop()

    def ask(*_: object) -> None:
        if stop.asked:
            kill_running()
            os._exit(INTERRUPTED)
        plain_note("stopping; once more to end at once")
        stop.ask()

    before: dict[signal.Signals, Any] = {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, ask)
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
