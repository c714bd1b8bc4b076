"""A long run tells how far it has come, where somebody looks."""

from __future__ import annotations

import io

import pytest

from rightcall.core.results import Outcome
from rightcall.faces.cli.progress import Progress
from rightcall.faces.cli.run_progress import RunProgress


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def told(stream: io.StringIO, times: list[float]) -> str:
    """What a run tells whose steps are at these times; the first time is when it begins."""
    clock = iter([times[0], *(time for moment in times[1:] for time in (moment, moment))])
    last = [times[0]]

    def now() -> float:
        last[0] = next(clock, last[0])
        return last[0]

    with Progress(stream, now) as progress:
        for _ in times[1:]:
            progress.step()
    return stream.getvalue()


@pytest.fixture(autouse=True)
def _nowhere_special(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


def test_short_run_tells_nothing() -> None:
    """What is done within a second needs no progress."""
    assert told(Terminal(), [0.0, 0.1, 0.2]) == ""


def test_long_run_tells_and_clears_its_line() -> None:
    """After a second the line is written and rewritten, and at the end nothing of it is left."""
    text = told(Terminal(), [0.0, 1.5, 1.5, 9.0, 9.0])
    assert text.startswith("\r")
    assert "trajectories read" in text
    assert text.endswith("\r\x1b[K")


def test_pipe_is_told_nothing() -> None:
    """Where nobody looks, nothing is written."""
    assert told(io.StringIO(), [0.0, 1.5, 9.0]) == ""


class Gone(Terminal):
    """A terminal that has been closed meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.tries = 0

    def write(self, text: str, /) -> int:
        self.tries += 1
        raise OSError(5, "Input/output error")


def test_terminal_that_goes_away_is_no_trouble() -> None:
    """Progress that cannot be shown is given up, and the run goes on."""
    stream = Gone()
    assert told(stream, [0.0, 1.5, 9.0, 18.0]) == ""
    assert stream.tries == 1


def test_continuous_integration_is_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """`CI` keeps the log free of progress."""
    monkeypatch.setenv("CI", "true")
    assert told(Terminal(), [0.0, 1.5, 9.0]) == ""


def test_run_tells_its_counts_and_what_is_left() -> None:
    """Attempts of before count as made; the time left is that of the others, at the pace so far."""
    stream, time = Terminal(), [0.0]
    with RunProgress(stream, lambda: time[0]) as progress:
        progress.begin(100, 10)
        for moment, outcome in ((1.0, Outcome.PASS), (2.0, Outcome.FAIL), (3.0, Outcome.ERROR)):
            time[0] = moment
            progress.step(outcome)
        progress.pause()
        progress.pause()
    lines = stream.getvalue().replace("\x1b[K", "").split("\r")[1:]
    assert lines == [
        "11 of 100 attempts: 1 passed, 0 failed; 89 s left",
        "12 of 100 attempts: 1 passed, 1 failed; 88 s left",
        "13 of 100 attempts: 1 passed, 1 failed, 1 error; 87 s left",
        "",
    ]


@pytest.mark.parametrize(("seconds", "told"), [(89.0, "89 s"), (90.0, "2 min"), (5399.0, "90 min"), (5400.0, "1.5 h")])
def test_time_left_is_told_roughly(seconds: float, told: str) -> None:
    """In seconds, minutes or hours."""
    stream, time = Terminal(), [0.0]
    with RunProgress(stream, lambda: time[0]) as progress:
        progress.begin(2, 0)
        time[0] = seconds
        progress.step(Outcome.PASS)
    assert f"; {told} left" in stream.getvalue()
