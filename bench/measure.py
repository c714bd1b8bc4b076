"""Measuring on a noisy machine: processor time, every variant in turn in each round, medians of the rounds' ratios."""

from __future__ import annotations

import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

Seconds = list[float]
T = TypeVar("T")


class Spread(NamedTuple):
    """A median with the least and the greatest value beside it."""

    median: float
    low: float
    high: float

    def show(self, digits: int = 2) -> str:
        """As in `1.71 (1.65..1.80)`."""
        return f"{self.median:,.{digits}f} ({self.low:,.{digits}f}..{self.high:,.{digits}f})"


def spread(values: Iterable[float]) -> Spread:
    """Summarise the rounds."""
    ordered = sorted(values)
    return Spread(statistics.median(ordered), ordered[0], ordered[-1])


def ratios(values: Sequence[float], base: Sequence[float]) -> Spread:
    """What each round's value is to the same round's base: trouble that slows a whole round cancels out."""
    return spread(value / other for value, other in zip(values, base, strict=True))


def interleave(variants: Mapping[str, Callable[[int], float]], rounds: int) -> dict[str, Seconds]:
    """The seconds of every variant in every round. Rounds begin with another variant each, so that none is favoured."""
    names = list(variants)
    taken: dict[str, Seconds] = {name: [] for name in names}
    for number in range(rounds):
        start = number % len(names)
        for name in names[start:] + names[:start]:
            taken[name].append(variants[name](number))
    return taken


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """The processor seconds of a piece of work, with the garbage of what came before collected first, and its value."""
    gc.collect()
    started = time.process_time()
    value = work()
    return time.process_time() - started, value


def cpu_seconds(work: Callable[[], object]) -> float:
    """The processor seconds of a piece of work."""
    return timed(work)[0]


class Run(NamedTuple):
    """What one process took: seconds on the clock and on the processor, and the most memory it held, in MB."""

    wall: float
    cpu: float
    peak: float


_LAUNCHER = """
import json, os, subprocess, sys, time
started = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
usage = os.wait4(child.pid, 0)[2]
print(json.dumps([time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]))
"""


def process(command: Sequence[str]) -> Run:
    """Run a command and say what it took. It may fail by its exit code, since a blocked run is a run.

    A small process starts it: the memory of whoever starts a process counts as the least that it ever held.
    """
    launched = subprocess.run([sys.executable, "-c", _LAUNCHER, *command], capture_output=True, text=True, check=True)
    return Run(*json.loads(launched.stdout))


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: a title, the names of the columns, and the rows, with at least two spaces between columns."""
    lines = [columns, *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    print(f"\n{title}\n{'-' * len(title)}")
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    print(flush=True)
