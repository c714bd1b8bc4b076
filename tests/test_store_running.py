"""Runs, attempts and the grid: planned, claimed, recorded at most once, read page by page."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from sqlalchemy import event

from rightcall.errors import ConflictError, RefusedRowError, UnknownRowError, UsageError
from rightcall.store import attempts, results, runs
from rightcall.store.attempts import Attempt, Cell
from rightcall.store.engine import Org, Store
from rightcall.store.pages import Wanted
from rightcall.store.results import Filter
from rightcall.store.runs import Missing, Planned, Run
from support.databases import NOW, later


def planned(*, tests: int, attempts: int = 1) -> list[Planned]:
    """Tests of a run, called a, b, c, …"""
    names = [chr(ord("a") + number) for number in range(tests)]
    return [Planned(test_id=f"test_{name}", name=name, test={"says": name}, attempts=attempts) for name in names]


def plan(store: Store, org: Org, tests: int = 3, attempts: int = 1, **told: Any) -> str:
    """Plan a run, and return its id."""
    with store.writing(NOW) as on:
        return runs.plan(org, on, Run(**told), planned(tests=tests, attempts=attempts)).id


def ended(position: int, number: int = 1, outcome: str = "pass") -> Attempt:
    """An attempt that has ended."""
    record: dict[str, Any] = {"verdicts": [], "output": None}
    return Attempt(
        position=position, number=number, outcome=outcome, finished_at=NOW, record=record, trajectory=b"{}\n"
    )


def test_runs_are_numbered_by_their_organization(store: Store, org: Org) -> None:
    """Numbers count from 1 without a gap; an alias is used once; the failed one takes no number."""
    first, second = plan(store, org, alias="nightly"), plan(store, org)
    with pytest.raises(ConflictError, match="another run has this name already"):
        plan(store, org, alias="nightly")
    third = plan(store, org)
    with store.reading() as on:
        assert [runs.RUNS.need(org, on, run).value.number for run in (first, second, third)] == [1, 2, 3]


def test_a_run_remembers_its_tests(store: Store, org: Org) -> None:
    """Tests are read in their order, as they were when the run was planned."""
    run = plan(store, org, tests=3, attempts=2)
    with store.reading() as on:
        page = results.page(org, on, run, Wanted())
        assert [(result.position, result.name, result.planned) for result in page.rows] == [
            (0, "a", 2),
            (1, "b", 2),
            (2, "c", 2),
        ]
        assert results.test_of(org, on, run, 1) == {"says": "b"}
        assert results.test_of(org, on, run, 3) is None
        assert results.get(org, on, run, 3) is None


def test_one_worker_at_a_time(store: Store, org: Org) -> None:
    """A run that is claimed is free to others when the time is over; its worker may claim it again before."""
    run = plan(store, org)
    with store.writing(NOW) as on:
        assert runs.claim(org, on, run, "one", later(30))
        assert not runs.claim(org, on, run, "two", later(30))
        assert runs.claim(org, on, run, "one", later(40))
        assert not runs.claim(org, on, "run_x", "one", later(30))
    with store.writing(later(41)) as on:
        assert (org, run) in runs.unfinished(on, later(41))
        assert runs.claim(org, on, run, "two", later(90))
        kept = runs.RUNS.need(org, on, run).value
    assert (kept.status, kept.started_at) == ("running", NOW)


def test_a_run_ends_once(store: Store, org: Org) -> None:
    """What a run ended as stays; it is neither claimed nor waiting any more."""
    run = plan(store, org)
    with store.writing(later(5)) as on:
        runs.end(org, on, run, "cancelled", {"passed": 1})
        kept = runs.end(org, on, run, "finished", None)
        assert (kept.value.status, kept.value.summary, kept.value.finished_at) == ("cancelled", {"passed": 1}, later(5))
        assert not runs.claim(org, on, run, "one", later(30))
        assert (org, run) not in runs.unfinished(on, later(100))
        with pytest.raises(UsageError, match="a run ends as one of finished, cancelled, failed, not as `running`"):
            runs.end(org, on, run, "running", None)
        with pytest.raises(UnknownRowError, match="there is no run `run_x`"):
            runs.end(org, on, "run_x", "finished", None)


def test_an_attempt_is_recorded_at_most_once(store: Store, org: Org) -> None:
    """The second time changes nothing and says so; a test that the run has not is refused."""
    run = plan(store, org, tests=1)
    with store.writing(NOW) as on:
        assert attempts.record(org, on, run, ended(0, outcome="fail"), (Cell(verdict="v", status="fail"),))
        assert not attempts.record(org, on, run, ended(0, outcome="pass"), (Cell(verdict="v", status="pass"),))
        assert attempts.get(org, on, run, 0) == ended(0, outcome="fail")
        assert results.columns(org, on, run) == [results.Column(verdict="v", counts={"fail": 1})]
    with pytest.raises(UnknownRowError, match="the attempt refers to something"), store.writing(NOW) as on:
        attempts.record(org, on, run, ended(1))


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, 10**30])
def test_a_number_that_fits_nowhere_is_refused(store: Store, org: Org, number: int) -> None:
    """A position beyond what columns hold is refused with the limit, and a cursor beyond it is none."""
    with store.reading() as on, pytest.raises(RefusedRowError, match="does not fit into 32 bits"):
        attempts.get(org, on, "run_x", number)
    cursor = base64.urlsafe_b64encode(str(number).encode()).decode().rstrip("=")
    with store.reading() as on, pytest.raises(UsageError, match="expected a cursor"):
        results.page(org, on, "run_x", Wanted(cursor=cursor))


def test_an_attempt_can_be_graded_again(store: Store, org: Org) -> None:
    """What an attempt came to the second time is in the place of the first, with its cells and no others."""
    run = plan(store, org, tests=1)
    with store.writing(NOW) as on:
        attempts.record(org, on, run, ended(0), (Cell(verdict="old", status="pass"), Cell(verdict="v", status="pass")))
        attempts.regrade(org, on, run, ended(0, outcome="fail"), (Cell(verdict="v", status="fail"),))
        assert attempts.get(org, on, run, 0) == ended(0, outcome="fail")
        assert results.columns(org, on, run) == [results.Column(verdict="v", counts={"fail": 1})]
        with pytest.raises(UnknownRowError, match="has no attempt 2 at test 0"):
            attempts.regrade(org, on, run, ended(0, number=2))


def test_what_a_run_lacks_is_known(store: Store, org: Org) -> None:
    """Missing are the attempts that were planned and not made, but for tests that are settled before."""
    run = plan(store, org, tests=4, attempts=3)
    with store.writing(NOW) as on:
        for position, number in ((0, 1), (0, 3), (1, 1), (1, 2), (1, 3), (2, 1)):
            attempts.record(org, on, run, ended(position, number))
        results.settle(org, on, run, 2, "fail", "settled early")
        assert runs.missing(org, on, run) == [
            Missing(position=0, planned=3, made=(1, 3)),
            Missing(position=3, planned=3, made=()),
        ]
        assert [attempt.number for attempt in attempts.of_test(org, on, run, 0)] == [1, 3]
        assert [(attempt.position, attempt.number) for attempt in attempts.of_run(org, on, run)] == [
            (0, 1),
            (0, 3),
            (1, 1),
            (1, 2),
            (1, 3),
            (2, 1),
        ]


def test_results_are_settled(store: Store, org: Org) -> None:
    """What a test came to is written, also again; outcomes are counted, those without one too."""
    run = plan(store, org, tests=3)
    with store.writing(NOW) as on:
        results.settle(org, on, run, 0, "error")
        results.settle(org, on, run, 0, "pass", "", {"passed": 1})
        results.settle(org, on, run, 1, "fail", "wrong tool")
        assert results.outcomes(org, on, run) == {"pass": 1, "fail": 1, None: 1}
        settled = results.get(org, on, run, 0)
        assert settled is not None
        assert (settled.outcome, settled.statistics) == ("pass", {"passed": 1})
        with pytest.raises(UnknownRowError, match="has no test 9"):
            results.settle(org, on, run, 9, "pass")


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        (Filter(), "abcd"),
        (Filter(outcome="fail"), "bc"),
        (Filter(verdict="budget", status="fail"), "cd"),
        (Filter(verdict="budget"), "bcd"),
        (Filter(status="error"), "b"),
        (Filter(outcome="fail", verdict="budget", status="fail"), "c"),
        (Filter(verdict="nothing"), ""),
    ],
)
def test_the_grid_can_be_filtered(store: Store, org: Org, only: Filter, expected: str) -> None:
    """Rows are those of an outcome, and those in which a verdict has a status; a test with no cells is a row too."""
    run = plan(store, org, tests=4)
    with store.writing(NOW) as on:
        cells = {1: ("pass", "error"), 2: ("pass", "fail"), 3: ("pass", "fail")}
        for position, (calls, budget) in cells.items():
            made = (Cell(verdict="calls", status=calls), Cell(verdict="budget", status=budget, score=0.5))
            attempts.record(org, on, run, ended(position), made)
        for position, outcome in enumerate(("inconclusive", "fail", "fail", "pass")):
            results.settle(org, on, run, position, outcome)
        rows = [row for wanted in pages_of(org, on, run, only) for row in wanted]
    assert "".join(row.result.name for row in rows) == expected
    shown = {row.result.position: row.cells for row in rows if row.cells}
    for position, by_number in shown.items():
        assert {cell.verdict: cell.status for cell in by_number[1]} == dict(
            zip(("calls", "budget"), cells[position], strict=True)
        )


def pages_of(org: Org, on: Any, run: str, only: Filter) -> list[tuple[results.GridRow, ...]]:
    """All pages of the grid, of three rows each."""
    pages = [results.grid(org, on, run, Wanted(limit=3), only)]
    while pages[-1].next is not None:
        pages.append(results.grid(org, on, run, Wanted(limit=3, cursor=pages[-1].next), only))
    return [page.rows for page in pages]


def test_the_grid_is_found_by_indexes(store: Store, org: Org) -> None:
    """No query of the grid looks through a whole table or sorts what it found, so that runs may be large."""
    if store.engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL plans by what it has counted, and small tables are read whole")
    run = plan(store, org)
    asked: list[tuple[str, Any]] = []
    with store.reading() as on:
        event.listen(on.connection, "before_cursor_execute", lambda *told: asked.append(told[2:4]))
        results.grid(org, on, run, Wanted())
        results.page(org, on, run, Wanted(), Filter(outcome="fail"))
        results.page(org, on, run, Wanted(), Filter(verdict="budget", status="fail"))
        results.columns(org, on, run)
        results.outcomes(org, on, run)
        queries = [query for query in asked if query[0].startswith("SELECT")]
        plans = [on.connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", given).all() for text, given in queries]
    steps = [str(step[3]) for plan in plans for step in plan]
    assert len(queries) == 6
    assert [step for step in steps if step.startswith("SCAN") or "TEMP B-TREE" in step] == []
