"""One run, recorded by different libraries in different formats, reads as the same list of calls."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from rightcall import traces
from rightcall.core.calls import Trajectory
from support.staged import projection
from support.staged.catalogue import MODULES, RECORDINGS, Recording, played
from support.staged.scripts import SCRIPTS, Script

TESTS = Path(__file__).parent
CASES = [
    pytest.param(recording, script, file, id=f"{recording.run}-{script.name}-{file}")
    for recording in RECORDINGS
    for script in played(recording.run)
    for file in recording.files
]


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a run; its module is run once, when a test first asks for one of its runs."""
    folder = tmp_path_factory.mktemp("recorded")

    @cache
    def record(module: str) -> None:
        command = [sys.executable, "-m", "support.staged.recording", module, str(folder)]
        environment = {**os.environ, "PYTHONPATH": str(TESTS), "PYTHONWARNINGS": "ignore"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-4000:]

    def of(run: str) -> Path:
        record(MODULES[run])
        return folder / run

    return of


@pytest.mark.parametrize(("recording", "script", "file"), CASES)
def test_a_recording_reads_as_the_script_that_was_played(
    recorded: Callable[[str], Path], recording: Recording, script: Script, file: str
) -> None:
    """Names, arguments, order, batches, turns, what became of each call: as played, less what cannot be said (G9)."""
    expected = projection.scripted(script)
    for limit in recording.limits:
        expected = limit(expected)
    (found,) = trajectories(recorded(recording.run) / script.name / file)
    assert projection.read(found) == expected
    assert found.tool_calls is not None
    assert found.gaps == ()


def trajectories(path: Path) -> Iterator[Trajectory]:
    """What a file holds; an error is raised."""
    for item in traces.read([path.read_bytes()], file=path.name):
        if not isinstance(item, Trajectory):
            raise item
        yield item


def test_every_script_is_played_by_some_run() -> None:
    """No script is left out everywhere."""
    assert {script.name for run in MODULES for script in played(run)} | {"nested"} == set(SCRIPTS)
