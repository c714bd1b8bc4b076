"""`rightcall lint` as it is called: exit codes, what is printed, and mutants of recorded traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.command_line import Ran, run_here
from support.runs import lines, write_tests

Capture = pytest.CaptureFixture[bytes]

LOOSE = {"expected_tool_calls": ["a"]}
STRICT = {"match": "exact", "arguments": "exact", "expected_tool_calls": [{"name": "a", "arguments": {"k": 1}}]}
BROKEN = {"required_tools": ["a"], "forbidden_tools": ["a"]}
MADE = {"id": "x", "tool_calls": [{"name": "a", "arguments": {"k": 1}}]}
OTHER = {"id": "x", "tool_calls": [{"name": "b"}]}


pytestmark = pytest.mark.usefixtures("in_tmp")


def lint(capture: Capture, keys: dict[str, Any], *arguments: str, records: list[Any] | None = None) -> Ran:
    """Lint one test, with records as traces if there are some."""
    write_tests(Path("t.json"), x=keys)
    traces = [] if records is None else ["--traces", str(lines(Path("r.jsonl"), *records))]
    return run_here(capture, "lint", "t.json", *traces, *arguments)


NOTE = {"match": "superset", "expected_tool_calls": [{"name": "a", "arguments": {}}]}
WARNING = {"tool_call_args": [{"tool": "a", "match": {"mode": "regex", "pattern": ""}}]}


@pytest.mark.parametrize(
    ("keys", "options", "records", "code"),
    [
        (LOOSE, [], None, 0),
        (BROKEN, [], None, 1),
        (WARNING, [], None, 0),
        (WARNING, ["--level", "warning"], None, 1),
        (NOTE, ["--level", "warning"], None, 0),
        (NOTE, ["--level", "note"], None, 1),
        (LOOSE, [], [MADE], 0),
        (LOOSE, ["--min-mutation-score", "1"], [MADE], 1),
        (STRICT, ["--min-mutation-score", "1"], [MADE], 0),
        (LOOSE, [], [OTHER], 3),
        (LOOSE, [], [{"id": "x", "tool_calls": None}], 3),
        (LOOSE, [], [MADE, "{"], 3),
        (LOOSE, ["--min-mutation-score", "1"], [MADE, "{"], 1),
        (BROKEN, [], [OTHER], 1),
        (LOOSE, ["--min-mutation-score", "1"], None, 2),
        (LOOSE, ["--min-mutation-score", "2"], [MADE], 2),
        ({"required_tolls": ["a"]}, [], [MADE], 2),
        (LOOSE, ["--traces", "missing.jsonl"], None, 2),
        (LOOSE, ["--format", "no-such"], [MADE], 2),
    ],
)
def test_exit_codes(
    capfdbinary: Capture, keys: dict[str, Any], options: list[str], records: list[Any] | None, code: int
) -> None:
    """2 for what cannot be used, else 1 for what was found, else 3 if nothing could be mutated, else 0 (G39)."""
    assert lint(capfdbinary, keys, *options, records=records).code == code


@pytest.mark.parametrize(
    "option",
    [
        ("--apply-all",),
        ("--test-id-key", "k"),
        ("--max-mutants", "5"),
        ("--min-mutation-score", "1"),
        ("--format", "native"),
        ("--group-by", "file"),
        ("--tool-name-at", "a"),
        ("--tool-arguments-at", "a"),
    ],
    ids=" ".join,
)
def test_what_speaks_of_traces_needs_some(capfdbinary: Capture, option: tuple[str, ...]) -> None:
    """An option that would have no effect is refused, with what is missing."""
    ran = lint(capfdbinary, LOOSE, *option)
    assert (ran.code, ran.err) == (
        2,
        f"error: {option[0]} needs recorded traces: name them with --traces\n",
    )


def test_remarks_are_told_with_place_and_advice(capfdbinary: Capture) -> None:
    """Each remark has its place, level, code, test, what is wrong and what to do."""
    assert lint(capfdbinary, BROKEN).out.splitlines() == [
        "t.json:1:57: tests[0].required_tools[0]: error[contradiction] in test `x`",
        "    `tool_called:a` needs a call of `a`, but it is forbidden (`no_forbidden_tool`)",
        "    to do: take `a` out of one of them",
        "1 test: 1 error, 0 warnings and 0 notes",
    ]


def test_survivors_are_told_by_operator_with_an_example(capfdbinary: Capture) -> None:
    """Each sort of change that passes is told once, with how often, why, an example and what would notice it."""
    told = lint(capfdbinary, LOOSE, records=[MADE]).out

    assert (
        "  ! add-argument: 1 survived, allowed by `arguments: partial`\n"
        "      such as `unknown_argument` = 1 added to call 1, `a` (x in r.jsonl)\n"
        "      to notice it: `arguments: exact`\n"
    ) in told
    assert told.endswith("mutation score 3/10 = 0.3000\n")


def test_a_score_that_is_too_low_is_shown_beside_what_it_must_be(capfdbinary: Capture) -> None:
    """The decision is visible in the numbers (G35)."""
    told = lint(capfdbinary, LOOSE, "--min-mutation-score", "2/3", records=[MADE]).out

    assert told.endswith("mutation score 3/10: 0.3000 < 0.6667\n")


def test_json_has_everything(capfdbinary: Capture) -> None:
    """`--json` prints remarks, scores and survivors, and nothing else."""
    ran = lint(capfdbinary, {**LOOSE, "forbidden_tools": ["a"]}, "--json", records=[MADE, OTHER])
    report = json.loads(ran.out)

    assert ran.code == report["exit_code"] == 1
    assert [(remark["code"], remark["line"], remark["path"]) for remark in report["remarks"]] == [
        ("contradiction", 1, "tests[0].expected_tool_calls[0].name")
    ]
    assert (report["mutation"]["score"], report["mutation"]["not_passing"]) == (None, 2)

    report = json.loads(lint(capfdbinary, LOOSE, "--json", records=[MADE, OTHER]).out)
    (test,) = report["mutation"]["tests"]
    assert (report["mutation"]["score"], report["mutation"]["not_passing"]) == ("3/10", 1)
    assert (test["killed"], test["survived"], test["possible"], test["is_sample"]) == (3, 7, 10, False)
    assert sum(group["count"] for group in test["survivors"]) == 7


def test_ids_must_be_unique_over_all_files(capfdbinary: Capture) -> None:
    """Two files with a test of the same id cannot be graded together."""
    write_tests(Path("one.json"), x=LOOSE)
    write_tests(Path("two.json"), x=LOOSE)

    ran = run_here(capfdbinary, "lint", "one.json", "two.json")

    assert ran.code == 1
    assert "error[duplicate-id] in test `x`" in ran.out


def test_a_file_that_is_refused_does_not_hide_the_others(capfdbinary: Capture) -> None:
    """Every file is looked at; the one that is no test set is told with its place."""
    write_tests(Path("good.json"), x=BROKEN)
    Path("bad.yaml").write_text("tests: [{id: 1}]")

    ran = run_here(capfdbinary, "lint", "bad.yaml", "good.json")

    assert ran.code == 2
    assert ran.err.startswith("error: bad.yaml:1:")
    assert ran.out.endswith(" notes; 1 file could not be used\n")
    assert "error[contradiction]" in ran.out


def test_every_trajectory_can_be_tried_for_every_test(capfdbinary: Capture) -> None:
    """With `--apply-all` policies are tried on all that was recorded."""
    write_tests(Path("t.json"), p={"allowed_tools": ["a"]}, q={"forbidden_tools": ["z"]})
    lines(Path("r.jsonl"), MADE, OTHER)

    ran = run_here(capfdbinary, "lint", "t.json", "--traces", "r.jsonl", "--apply-all", "--json")

    tests = json.loads(ran.out)["mutation"]["tests"]
    assert [(test["test"], test["trajectories"]) for test in tests] == [("p", 1), ("q", 2)]


def test_names_that_no_trace_knows_are_told(capfdbinary: Capture) -> None:
    """Where traces say which tools there were, an expected name that is none of them is a warning."""
    made = {**MADE, "available_tools": [{"name": "a"}, {"name": "issue_refund"}]}

    ran = lint(capfdbinary, {"required_tools": ["a"], "forbidden_tools": ["isue_refund"]}, records=[made])

    assert "warning[unknown-tool]" in ran.out
    assert "is none of the tools that its traces say there were (did you mean `issue_refund`?)" in ran.out


def test_the_number_of_mutants_can_be_limited(capfdbinary: Capture) -> None:
    """Fewer are tried, and it is said of how many."""
    ran = lint(capfdbinary, LOOSE, "--max-mutants", "1", records=[MADE])

    assert "10 or more were possible" in ran.out


def test_recorded_text_is_shown_with_escapes(capfdbinary: Capture) -> None:
    """What was recorded never reaches the terminal raw."""
    made = {"id": "x", "tool_calls": [{"name": "a"}, {"name": "\x1b[31m", "arguments": {"\x1b[2J": "\x1b[1m"}}]}

    ran = lint(capfdbinary, LOOSE, records=[made])

    assert "\x1b" not in ran.out
    assert r"\x1b[31m" in ran.out
