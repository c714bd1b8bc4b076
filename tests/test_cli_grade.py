"""`rightcall grade`: exit codes, reports and what is said of bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.command_line import Run
from support.runs import lines, record, write_tests

A = {"required_tools": ["a"]}


pytestmark = pytest.mark.usefixtures("in_tmp")


PASS, FAIL = record("p", "a", **A), record("f", "b", **A)
UNKNOWN = record("u", **A) | {"tool_calls": None}
BAD = '{"id": "bad", "tool_calls": 5}'


@pytest.mark.parametrize(
    ("records", "options", "expected"),
    [
        ([PASS], [], 0),
        ([FAIL], [], 1),
        ([PASS, FAIL], [], 1),
        ([UNKNOWN], [], 3),
        ([PASS, UNKNOWN], [], 3),
        ([FAIL, UNKNOWN], [], 1),
        ([PASS, BAD], [], 3),
        ([BAD], [], 3),
        ([], [], 3),
        ([PASS, UNKNOWN], ["--allow-errors", "1"], 0),
        ([PASS, UNKNOWN], ["--allow-errors", "0"], 3),
        ([UNKNOWN], ["--allow-errors", "1"], 3),
        ([PASS, FAIL], ["--min-pass-rate", "0.5"], 0),
        ([PASS, FAIL], ["--min-pass-rate", "1/2"], 0),
        ([PASS, FAIL], ["--min-pass-rate", "50%"], 0),
        ([PASS, FAIL], ["--min-pass-rate", "0.51"], 1),
        ([PASS], ["--min-graded", "2"], 3),
        ([PASS, FAIL], ["--min-graded", "2", "--min-pass-rate", "0"], 0),
        ([PASS], ["--threshold", "tool_called:a=1"], 0),
        ([PASS, FAIL], ["--min-pass-rate", "0", "--threshold", "tool_called:a=0.6"], 1),
        ([PASS], ["--threshold", "tool_sequence=0.1"], 3),
        ([FAIL], ["--exit-zero"], 0),
        ([UNKNOWN], ["--exit-zero"], 3),
        ([FAIL, UNKNOWN], ["--exit-zero"], 3),
        ([], ["--exit-zero"], 3),
        ([FAIL], ["--json"], 1),
        ([FAIL], ["-q"], 1),
        ([record("x", "a")], [], 2),
        ([record("x", "a")], ["--exit-zero"], 2),
        ([PASS], ["--apply-all"], 2),
        ([PASS], ["--min-pass-rate", "1.5"], 2),
        ([PASS], ["--min-pass-rate", "nan"], 2),
        ([PASS], ["--min-graded", "0"], 2),
        ([PASS], ["--allow-errors", "-1"], 2),
        ([PASS], ["--threshold", "nothing"], 2),
        ([PASS], ["--format", "natve"], 2),
        ([PASS], ["--dialect", "orbitt"], 2),
        ([PASS], ["-o", "report.pdf"], 2),
        ([PASS], ["-q", "-v"], 2),
        ([PASS], ["--tests", "missing.rightcall.yaml"], 2),
        ([PASS], ["--nonsense"], 2),
        ([PASS], ["-o", "no/such/dir/out.json"], 3),
        ([FAIL], ["-o", "no/such/dir/out.json"], 1),
        ([FAIL], ["-o", "no/such/dir/out.json", "--exit-zero"], 3),
    ],
)
def test_exit_code(run: Run, records: list[Any], options: list[str], expected: int) -> None:
    """G39: 0 passed, 1 failed, 2 unusable, 3 incomplete; only failures are forgiven."""
    traces = lines(Path("t.jsonl"), *records)
    assert expected == run("grade", traces, *options).code


@pytest.mark.parametrize("arguments", [[], ["--tests", "x.yaml"], ["nowhere.jsonl"], ["*.nothing"], ["empty"]])
def test_traces_that_are_not_there_are_a_usage_error(run: Run, arguments: list[str]) -> None:
    """Without a file there is nothing to grade."""
    Path("empty").mkdir()
    ran = run("grade", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err


def test_output_is_the_terminal_report(run: Run) -> None:
    """Data goes to the standard output, and nothing to the standard error."""
    ran = run("grade", lines(Path("t.jsonl"), PASS, FAIL))
    assert ran.err == ""
    assert ran.out.splitlines()[0] == "✓ p  tool_called:a"
    assert ran.out.splitlines()[-1] == "Blocked: pass rate 1/2 = 0.5000 < 1.0000"


def test_missing_call_shows_the_reply(run: Run) -> None:
    """Where a call is missing, what the agent said instead is shown."""
    ran = run("grade", lines(Path("t.jsonl"), record("f", output="I cannot help with that.", **A)))
    assert "The agent replied: I cannot help with that." in ran.out
    assert "No tool calls were made." in ran.out


def test_json_is_all_there_is_on_the_standard_output(run: Run) -> None:
    """`--json` prints one document and nothing else."""
    ran = run("grade", lines(Path("t.jsonl"), PASS, FAIL, BAD), "--json")
    document = json.loads(ran.out)
    assert ran.err == ""
    assert ran.code == document["decision"]["exit_code"] == 1
    assert [one["id"] for one in document["results"]] == ["p", "f", "bad"]


def test_reports_are_written_beside_the_output(run: Run) -> None:
    """Several reports of one run can be had at once, and tell the same."""
    traces = lines(Path("t.jsonl"), PASS, FAIL)
    ran = run("grade", traces, "-o", "a.json", "-o", "b.xml", "-o", "c.jsonl", "-o", "d.txt")
    assert ran.code == 1
    assert json.loads(Path("a.json").read_bytes())["counts"]["failed"] == 1
    assert 'failures="1"' in Path("b.xml").read_text("utf-8")
    assert len(Path("c.jsonl").read_text("utf-8").splitlines()) == 2
    assert Path("d.txt").read_text("utf-8") == ran.out


def test_report_that_cannot_be_written_does_not_keep_others_from_it(run: Run) -> None:
    """The trouble is said with path and cause; the other reports are written."""
    ran = run("grade", lines(Path("t.jsonl"), PASS), "-o", "/dev/full.d/a.json", "-o", "b.json", "-o", "t.jsonl/c.json")
    assert ran.code == 3
    assert "error: /dev/full.d/a.json: the directory `/dev/full.d` does not exist" in ran.err
    assert "error: t.jsonl/c.json: " in ran.err
    assert json.loads(Path("b.json").read_bytes())["decision"]["passed"]


def test_nothing_is_left_of_a_report_when_the_input_is_refused(run: Run) -> None:
    """A run that cannot be begun leaves reports as they were, and the output empty."""
    Path("old.json").write_text("old")
    ran = run("grade", lines(Path("t.jsonl"), record("x", "a")), "-o", "old.json", "--json")
    assert (ran.code, ran.out, Path("old.json").read_text()) == (2, "", "old")
    assert sorted(path.name for path in Path().iterdir()) == ["old.json", "t.jsonl"]


def test_same_input_gives_the_same_bytes(run: Run) -> None:
    """G5: two runs of the same input print the same."""
    traces = lines(Path("t.jsonl"), PASS, FAIL, BAD)
    for options in ([], ["--json"], ["-v"]):
        assert run("grade", traces, *options) == run("grade", traces, *options)


def test_several_test_sets_are_one_run(run: Run) -> None:
    """Test sets graded together have one decision, by the strictest gate."""
    one = write_tests(Path("one.rightcall.json"), p=A)
    other = Path("other.rightcall.yaml")
    other.write_text("version: 1\ngate: {min_graded: 3}\ntests:\n- {id: q, required_tools: [b]}\n")
    ran = run("grade", lines(Path("t.jsonl"), record("p", "a"), record("q", "b")), "-t", one, "-t", other)
    assert ran.code == 3
    assert "graded 2 of 2, at least 3 needed" in ran.out


def test_directory_is_graded(run: Run) -> None:
    """All trace files of a directory are graded, in order."""
    Path("logs/sub").mkdir(parents=True)
    lines(Path("logs/b.jsonl"), FAIL)
    lines(Path("logs/sub/a.jsonl"), PASS)
    lines(Path("logs/note.txt"), "no trace")
    ids = [one["id"] for one in json.loads(run("grade", "logs", "--json").out)["results"]]
    assert ids == ["f", "p"]


def test_trajectories_that_are_for_no_test_are_told_how_they_could_be(run: Run) -> None:
    """Where nothing belongs together, the note says what decides that."""
    Path("two.yaml").write_text("tests: [{id: x, required_tools: [a]}, {id: y, required_tools: [a]}]")
    traces = lines(Path("t.jsonl"), record("p"), record("f"))
    ran = run("grade", traces, "--tests", "two.yaml")
    assert ran.code == 3
    assert "note: no trajectory was for any test: it is for the test whose id it has" in ran.out
    assert "no trajectory was for any test" not in run("grade", traces, "--tests", "two.yaml", "--apply-all").out


def test_test_id_key_names_the_metadata(run: Run) -> None:
    """A key of the metadata can name the test."""
    tests = write_tests(Path("t.rightcall.json"), one=A, two=A)
    traces = lines(
        Path("t.jsonl"), record("x", "a", metadata={"case": "one"}), record("y", "a", metadata={"case": "two"})
    )
    assert run("grade", traces, "-t", tests, "--test-id-key", "case").code == 0
    assert run("grade", traces, "-t", tests).code == 3


@pytest.mark.parametrize(
    ("environment", "options", "expected"),
    [
        ({}, [], False),
        ({"FORCE_COLOR": "1"}, [], True),
        ({"FORCE_COLOR": "1"}, ["--no-color"], False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, [], False),
        ({"FORCE_COLOR": ""}, [], False),
        ({"FORCE_COLOR": "1", "NO_COLOR": ""}, [], True),
    ],
)
def test_colours_are_asked_for(
    run: Run, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], options: list[str], expected: bool
) -> None:
    """`NO_COLOR`, `FORCE_COLOR` and `--no-color` are honoured; a pipe has no colours."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    ran = run("grade", lines(Path("t.jsonl"), PASS), *options)
    assert expected == ("\x1b[" in ran.out)


def test_width_follows_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The columns fit into the width that is told."""
    calls = [{"name": "a", "arguments": {f"key{number}": number for number in range(12)}}]
    traces = lines(Path("t.jsonl"), {"id": "x", "tool_calls": calls, "expected_tool_calls": [{"name": "b"}, *calls]})
    monkeypatch.setenv("COLUMNS", "60")
    narrow = run("grade", traces).out
    monkeypatch.setenv("COLUMNS", "160")
    wide = run("grade", traces).out
    assert len(narrow.splitlines()) > len(wide.splitlines())
