"""What the tests of recordings share: running what records them, once, and reading a file."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from rightcall import traces
from rightcall.core.calls import Trajectory
from support.processes import unmeasured
from support.staged.catalogue import SOURCES

TESTS = Path(__file__).parents[2]


def recorder(folder: Path) -> Callable[[str], Path]:
    """The folder of each run, below that one; a source is run when one of its runs is first asked for.

    Several processes may share the folder: one of them runs a source, the others wait for it.
    """

    @cache
    def record(source: str) -> None:
        done = folder / f"{source.replace(':', '-')}.done"
        with done.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                _record(source, folder)
                done.touch()

    def of(run: str) -> Path:
        record(SOURCES[run])
        return folder / run

    return of


def _record(source: str, folder: Path) -> None:
    command = [sys.executable, "-m", "support.staged.recording", source, str(folder)]
    environment = unmeasured(PYTHONPATH=str(TESTS), PYTHONWARNINGS="ignore")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


def trajectories(path: Path) -> Iterator[Trajectory]:
    """What a file holds; an error is raised."""
    for item in traces.read([path.read_bytes()], file=path.name):
        if not isinstance(item, Trajectory):
            raise item
        yield item
