"""The reports of a run, one file each. A new report is one file and one line in `REPORTS`.

A report is written piece by piece while the run goes on: `start` once, `add` for each result, `end` once.
All of them are told the same results, summary and decision, so they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from rightcall.core.results import Result
from rightcall.core.summary import RunEnd, RunHead
from rightcall.reports.github import GitHubReport
from rightcall.reports.gitlab import GitLabReport
from rightcall.reports.json import JSONLinesReport, JSONReport
from rightcall.reports.junit import JUnitReport
from rightcall.reports.markdown import MarkdownReport
from rightcall.reports.table.csv import CSVReport
from rightcall.reports.table.parquet import ParquetReport
from rightcall.reports.terminal import TerminalReport


class Report(Protocol):
    """Turns a run into bytes, piece by piece. A piece may be empty.

    One with `hides_secrets = True` is told of no secrets unless that is switched off: one that is shown around, rather
    than read by programs or by whoever ran it.
    """

    def start(self, head: RunHead) -> bytes:
        """Return what comes before all results."""
        ...

    def add(self, result: Result) -> bytes:
        """Return what there is to write once this result is known."""
        ...

    def end(self, end: RunEnd) -> bytes:
        """Return what comes after all results."""
        ...


class ReportKind(msgspec.Struct, frozen=True):
    """How to make a report, and the endings of file names that mean it; without any, an option asks for it."""

    make: Callable[[], Report]
    suffixes: tuple[str, ...]


def _html() -> Report:
    """Make a report that most runs do not ask for, and that takes a while to import."""
    from rightcall.reports.html import HTMLReport

    return HTMLReport()


# Of several endings that a name has, the first in this order counts.
REPORTS: dict[str, ReportKind] = {
    "terminal": ReportKind(TerminalReport, (".txt",)),
    "gitlab": ReportKind(GitLabReport, ("gl-code-quality.json", "gl-code-quality-report.json")),
    "json": ReportKind(JSONReport, (".json",)),
    "jsonl": ReportKind(JSONLinesReport, (".jsonl", ".ndjson")),
    "junit": ReportKind(JUnitReport, (".xml",)),
    "markdown": ReportKind(MarkdownReport, (".md", ".markdown")),
    "html": ReportKind(_html, (".html", ".htm")),
    "csv": ReportKind(CSVReport, (".csv",)),
    "parquet": ReportKind(ParquetReport, (".parquet",)),
    "github": ReportKind(GitHubReport, ()),
}
