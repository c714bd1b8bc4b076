"""Annotations for GitHub Actions, and output that its runner does not take for commands."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.core.inert import is_command
from rightcall.core.results import Result
from rightcall.errors import Where
from rightcall.reports.github import SHOWN, GitHubReport
from rightcall.reports.json import JSONReport
from rightcall.reports.markdown import LIMIT
from rightcall.reports.terminal import Detail, Look, TerminalReport
from support.command_line import run_here
from support.reporting import (
    EMPTY,
    FAILED,
    FLAKY,
    HOSTILE,
    PASSED,
    UNJUDGED,
    attempt,
    heavy,
    report,
    result,
    results,
    verdict,
)
from support.runs import lines, record

COMMANDS: Final = (
    "::error::boo",
    "::stop-commands::x",
    "##[error]boo",
    "###[group]x",
    "##vso[task.complete]x",
    " :::error::",
)


class Annotation(NamedTuple):
    """A workflow command as GitHub's runner reads it."""

    command: str
    properties: dict[str, str]
    message: str


def unescaped(text: str, *signs: str) -> str:
    for sign in (*signs, "\r", "\n", "%"):
        text = text.replace(f"%{ord(sign):02X}", sign)
    return text


def read(line: str) -> Annotation:
    """Take a command apart: its name and properties up to the second `::`, the message after it."""
    head, _, message = line.removeprefix("::").partition("::")
    command, _, written = head.partition(" ")
    pairs = (pair.split("=", 1) for pair in written.split(","))
    return Annotation(command, {name: unescaped(value, ",", ":") for name, value in pairs}, unescaped(message))


def annotated(*made: Result) -> list[Annotation]:
    text = report(GitHubReport(), made).decode("utf-8")
    return [read(line) for line in text.splitlines()]


def test_failure_is_an_error_at_the_line_of_its_expectation() -> None:
    """The place of the verdict's expectation goes before that of the test."""
    placed = result(
        "late",
        attempt(verdict("x", "fail", "No b.", "No c.")),
        place="t.yaml:3",
        places={"x": Where(file="t.yaml", line=7, column=5, path="tests[0].match")},
    )
    found = {"file": "t.yaml", "line": "7", "col": "5", "title": "late: x"}
    assert annotated(placed) == [Annotation("error", found, "No b.\nNo c.")]


def test_test_stands_for_an_expectation_without_a_place() -> None:
    """Without a line of its own, an expectation is annotated where its test stands."""
    assert [one.properties["line"] for one in annotated(FAILED)] == ["12"]
    assert (
        annotated(result("a", attempt(verdict("x", "fail", "No.")), place="dir/t.yaml"))[0].properties["file"]
        == "dir/t.yaml"
    )
    assert annotated(result("a", attempt(verdict("x", "fail", "No."))))[0].properties == {"title": "a: x"}


def test_what_could_not_be_judged_is_a_warning_and_blocks_as_an_error() -> None:
    """G39: an incomplete run is told once more, as the error that it is."""
    first, last = annotated(UNJUDGED)
    assert first == Annotation(
        "warning", {"file": "r.yaml", "line": "4", "title": "gone"}, "no trajectory for test `gone`"
    )
    assert (last.command, last.properties) == ("error", {"title": "rightcall"})
    assert last.message == "Incomplete: graded 0 of 1, at least 1 needed; 1 test could not be judged"


@pytest.mark.parametrize(("severity", "commands"), [("block", ["error"]), ("warn", ["warning"]), ("shadow", [])])
def test_severity_decides_the_command(severity: Any, commands: list[str]) -> None:
    """A verdict that does not count is a warning, one in the shadow nothing."""
    made = result("a", attempt(verdict("y", "pass"), verdict("x", "fail", "No.", severity=severity)))
    assert commands == [one.command for one in annotated(made)]


