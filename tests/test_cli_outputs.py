"""Reports never take the place of what is read, nor of one another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rightcall.reports import REPORTS
from support.command_line import run_here
from support.runs import lines, record, write_tests


@pytest.fixture(autouse=True)
def _in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work where there is a trace, a test set, and other names for both."""
    monkeypatch.chdir(tmp_path)
    Path("logs").mkdir()
    lines(Path("logs/in.jsonl"), record("p", "a"))
    write_tests(Path("t.json"), p={"required_tools": ["a"]})
    Path("link.jsonl").symlink_to("logs/in.jsonl")
    os.link("t.json", "hard.json")
    Path("more").symlink_to("logs")


@pytest.mark.parametrize(
    ("traces", "output"),
    [
        ("logs/in.jsonl", "logs/in.jsonl"),
        ("logs/in.jsonl", "./logs/../logs/in.jsonl"),
        ("logs/in.jsonl", "link.jsonl"),
        ("link.jsonl", "logs/in.jsonl"),
        ("logs", "logs/in.jsonl"),
        ("logs/*", "more/in.jsonl"),
        ("logs", "t.json"),
        ("logs", "hard.json"),
    ],
)
def test_report_does_not_replace_what_is_read(
    capfdbinary: pytest.CaptureFixture[bytes], traces: str, output: str
) -> None:
    """An output that is a trace or test set being read, by whatever name, is refused before anything is touched."""
    before = {path: path.read_bytes() for path in (Path("logs/in.jsonl"), Path("t.json"))}
    ran = run_here(capfdbinary, "grade", traces, "-t", "t.json", "-o", "fine.xml", "-o", output)
    expected = f"error: {output}: is read as input, so no report can be written there\n"
    assert ran == (2, "", expected)
    assert before == {path: path.read_bytes() for path in before}
    assert not Path("fine.xml").exists()


def test_report_does_not_replace_what_the_standard_input_reads() -> None:
    """A file that the shell hands in as the standard input is not written over."""
    before = Path("logs/in.jsonl").read_bytes()
    program = [sys.executable, "-m", "rightcall", "grade", "-", "-t", "t.json", "-o", "logs/in.jsonl"]
    with open("logs/in.jsonl", "rb") as stdin:
        done = subprocess.run(program, stdin=stdin, capture_output=True, check=False)
    expected = b"error: logs/in.jsonl: is read as input, so no report can be written there\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", expected)
    assert before == Path("logs/in.jsonl").read_bytes()


@pytest.mark.parametrize("second", ["x.json", "./x.json", "logs/../x.json", "y.json"])
@pytest.mark.parametrize("there_already", [True, False], ids=["there already", "new"])
def test_two_reports_are_not_written_to_one_file(
    capfdbinary: pytest.CaptureFixture[bytes], second: str, there_already: bool
) -> None:
    """One file named twice as an output is refused."""
    if there_already:
        Path("x.json").write_bytes(b"old")
    Path("y.json").symlink_to("x.json")
    ran = run_here(capfdbinary, "grade", "logs", "-t", "t.json", "-o", "x.json", "-o", second)
    expected = f"error: {second}: is the same file as `x.json`: two reports cannot be written to one\n"
    assert ran == (2, "", expected)
    assert Path("x.json").exists() == there_already


def test_report_may_stand_beside_what_is_read(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A new file in a directory that is read is no trouble."""
    ran = run_here(capfdbinary, "grade", "logs", "-t", "t.json", "-o", "logs/r.json", "-o", "logs/r.xml")
    assert (ran.code, ran.err) == (0, "")
    assert sorted(os.listdir("logs")) == ["in.jsonl", "r.json", "r.xml"]


@pytest.mark.parametrize("suffix", [kind.suffixes[0] for kind in REPORTS.values() if kind.suffixes])
def test_report_that_cannot_be_written_makes_a_run_incomplete(
    capfdbinary: pytest.CaptureFixture[bytes], suffix: str
) -> None:
    """G39: whatever its format, a report without a place is told with path and cause; a run that passes gives 3."""
    ran = run_here(capfdbinary, "grade", "logs", "-t", "t.json", "-o", f"gone/r{suffix}")
    expected = f"error: gone/r{suffix}: the directory `{Path('gone').resolve()}` does not exist\n"
    assert (ran.code, ran.err) == (3, expected)
