"""Compressed files on the command line: they are read like others, and one that is cut never passes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from support.command_line import run_apart, run_here

RECORDS = [{"id": f"r{number}", "tool_calls": [{"name": "a", "arguments": {"x": number}}]} for number in range(50)]
DATA = b"".join(json.dumps({**record, "expected_tool_calls": ["a"]}).encode() + b"\n" for record in RECORDS)
TESTS = "tests:\n" + "".join(f"- id: r{number}\n  expected_tool_calls: [a]\n" for number in range(50))


@pytest.fixture(autouse=True)
def _in_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a directory with a whole file, one that is cut, and tests for each record."""
    packed = gzip.compress(DATA)
    (tmp_path / "whole").mkdir()
    (tmp_path / "whole" / "w.jsonl.gz").write_bytes(packed)
    (tmp_path / "cut.jsonl.gz").write_bytes(packed[:-4])
    (tmp_path / "t.yaml").write_text(TESTS)
    monkeypatch.chdir(tmp_path)


def test_compressed_files_are_graded(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Named or in a directory, by their own expectations or by tests."""
    for arguments in (["whole/w.jsonl.gz"], ["whole"], ["whole", "--tests", "t.yaml"]):
        ran = run_here(capfdbinary, "grade", *arguments, "--quiet")
        assert (ran.code, ran.err) == (0, "")
        assert "passed 50, failed 0, errors 0" in ran.out


def test_the_standard_input_may_be_compressed(tmp_path: Path) -> None:
    """Nothing but its bytes tells."""
    ran = run_apart("grade", "-", "--quiet", cwd=tmp_path, stdin=gzip.compress(DATA))
    assert (ran.code, ran.err) == (0, "")
    assert "passed 50, failed 0, errors 0" in ran.out


@pytest.mark.parametrize("options", [[], ["--tests", "t.yaml"], ["--exit-zero"], ["--min-pass-rate", "0.5"]])
def test_a_file_that_is_cut_is_incomplete(capfdbinary: pytest.CaptureFixture[bytes], options: list[str]) -> None:
    """G39: what it lacks is an error beside the results of what could be read; no rate or option makes it a pass."""
    ran = run_here(capfdbinary, "grade", "cut.jsonl.gz", *options, "--json")
    results = json.loads(ran.out)["results"]
    assert ran.code == 3
    assert len([one for one in results if one["outcome"] == "error"]) >= 1
    assert any("the gzip data is cut off" in json.dumps(one) for one in results if one["outcome"] == "error")


def test_what_a_cut_file_holds_is_shown(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """With where it is cut (G39)."""
    ran = run_here(capfdbinary, "show", "cut.jsonl.gz")
    assert ran.code == 3
    assert "gap: the file could not be read to its end: the gzip data is cut off" in ran.out


def test_lines_are_those_of_the_text_in_the_file(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Compression has none of its own."""
    ran = run_here(capfdbinary, "show", "whole/w.jsonl.gz")
    assert ran.code == 0
    assert "read whole/w.jsonl.gz as native: 50 lines, 50 trajectories" in ran.out
