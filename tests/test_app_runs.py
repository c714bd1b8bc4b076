"""Runs that were written are read as they were."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.app.runs import Baseline, SavedRun, read_run
from rightcall.core.comparison.outlines import ResultRow, RunRow, row
from rightcall.core.results import Result
from rightcall.reports.json import JSONLinesReport, JSONReport
from support.reporting import RUN, report, results

runs = st.lists(results(), min_size=1, max_size=4)


def read(data: bytes) -> list[ResultRow]:
    """The results of a report with these bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.json")
        path.write_bytes(data)
        return list(read_run(str(path)).results)


@settings(max_examples=25)
@given(runs)
def test_a_report_is_read_as_the_outline_of_what_was_written(made: list[Result]) -> None:
    """Law: one result a line, laid out anew or as JSON Lines, whatever text is in it, it is the same run."""
    outlines = [row(result) for result in made]
    written = report(JSONReport(), made)
    assert read(written) == outlines
    assert read(json.dumps(json.loads(written), indent=1).encode()) == outlines
    assert read(report(JSONLinesReport(), made)) == outlines


def test_a_report_says_what_the_run_was_made_with(tmp_path: Path) -> None:
    """Versions and test set are known from a document, and not from lines."""
    for name, kind in (("run.json", JSONReport()), ("run.jsonl", JSONLinesReport())):
        (tmp_path / name).write_bytes(report(kind, RUN))
    head = read_run(str(tmp_path / "run.json")).run
    assert (head.product, head.rules, head.test_set, head.test_set_hash) == ("0.0", "1", "Refund flow", "abc")
    assert [read_run(str(tmp_path / name)).run.is_complete for name in ("run.json", "run.jsonl")] == [True, False]


@settings(max_examples=25)
@given(runs)
def test_a_baseline_gives_each_result_once(made: list[Result]) -> None:
    """By its id in the order of the run, and at the end those that nobody asked for."""
    outlines = [row(result) for result in made]
    with Baseline(SavedRun(RunRow(name="run.json"), iter(outlines))) as baseline:
        assert baseline.take("no such id") is None
        found = [baseline.take(each.id) for each in outlines[:2]]
        rest = list(baseline.rest())
        assert [baseline.take(each.id) for each in outlines] == [None] * len(outlines)
    assert found == outlines[:2]
    assert sorted(map(repr, rest)) == sorted(map(repr, outlines[2:]))
