"""What is told of two runs hides what each of them hides."""

from __future__ import annotations

from pathlib import Path

import pytest

from rightcall.app.redaction import Redaction
from support import planting
from support.command_line import run_here
from support.planting import LONG, PLACES, leaks

Output = pytest.CaptureFixture[bytes]


def _runs(folder: Path, capfdbinary: Output) -> tuple[Path, Path]:
    """A run with other calls, and one with secrets in every place, both as they were recorded."""
    baseline, candidate = folder / "a.json", folder / "b.json"
    traces, tests = planting.write(folder, lambda place: f"some {place}")
    run_here(capfdbinary, "grade", traces, "-t", tests, "-o", baseline)
    traces, tests = planting.write(folder, LONG.__getitem__)
    run_here(capfdbinary, "grade", traces, "-t", tests, "-o", candidate)
    return baseline, candidate


def _leaking(text: str) -> list[str]:
    return [place for place in PLACES if leaks(text, LONG[place])]


@pytest.mark.parametrize("turned", [False, True], ids=["new", "old"])
def test_compare_tells_no_secret(turned: bool, tmp_path: Path, capfdbinary: Output) -> None:
    """Neither of the new run nor of the old one; Markdown hides them by itself."""
    runs = _runs(tmp_path, capfdbinary)[:: -1 if turned else 1]
    names = [tmp_path / name for name in ("c.json", "c.md", "c.txt")]
    outputs = [option for name in names for option in ("-o", str(name))]
    plain = run_here(capfdbinary, "compare", *runs, "--verbose", *outputs)
    assert _leaking(plain.out) != []
    assert _leaking(names[1].read_text("utf-8")) == []
    hidden = run_here(capfdbinary, "compare", *runs, "--verbose", *outputs, "--redact", "@secrets")
    assert _leaking(hidden.out + hidden.err + "".join(name.read_text("utf-8") for name in names)) == []
    assert hidden.code == plain.code


def test_a_baseline_brings_no_secret_into_reports(tmp_path: Path, capfdbinary: Output) -> None:
    """What a report tells of the run before hides as much as what it tells of this one."""
    _, candidate = _runs(tmp_path, capfdbinary)
    traces, tests = planting.write(tmp_path, lambda place: f"some {place}")
    names = [tmp_path / name for name in ("r.json", "r.md", "r.html", "r.xml", "r.txt")]
    outputs = [option for name in names for option in ("-o", str(name))]
    command: tuple[str | Path, ...] = ("grade", traces, "-t", tests, "--baseline", candidate, *outputs)
    run_here(capfdbinary, *command)
    assert _leaking((tmp_path / "r.json").read_text("utf-8")) != []
    assert _leaking((tmp_path / "r.md").read_text("utf-8") + (tmp_path / "r.html").read_text("utf-8")) == []
    hidden = run_here(capfdbinary, *command, "--redact", "@secrets")
    assert _leaking(hidden.out + hidden.err + "".join(name.read_text("utf-8") for name in names)) == []


def test_runs_that_were_hidden_are_compared_as_they_stand(tmp_path: Path, capfdbinary: Output) -> None:
    """With the marks of a key, calls that are equal are equal and others are not."""
    traces, tests = planting.write(tmp_path, LONG.__getitem__)
    planting.outputs(tmp_path, traces, tests, Redaction(rules=("@secrets",)))
    run = tmp_path / planting.NAMES["json"]
    same = run_here(capfdbinary, "compare", run, run)
    assert "[redacted]" in run.read_text("utf-8")
    assert (same.code, _leaking(same.out)) == (0, [])
