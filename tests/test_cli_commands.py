"""The other commands, the help, and what is said when something goes wrong on our side."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from rightcall import __version__
from rightcall.app import service
from rightcall.faces.cli.root import COMMANDS, root
from support.command_line import run_here
from support.runs import lines, record, write_tests

pytestmark = pytest.mark.usefixtures("in_tmp")


Capture = pytest.CaptureFixture[bytes]


def test_version(capfdbinary: Capture) -> None:
    """`--version` prints one line."""
    assert run_here(capfdbinary, "--version") == (0, f"rightcall {__version__}\n", "")


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_has_examples_and_exit_codes(capfdbinary: Capture, flag: str) -> None:
    """The help of the program names every command, shows examples and explains the exit codes."""
    ran = run_here(capfdbinary, flag)
    assert (ran.code, ran.err) == (0, "")
    assert all(f"  {name} " in ran.out for name in COMMANDS)
    assert "Examples:\n    rightcall init" in ran.out
    assert "130  interrupted" in ran.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(capfdbinary: Capture, name: str) -> None:
    """Each command shows how it is called, and its short help is the same everywhere."""
    ran = run_here(capfdbinary, name, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert f"Examples:\n    rightcall {name}" in ran.out
    assert root.get_command(click.Context(root), name) is not None


def test_unknown_command_is_refused_with_the_nearest(capfdbinary: Capture) -> None:
    """A misspelt command is a usage error that names the one that was perhaps meant."""
    ran = run_here(capfdbinary, "grad", "t.jsonl")
    assert (ran.code, ran.out) == (2, "")
    assert "there is no command `grad` (did you mean `grade`?)" in ran.err


def test_no_command_shows_the_help(capfdbinary: Capture) -> None:
    """Without a command the help is shown, and the call counts as wrong."""
    ran = run_here(capfdbinary)
    assert ran.code == 2
    assert "Commands:" in ran.out + ran.err


def test_mistake_of_ours_owns_up(capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """G39: an internal error is 3, with its traceback and an invitation to report it."""

    def crash(*arguments: object) -> None:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr(service, "grade", crash)
    ran = run_here(capfdbinary, "grade", "t.jsonl")
    assert (ran.code, ran.out) == (3, "")
    assert "ZeroDivisionError: of all things" in ran.err
    assert "Please report it" in ran.err


def test_interrupt_is_130(capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """G39: an interrupted run says so, without a traceback."""

    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(service, "grade", interrupt)
    ran = run_here(capfdbinary, "grade", "t.jsonl")
    assert (ran.code, ran.err.strip()) == (130, "interrupted")


def test_show_lists_calls_and_what_is_known_of_them(capfdbinary: Capture) -> None:
    """Every call is listed with its arguments or why there are none, and everything is counted."""
    calls = [
        {"name": "lookup", "arguments": {"id": 42}, "status": "ok"},
        {"name": "pay", "arguments_state": "redacted"},
        {"name": "pay", "arguments": '{"n": ', "status": "error"},
        {"name": "search", "kind": "server", "sources": ["line 1", "line 4", "line 9"]},
    ]
    lines(
        Path("t.jsonl"),
        {"id": "p", "tool_calls": calls, "gaps": ["1 span was dropped"], "warnings": ["ids repeat"]},
        {"id": "q"},
        '{"id": "r", "tool_calls": 5}',
        record("s"),
    )
    ran = run_here(capfdbinary, "show", "t.jsonl")
    expected = """\