def test_passed_and_failed_attempts_are_one_annotation() -> None:
    """G37: attempts at one test share an annotation, with how many failed."""
    assert [one.message for one in annotated(FLAKY)] == ["1 of 2 attempts: No b."]


def test_attempts_that_do_not_matter_are_not_annotated() -> None:
    """G37: a test that passes over its attempts has no annotation for the one that failed."""
    passed = result("a", *FLAKY.attempts, outcome="pass")
    assert annotated(passed) == []


def test_a_run_that_passes_says_nothing() -> None:
    """There is nothing to annotate."""
    assert annotated(PASSED) == []


def test_nothing_graded_is_an_error() -> None:
    """G36: a run that is red has an error to show for it."""
    assert [one.command for one in annotated(EMPTY)] == ["error"]
    assert annotated()[0].message == "Incomplete: graded 0 of 0, at least 1 needed"


@pytest.mark.parametrize("number", [SHOWN, SHOWN + 1, 40])
def test_more_than_are_shown_are_counted(number: int) -> None:
    """GitHub shows ten of each sort: of more, the tenth says how many there are."""
    made = [result(f"t{index}", attempt(verdict("x", "fail", "No."))) for index in range(number)]
    found = annotated(*made)
    assert len(found) == SHOWN
    more = f"and {number - SHOWN + 1} more failures: see the step summary"
    assert found[-1].message == ("No." if number == SHOWN else more)


def test_values_are_escaped_and_come_back() -> None:
    """Percent signs, colons, commas and line ends in names and messages are told as they are."""
    made = result("a,b:c%0A::", attempt(verdict("x", "fail", "100%0A, d::e\n::error::f")), place="d,e.yaml:5")
    (found,) = annotated(made)
    assert found.properties == {"file": "d,e.yaml", "line": "5", "title": "a,b:c%0A::: x"}
    assert found.message == "100%0A, d::e\n::error::f"


@heavy
@given(st.lists(results(), max_size=4))
def test_every_line_is_a_command_of_ours(made: list[Result]) -> None:
    """Whatever was recorded, a line is one `::error` or `::warning` with our properties, without control characters."""
    text = report(GitHubReport(), made).decode("utf-8")
    for line in text.removesuffix("\n").split("\n") if text else []:
        assert re.fullmatch(r"::(error|warning) (file=[^,:]*,)?(line=\d+,)?(col=\d+,)?title=[^,:]*::.*", line)
        assert not re.search("[\x00-\x1f\x7f-\x9f\u202e\u2066\ud800]", line)


@pytest.mark.parametrize("text", COMMANDS)
@pytest.mark.parametrize("look", [Look(), Look(width=40, detail=Detail.VERBOSE), Look(colours=True)])
def test_printed_reports_hold_no_commands(text: str, look: Look) -> None:
    """What an agent wrote is no command to the runner of the job that prints it, however the lines are broken."""
    rows = FAILED.attempts[0].alignments["tool_sequence"]
    long = f"{'x' * 30} {text} {'y' * 30} {text}"
    made = result(
        text,
        attempt(
            verdict(long, "fail", long, text), alignments={long: rows}, output=long, warnings=(text,), trajectory=text
        ),
        name=text,
    )
    for written in (TerminalReport(look), JSONReport(), GitHubReport()):
        shown = report(written, [made], test_set=text, unused=(text,), warnings=(text,), counted=text).decode()
        ours = re.compile("::(error|warning) (file|line|title)=") if isinstance(written, GitHubReport) else None
        bare = [re.sub("\x1b\\[[0-9]+m", "", line) for line in shown.splitlines()]
        assert [line for line in bare if is_command(line) and not (ours and ours.match(line))] == []


def test_json_says_the_same_without_commands() -> None:
    """The escape in the JSON report is read back as what it stands for."""
    shown = report(JSONReport(), [result('\\##[error]### "##', attempt(verdict("x", "pass")))])
    assert b"##" not in shown
    assert json.loads(shown)["results"][0]["id"] == '\\##[error]### "##'


