"""All reports tell of the same run, whatever text is in it."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from typing import Any
from xml.etree import ElementTree

import pyarrow
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.core.results import Result
from rightcall.core.summary import Summary
from rightcall.reports import REPORTS
from rightcall.reports.github import GitHubReport
from rightcall.reports.html import HTMLReport
from rightcall.reports.json import JSONLinesReport, JSONReport
from rightcall.reports.junit import JUnitReport
from rightcall.reports.markdown import MarkdownReport
from rightcall.reports.table.csv import CSVReport
from rightcall.reports.table.parquet import ParquetReport
from rightcall.reports.terminal import Detail, Look, TerminalReport
from support.reporting import HOSTILE, RUN, attempt, heavy, report, result, results, verdict

COUNTS = re.compile(r"passed (\d+), failed (\d+), errors (\d+), inconclusive (\d+), total (\d+), coverage ([\d.]+) %")


def markdown_counts(text: str) -> list[int]:
    """The first five cells of the first row of the first table."""
    row = [line for line in text.splitlines() if line.startswith("| ")][1]
    return [int(cell) for cell in row.strip("| ").split(" | ")[:5]]


def html_counts(text: str) -> list[int]:
    """The numbers of the first list of a page: results by outcome, then all of them."""
    counts = text.partition('<ul class="counts">')[2].partition("</ul>")[0]
    return [int(number) for number in re.findall(r"(\d+) (?:passed|failed|errors?|inconclusive|in total)", counts)]


def csv_rows(data: bytes) -> list[dict[str, Any]]:
    """The rows of CSV by their columns, as text."""
    return list(csv.DictReader(io.StringIO(data.decode("utf-8"), newline="")))


def parquet_rows(made: list[Result]) -> list[dict[str, Any]]:
    """The rows of Parquet by their columns."""
    found: list[dict[str, Any]] = pq.read_table(pyarrow.BufferReader(report(ParquetReport(), made))).to_pylist()
    return found


def table_counts(rows: list[dict[str, Any]]) -> list[int]:
    """How many results came to each outcome, and how many there are, by a table of verdicts."""
    outcomes = list({str(row["result"]): row["outcome"] for row in rows}.values())
    return [*(outcomes.count(outcome) for outcome in ("pass", "fail", "error", "inconclusive")), len(outcomes)]


runs = st.lists(results(), max_size=4)


@heavy
@given(runs)
def test_counts_agree_across_reports(made: list[Result]) -> None:
    """G36: every report and the exit code are read off one summary."""
    summary = Summary()
    for one in made:
        summary.add(one)
    expected = (summary.passed, summary.failed, summary.errors, summary.inconclusive, summary.total)
    counts = json.loads(report(JSONReport(), made))["counts"]
    keys = ("passed", "failed", "errors", "inconclusive", "total")
    assert expected == tuple(counts[key] for key in keys)
    shown = COUNTS.search(report(TerminalReport(), made).decode())
    assert shown is not None
    assert expected == tuple(int(number) for number in shown.groups()[:5])
    suite = ElementTree.fromstring(report(JUnitReport(), made))[0]
    attributes = [int(suite.attrib[key]) for key in ("tests", "failures", "errors", "skipped")]
    assert attributes == [summary.total, summary.failed, summary.errors, summary.inconclusive]
    assert [*expected] == markdown_counts(report(MarkdownReport(), made).decode())
    assert [*expected] == html_counts(report(HTMLReport(), made).decode())
    assert table_counts(csv_rows(report(CSVReport(), made))) == table_counts(parquet_rows(made)) == [*expected]
    outcomes = [json.loads(line)["outcome"] for line in report(JSONLinesReport(), made).splitlines()]
    assert [str(one.outcome) for one in made] == outcomes


@heavy
@given(runs)
def test_annotations_agree_with_the_decision(made: list[Result]) -> None:
    """G36: there is an error to show if, and only if, the run does not pass."""
    decision = json.loads(report(JSONReport(), made))["decision"]
    lines = report(GitHubReport(), made).decode().splitlines()
    assert decision["passed"] == (not any(line.startswith("::error ") for line in lines))


@heavy
@given(runs)
def test_decision_agrees_across_reports(made: list[Result]) -> None:
    """G36: the decision in each report is the one that gives the exit code."""
    decision = json.loads(report(JSONReport(), made))["decision"]
    last = report(TerminalReport(), made).decode().splitlines()[-1]
    words = {0: "Passed", 1: "Blocked", 3: "Incomplete"}
    assert last.startswith(words[decision["exit_code"]])
    title = report(MarkdownReport(), made).decode().splitlines()[0]
    assert words[decision["exit_code"]] in title.partition("<code>")[0]
    heading = re.search("<h1>.*?</h1>", report(HTMLReport(), made).decode())
    assert heading is not None
    assert f"</span> {words[decision['exit_code']]}</span>" in heading[0]
    properties = ElementTree.fromstring(report(JUnitReport(), made)).iter("property")
    table = {item.attrib["name"]: item.attrib["value"] for item in properties if "rightcall" in item.attrib["name"]}
    assert str(decision["exit_code"]) == table["rightcall.exit_code"]


@heavy
@given(runs, st.sampled_from([Look(), Look(width=40, ascii_only=True, detail=Detail.VERBOSE)]))
def test_nothing_recorded_can_steer_a_terminal(made: list[Result], look: Look) -> None:
    """Control characters and changes of direction in recorded text are shown as escapes."""
    text = report(TerminalReport(look), made).decode("utf-8")
    bad = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in "\n\u200d"}
    assert not bad


@heavy
@given(runs)
def test_colours_are_the_only_control_characters(made: list[Result]) -> None:
    """With colours, the text without them is the text of the report without colours."""
    plain = report(TerminalReport(), made).decode()
    coloured = report(TerminalReport(Look(colours=True)), made).decode()
    uncoloured = re.sub("\x1b\\[[0-9]+m", "", coloured)
    assert [line.rstrip() for line in uncoloured.split("\n")] == plain.split("\n")


@pytest.mark.parametrize("name", [name for name in REPORTS if name != "parquet"])
def test_hostile_text_passes_through_every_report(name: str) -> None:
    """Any text that an agent can emit is written, and what it is remains to be seen."""
    hostile = result(HOSTILE, attempt(verdict(HOSTILE, "fail", HOSTILE), output=HOSTILE, place=HOSTILE), name=HOSTILE)
    written = report(REPORTS[name].make(), [hostile], unused=(HOSTILE,), warnings=(HOSTILE,), test_set=HOSTILE)
    assert "202e" in written.decode("utf-8")


@pytest.mark.parametrize("name", REPORTS)
def test_reports_are_the_same_every_time(name: str) -> None:
    """A report holds no time, no random number and nothing of the machine."""
    assert report(REPORTS[name].make(), RUN) == report(REPORTS[name].make(), RUN)