p  4 calls  t.jsonl
   1 lookup(id=42)  [ok]
   2 pay(<arguments redacted>)  [requested]
   3 pay(<arguments malformed: {"n": >)  [error]
   4 search()  [requested, server]
  gap: 1 span was dropped
  note: ids repeat
q  no calls recorded  t.jsonl
! not read: t.jsonl:3: tool_calls: expected an array of tool calls; found a number
s  0 calls  t.jsonl

read t.jsonl as native: 4 lines, 3 trajectories
  calls 4, joined 2 further sightings
  1 call without arguments that can be read: masked
  1 call without arguments that can be read: the model wrote no JSON
  1 trajectory without recorded calls
  1 gap: calls may be missing
  1 record not read
"""
    assert (3, expected, "") == ran


def test_show_json_writes_the_native_format(capfdbinary: Capture) -> None:
    """What `show --json` prints can be read again and is the same."""
    lines(Path("t.jsonl"), record("p", "a", output="Hi"), record("q", "b", test_id="x"))
    first = run_here(capfdbinary, "show", "t.jsonl", "--json")
    Path("again.jsonl").write_text(first.out, encoding="utf-8")
    assert first == run_here(capfdbinary, "show", "again.jsonl", "--json")
    assert (first.code, [json.loads(line)["id"] for line in first.out.splitlines()]) == (0, ["p", "q"])


def test_show_json_tells_rejects_beside_the_data(capfdbinary: Capture) -> None:
    """A record that cannot be read is told on the standard error, and the exit code is 3."""
    lines(Path("t.jsonl"), record("p", "a"), "nonsense")
    ran = run_here(capfdbinary, "show", "t.jsonl", "--json")
    assert (ran.code, len(ran.out.splitlines())) == (3, 1)
    assert ran.err.startswith("error: t.jsonl:2")


def test_show_of_nothing_is_incomplete(capfdbinary: Capture) -> None:
    """A file without a trajectory is told as such."""
    Path("t.jsonl").write_bytes(b"")
    assert run_here(capfdbinary, "show", "t.jsonl") == (3, "\nread t.jsonl: 0 lines, 0 trajectories\n  calls 0\n", "")


def test_validate_counts_what_is_good_and_reports_all_that_is_bad(capfdbinary: Capture) -> None:
    """Every file is checked, whatever the others hold."""
    write_tests(Path("a.rightcall.json"), p={"required_tools": ["x", "y"]}, q={"allowed_tools": []})
    Path("b.rightcall.yaml").write_text("tests: 5\n")
    Path("c.rightcall.yaml").write_text("version: 1\ntests:\n- required_tools: [a]\n")
    ran = run_here(capfdbinary, "validate", "a.rightcall.json", "b.rightcall.yaml", "c.rightcall.yaml", "d.yaml")
    assert ran.code == 2
    assert ran.out.splitlines() == [
        "a.rightcall.json: ok, 2 tests with 3 assertions",
        "c.rightcall.yaml: ok, 1 test with 1 assertion",
    ]
    told = ran.err.splitlines()
    assert told[0].startswith("error: b.rightcall.yaml:1")
    assert told[1].startswith("note: 1 test has no `id`")
    assert told[2] == "error: d.yaml: cannot be read: no such file or directory"
    assert run_here(capfdbinary, "validate", "a.rightcall.json").code == 0


def test_init_writes_an_example_that_passes(capfdbinary: Capture) -> None:
    """The example can be graded as it is."""
    ran = run_here(capfdbinary, "init", "evals")
    names = ["refund.rightcall.yaml", "refund.traces.jsonl", "rightcall.schema.json"]
    following = "next: rightcall grade evals/refund.traces.jsonl --tests evals/refund.rightcall.yaml"
    assert (0, [*(f"wrote evals/{name}" for name in names), following]) == (ran.code, ran.out.splitlines())
    assert run_here(capfdbinary, "validate", "evals/refund.rightcall.yaml").code == 0
    graded = run_here(capfdbinary, "grade", "evals/refund.traces.jsonl", "-t", "evals/refund.rightcall.yaml")
    assert graded.code == 0
    assert "passed 2, failed 0" in graded.out


def test_init_overwrites_nothing(capfdbinary: Capture) -> None:
    """If one of the files exists, none is written."""
    Path("rightcall.schema.json").write_text("mine")
    ran = run_here(capfdbinary, "init")
    assert (ran.code, ran.out) == (2, "")
    assert "rightcall.schema.json: exists already; nothing was written" in ran.err
    assert [path.name for path in Path().iterdir()] == ["rightcall.schema.json"]


def test_init_in_the_place_of_a_file_is_refused(capfdbinary: Capture) -> None:
    """A directory that cannot be made is named with the cause."""
    Path("evals").write_text("a file")
    ran = run_here(capfdbinary, "init", "evals")
    assert ran.code in (2, 3)
    assert ran.err.startswith("error: evals")


def test_schema_is_printed_or_written(capfdbinary: Capture) -> None:
    """The schema is the same on the standard output and in a file."""
    ran = run_here(capfdbinary, "schema")
    assert json.loads(ran.out)["$schema"].startswith("https://json-schema.org/")
    assert run_here(capfdbinary, "schema", "-o", "s.json") == (0, "", "")
    assert Path("s.json").read_text("utf-8") == ran.out


def test_schema_that_cannot_be_written_is_3(capfdbinary: Capture) -> None:
    """G39: a file that cannot be written is trouble of the machine, not of usage."""
    ran = run_here(capfdbinary, "schema", "-o", "no/such/s.json")
    assert ran.code == 3
    assert ran.err.startswith("error: no/such/s.json: the directory")