@pytest.mark.parametrize("name", ["##[error]x", "x\n::error::y"])
def test_messages_hold_no_commands(capfdbinary: pytest.CaptureFixture[bytes], name: str) -> None:
    """A name in an error message is no command either."""
    ran = run_here(capfdbinary, "grade", name)
    assert ran.code == 2
    assert [line for line in ran.err.splitlines() if is_command(line)] == []


@pytest.mark.parametrize("text", ["a::b", "C++ # 1", "## heading", "https://a.example", "a [##] b"])
def test_text_that_is_no_command_is_shown_as_it_is(text: str) -> None:
    """Colons and hashes in the middle of a line are left alone."""
    assert f"note: {text}" in report(TerminalReport(), [PASSED], warnings=(text,)).decode()


@pytest.fixture
def _step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step of GitHub Actions, with a test set of two tests, one of which fails at line 5."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    lines(Path("in.jsonl"), record("p", "a"), record("q", "b"))
    Path("t.rightcall.yaml").write_text(
        "tests:\n  - id: p\n    required_tools: [a]\n  - id: q\n    required_tools: [c]\n", encoding="utf-8"
    )


GRADE: Final = ("grade", "in.jsonl", "-t", "t.rightcall.yaml", "--github")


@pytest.mark.usefixtures("_step")
def test_github_annotates_the_line_and_adds_to_the_summary(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """The line of the YAML expectation is annotated; what the step had in its summary stays."""
    Path("summary.md").write_text("before\n", encoding="utf-8")
    ran = run_here(capfdbinary, *GRADE)
    assert ran.code == 1
    assert ran.err.startswith("::error file=t.rightcall.yaml,line=5,col=")
    assert Path("summary.md").read_text(encoding="utf-8").startswith("before\n## ❌ Blocked: ")


@pytest.mark.usefixtures("_step")
def test_github_leaves_the_standard_output_to_data(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """`--json` prints JSON and nothing else, also beside annotations."""
    ran = run_here(capfdbinary, *GRADE, "--json")
    assert json.loads(ran.out)["decision"]["exit_code"] == ran.code == 1
    assert "::error " in ran.err


@pytest.mark.usefixtures("_step")
def test_without_a_summary_there_are_annotations_only(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elsewhere than in a step, `--github` prints the commands and writes no file."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    assert run_here(capfdbinary, *GRADE).err.startswith("::error ")
    assert not Path("summary.md").exists()


@pytest.mark.usefixtures("_step")
def test_summary_that_cannot_be_written_is_told(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """G39: the path and the cause are told; a run that would pass is then incomplete, a failed one stays failed."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "gone/summary.md")
    failed = run_here(capfdbinary, *GRADE)
    assert (failed.code, failed.err.splitlines()[-1]) == (
        1,
        "error: gone/summary.md: cannot be written: no such file or directory",
    )
    passed = run_here(capfdbinary, *GRADE, "--min-pass-rate", "0.5")
    assert passed.code == 3


@pytest.mark.usefixtures("_step")
def test_summary_takes_what_room_the_step_has_left(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """GitHub drops what is larger than 1 MiB: with what was there before, the summary keeps below that."""
    Path("summary.md").write_bytes(b"x" * (LIMIT - 70_000) + b"\n")
    assert run_here(capfdbinary, *GRADE).code == 1
    assert LIMIT - 70_000 < Path("summary.md").stat().st_size <= LIMIT
    assert "## ❌ Blocked" in Path("summary.md").read_text(encoding="utf-8")


def test_hostile_names_are_one_line() -> None:
    """A name of strange characters is shown with escapes."""
    (found,) = annotated(result(HOSTILE, attempt(verdict("x", "fail", HOSTILE)), place=HOSTILE))
    assert found.properties["title"].startswith("x\\x1b[31m\\")
