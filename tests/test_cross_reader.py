"""One run, recorded by different libraries in different formats, reads as the same list of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rightcall.core.calls import Trajectory
from support.staged import projection, table
from support.staged.catalogue import RECORDINGS, SOURCES, Recording, played
from support.staged.reading import trajectories
from support.staged.scripts import SCRIPTS, Script
from support.tables import hold

TESTS = Path(__file__).parent
STREAMED = ("openai-chat-streamed", "openai-responses-streamed", "anthropic-streamed", "gemini-streamed")


def whole(recording: Recording) -> list[Script]:
    return [script for script in played(recording.run) if script.name not in recording.lost]


def lossy(recording: Recording) -> list[Script]:
    return [script for script in played(recording.run) if script.name in recording.lost]


def named(recordings: Iterable[Recording]) -> list[Any]:
    """Recordings as parameters of a test, named after their run and the first of their files."""
    return [pytest.param(one, id=f"{one.run}-{one.files[0]}") for one in recordings]


def read_each(
    folder: Path, recording: Recording, scripts: Iterable[Script], check: Callable[[Trajectory, Script], None]
) -> None:
    """Check what each file of each script reads as; fail with all files that are wrong."""

    def one(script: Script, file: str) -> None:
        (found,) = trajectories(folder / script.name / file)
        check(found, script)

    hold((f"{script.name}/{file}", partial(one, script, file)) for script in scripts for file in recording.files)


@pytest.mark.parametrize("recording", named(filter(whole, RECORDINGS)))
def test_a_recording_reads_as_the_script_that_was_played(recorded: Callable[[str], Path], recording: Recording) -> None:
    """Names, arguments, order, batches, turns, what became of each call: as played, less what cannot be said (G9)."""

    def as_played(found: Trajectory, script: Script) -> None:
        assert projection.read(found) == told(recording, script)
        assert found.tool_calls is not None
        assert found.gaps == ()

    read_each(recorded(recording.run), recording, whole(recording), as_played)


@pytest.mark.parametrize("recording", named(filter(lossy, RECORDINGS)))
def test_a_recording_that_loses_calls_says_so(recorded: Callable[[str], Path], recording: Recording) -> None:
    """Where a library does not record a call, there is a gap, and no call that was not played."""

    def says_so(found: Trajectory, script: Script) -> None:
        played_names = [row["name"] for row in told(recording, script)]
        assert found.gaps != ()
        assert len(found.tool_calls or ()) < max(len(played_names), 1)
        assert {row["name"] for row in projection.read(found)} <= set(played_names)

    read_each(recorded(recording.run), recording, lossy(recording), says_so)


@pytest.mark.parametrize(("run", "script"), [(run, script) for run in STREAMED for script in played(run)])
def test_captured_streams_are_answers_one_by_one(recorded: Callable[[str], Path], run: str, script: Script) -> None:
    """Each answer that a server streamed is a trajectory: what it asks for, as played, without results (G9)."""
    found = list(trajectories(recorded(run) / script.name / "stream.sse"))
    assert [list(map(projection.asked, one.tool_calls or ())) for one in found] == [
        list(map(projection.scripted_call, reply)) for reply in script.replies
    ]
    assert all(one.tool_calls is not None and one.gaps == () for one in found)


def told(recording: Recording, script: Script) -> list[projection.Row]:
    """What a recording can tell of a script."""
    rows = projection.scripted(script)
    for limit in recording.limits:
        rows = limit(rows)
    return rows


def test_every_script_is_played_by_some_run() -> None:
    """No script is left out everywhere."""
    assert {script.name for run in SOURCES for script in played(run)} == set(SCRIPTS)


def test_the_documentation_lists_what_is_cross_checked() -> None:
    """The table is that of the recordings."""
    page = (TESTS.parent / "docs" / "traces" / "README.md").read_text(encoding="utf-8")
    assert [line for line in table.lines() if line not in page.splitlines()] == []
