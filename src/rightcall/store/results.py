"""Results: what the tests of a run came to, and the grid of tests and verdicts.

The grid is read page by page: one range of the tests' index and the cells of those tests, so that the first page of a
large run takes no longer than that of a small one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Select, exists, func, select, update

from rightcall.errors import UnknownRowError
from rightcall.store import schema
from rightcall.store.attempts import Cell
from rightcall.store.engine import Org, Snapshot, Transaction
from rightcall.store.pages import Page, Wanted, after, page_of

_TABLE: Final = schema.results
_CELLS: Final = schema.cells
_SHOWN: Final = [column for column in _TABLE.c if column.name not in ("organization_id", "run_id", "test")]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A test of a run: `outcome` is `None` until enough of its `planned` attempts have ended."""

    position: int
    test_id: str
    name: str
    planned: int
    outcome: str | None = None
    reason: str = ""
    statistics: dict[str, Any] | None = None


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Which results are wanted: those of an outcome, those in which a verdict has a status in any attempt."""

    outcome: str | None = None
    verdict: str | None = None
    status: str | None = None


class GridRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the grid: a test, and its cells by the number of the attempt."""

    result: Result
    cells: dict[int, tuple[Cell, ...]]


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """A column of the grid: a verdict, and how many cells have each status."""

    verdict: str
    counts: dict[str, int]


def settle(
    org: Org,
    on: Transaction,
    run: str,
    position: int,
    outcome: str,
    reason: str = "",
    statistics: dict[str, Any] | None = None,
) -> None:
    """Write what a test came to over its attempts, also again. `UnknownRowError` if the run has no such test."""
    query = update(_TABLE).where(*_owned(org, run), _TABLE.c.position == position)
    changes = {"outcome": outcome, "reason": reason, "statistics": statistics}
    if not on.connection.execute(query.values(**changes)).rowcount:
        raise UnknownRowError(f"the run `{run}` has no test {position}")


def test_of(org: Org, on: Snapshot, run: str, position: int) -> dict[str, Any] | None:
    """A test as it was when the run was planned; `None` if there is none."""
    query = select(_TABLE.c.test).where(*_owned(org, run), _TABLE.c.position == position)
    found: dict[str, Any] | None = on.connection.execute(query).scalar_one_or_none()
    return found


def get(org: Org, on: Snapshot, run: str, position: int) -> Result | None:
    """Read a result; `None` if there is none."""
    query = select(*_SHOWN).where(*_owned(org, run), _TABLE.c.position == position)
    found = on.connection.execute(query).mappings().first()
    return None if found is None else Result(**found)


def page(org: Org, on: Snapshot, run: str, wanted: Wanted, only: Filter | None = None) -> Page[Result]:
    """Results in the order of the run's tests."""
    query = after(_select(org, run, only or Filter()), wanted, _TABLE.c.position, int)
    found = [Result(**row) for row in on.connection.execute(query).mappings()]
    return page_of(found, wanted, lambda result: result.position)


def grid(org: Org, on: Snapshot, run: str, wanted: Wanted, only: Filter | None = None) -> Page[GridRow]:
    """Rows of the grid in the order of the run's tests."""
    results = page(org, on, run, wanted, only)
    cells = _cells(org, on, run, [result.position for result in results.rows])
    rows = (GridRow(result=result, cells=cells.get(result.position, {})) for result in results.rows)
    return Page(rows=tuple(rows), next=results.next)


def columns(org: Org, on: Snapshot, run: str) -> list[Column]:
    """The columns of the grid by their names, with counts of all cells."""
    owned = (_CELLS.c.organization_id == org, _CELLS.c.run_id == run)
    query = select(_CELLS.c.verdict, _CELLS.c.status, func.count()).where(*owned)
    counts: dict[str, dict[str, int]] = {}
    grouped = query.group_by(_CELLS.c.verdict, _CELLS.c.status).order_by(_CELLS.c.verdict, _CELLS.c.status)
    for verdict, status, count in on.connection.execute(grouped):
        counts.setdefault(verdict, {})[status] = count
    return [Column(verdict=verdict, counts=found) for verdict, found in counts.items()]


def outcomes(org: Org, on: Snapshot, run: str) -> dict[str | None, int]:
    """How many results have each outcome; `None` for those that have none yet."""
    query = select(_TABLE.c.outcome, func.count()).where(*_owned(org, run)).group_by(_TABLE.c.outcome)
    return {row[0]: row[1] for row in on.connection.execute(query)}


def _select(org: Org, run: str, only: Filter) -> Select[Any]:
    query = select(*_SHOWN).where(*_owned(org, run))
    if only.outcome is not None:
        query = query.where(_TABLE.c.outcome == only.outcome)
    named = {"verdict": only.verdict, "status": only.status}
    wanted = [_CELLS.c[name] == value for name, value in named.items() if value is not None]
    if not wanted:
        return query
    same = (_CELLS.c.organization_id == org, _CELLS.c.run_id == run, _CELLS.c.position == _TABLE.c.position)
    return query.where(exists().where(*same, *wanted))


def _cells(org: Org, on: Snapshot, run: str, positions: Iterable[int]) -> dict[int, dict[int, tuple[Cell, ...]]]:
    owned = (_CELLS.c.organization_id == org, _CELLS.c.run_id == run, _CELLS.c.position.in_(positions))
    found: dict[int, dict[int, tuple[Cell, ...]]] = {}
    for row in on.connection.execute(select(_CELLS).where(*owned).order_by(*_CELLS.primary_key)).mappings():
        of_test = found.setdefault(row["position"], {})
        cell = Cell(**{name: row[name] for name in Cell.__struct_fields__})
        of_test[row["number"]] = (*of_test.get(row["number"], ()), cell)
    return found


def _owned(org: Org, run: str) -> tuple[ColumnElement[bool], ...]:
    return _TABLE.c.organization_id == org, _TABLE.c.run_id == run
