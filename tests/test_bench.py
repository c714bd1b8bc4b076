"""The benchmarks run and compare like with like. How long anything takes is not tested."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from support.processes import unmeasured

ROOT = Path(__file__).parent.parent

Row = dict[str, str]


@cache
def printed(name: str) -> str:
    """What a benchmark prints at its smallest size."""
    command = [sys.executable, "-m", "bench", "--quick", "--only", name]
    ran = subprocess.run(command, cwd=ROOT, env=unmeasured(), capture_output=True, text=True, check=False)
    assert (ran.stderr, ran.returncode) == ("", 0)
    return ran.stdout


def tables(name: str) -> dict[str, list[Row]]:
    """The tables that it prints, by title."""
    return dict(map(_table, re.findall(r"(?<=\n\n).+\n-+\n(?:.+\n)+", printed(name))))


def _table(text: str) -> tuple[str, list[Row]]:
    title, _, head, *lines = text.splitlines()
    columns = re.split(r"\s{2,}", head)
    cells = [re.split(r"\s{2,}", line) for line in lines]
    return title, [dict(zip(columns, row, strict=True)) for row in cells]


def table(name: str, title: str) -> list[Row]:
    """The rows of the one table whose title begins so."""
    (rows,) = [rows for found, rows in tables(name).items() if found.startswith(title)]
    return rows


FIGURE = re.compile(r"[\d,.]+ \([\d,.]+\.\.[\d,.]+\)")
"""A median with the least and the greatest."""


@pytest.mark.parametrize(
    ("name", "title", "columns"),
    [
        ("evaluations", "Evaluations: 5 expected", ["µs each", "times rightcall's"]),
        ("records", "Records: 3 rounds", ["µs a record", "times the floor"]),
        ("sizes", "Sizes", ["compile s", "grade s", "read s"]),
        ("rules", "Rules", ["compile s", "grade s"]),
        ("startup", "Start-up", ["wall ms", "times doing nothing", "CPU ms"]),
    ],
)
def test_every_figure_is_printed_with_its_spread(name: str, title: str, columns: list[str]) -> None:
    """A median stands beside the least and the greatest of the rounds."""
    cells = [row[column] for row in table(name, title) for column in columns]

    assert cells
    assert [cell for cell in cells if not FIGURE.fullmatch(cell)] == []


def test_every_setting_is_measured_for_rightcall_and_the_loop() -> None:
    """Three ways to line up, three ways to compare arguments."""
    rows = table("evaluations", "Evaluations: 5 expected")

    settings = [f"{m}/{a}" for m in ("in_order", "any_order", "superset") for a in ("partial", "exact", "ignore")]
    expected = [(setting, tool) for setting in settings for tool in ("rightcall", "rightcall, read", "Python loop")]
    assert expected == [(row["match/arguments"], row["tool"]) for row in rows]


def test_competitors_agree_on_what_passes() -> None:
    """Times of tools that answer differently could not be compared."""
    passed: dict[str, set[str]] = {}
    for row in table("evaluations", "Evaluations: 5 expected"):
        passed.setdefault(row["match/arguments"], set()).add(row["passed"])

    assert dict.fromkeys(passed, 1) == {setting: len(counts) for setting, counts in passed.items()}


def test_some_trajectories_pass_and_some_fail() -> None:
    """A mix of which everything passes would flatter whoever is slow to explain a failure."""
    rows = table("evaluations", "Evaluations: 5 expected")

    passed = {int(row["passed"]) for row in rows if row["match/arguments"] == "in_order/partial"}
    assert [20 < count < 40 for count in passed] == [True]


def test_other_tools_are_named_with_the_reason_for_leaving_them_out() -> None:
    """No competitor is dropped without a word."""
    expected = ["google-adk", "strands-agents-evals", "agentevals", "deepeval"]
    assert expected == re.findall(r"^skipped ([\w-]+): .+$", printed("evaluations"), re.MULTILINE)


def test_the_whole_run_is_set_beside_the_floor() -> None:
    """The floor is what decoding the records and encoding the same results takes."""
    rows = table("records", "Records: 3 rounds")

    assert rows[0]["times the floor"] == "1.00 (1.00..1.00)"
    assert "rightcall grade -o results.jsonl" in [row["what"] for row in rows]


def test_memory_is_shown_for_a_tenth_of_the_records_and_for_all() -> None:
    """Whether it grows can be read from the table."""
    rows = table("records", "Records: one process")

    assert [row["records"] for row in rows] == ["30", "300"]


def test_no_turn_is_lost_or_doubled_where_an_agent_is_driven() -> None:
    """The benchmark exits with 1 otherwise; two loops of httpx stand beside it."""
    rows = table("driving", "Driving")

    expected = ["httpx loop, one client", "httpx loop, a client each", "rightcall run, 400 tests"]
    assert expected == [row["what"] for row in rows[:3]]
    assert {row["lost or doubled"] for row in rows} == {"none"}


def test_long_trajectories_come_to_the_status_that_they_were_built_for() -> None:
    """The benchmark exits with 1 otherwise; passes and failures of both families are among them."""
    rows = table("sizes", "Sizes")

    found = {(row["match"], row["status"]) for row in rows}
    assert {("in_order", "pass"), ("in_order", "fail"), ("any_order", "pass"), ("any_order", "fail")} <= found


def test_memory_is_watched_for_records_and_spans_of_three_sizes() -> None:
    """Whether it grows with the file can be read from the table."""
    rows = table("memory", "Memory")

    expected = [("records", "0.01 MB"), ("records", "0.10 MB"), ("records", "1.00 MB")]
    assert expected == [(row["file"], row["size"]) for row in rows[:3]]
    assert [row["file"] for row in rows[3:]] == ["spans"] * 3


def test_start_up_counts_modules() -> None:
    """Each command imports more than an interpreter that does nothing; to pytest, the plugin adds three modules."""
    modules = [int(row["modules"]) for row in table("startup", "Start-up")]

    assert sorted(modules[:3]) == modules[:3]
    assert modules[4] - modules[3] == 3
    assert len(modules) == 5
