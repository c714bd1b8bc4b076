"""Attempts: each is one row, written when it ends, with a cell for each of its verdicts."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Select, Table, delete, insert, select, update

from rightcall.errors import UnknownRowError
from rightcall.store import schema
from rightcall.store.engine import Org, Snapshot, Transaction
from rightcall.store.rows import columns_of, pointing
from rightcall.store.upserting import insert_new

_TABLE: Final = schema.attempts

AT_ONCE: Final = 100
"""Attempts of a run that are in memory at once while all are read."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that has ended.

    `record` is everything that reports tell of it, verdicts included, as JSON; `trajectory` the trajectory as a line of
    the native format, by which it can be graded again. `position` is that of the test in its run and counts from 0,
    `number` counts from 1.
    """

    position: int
    number: int = 1
    outcome: str
    finished_at: datetime.datetime
    started_at: datetime.datetime | None = None
    trace_id: str | None = None
    record: dict[str, Any] = {}
    trajectory: bytes | None = None


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """What one metric came to in one attempt: `verdict` is the verdict's id (G6), `metric_id` the metric's, if any."""

    verdict: str
    status: str
    severity: str = "block"
    score: float | None = None
    metric_id: str | None = None


def record(org: Org, on: Transaction, run: str, attempt: Attempt, cells: tuple[Cell, ...] = ()) -> bool:
    """Keep an attempt, at most once: `False`, and nothing is changed, if this one of the test is kept already.

    `UnknownRowError` if the run has no such test.
    """
    with pointing("attempt"):
        if not insert_new(on.connection, _TABLE, {"organization_id": org, "run_id": run, **columns_of(attempt)}):
            return False
    _fill(org, on, run, attempt, cells)
    return True


def regrade(org: Org, on: Transaction, run: str, attempt: Attempt, cells: tuple[Cell, ...] = ()) -> None:
    """Keep an attempt in the place of what was kept of it before; `UnknownRowError` if there is none."""
    query = update(_TABLE).where(*_is(_TABLE, org, run, attempt))
    if not on.connection.execute(query.values(columns_of(attempt))).rowcount:
        raise UnknownRowError(f"the run `{run}` has no attempt {attempt.number} at test {attempt.position}")
    on.connection.execute(delete(schema.cells).where(*_is(schema.cells, org, run, attempt)))
    _fill(org, on, run, attempt, cells)


def _is(table: Table, org: Org, run: str, attempt: Attempt) -> tuple[ColumnElement[bool], ...]:
    place = (table.c.position == attempt.position, table.c.number == attempt.number)
    return table.c.organization_id == org, table.c.run_id == run, *place


def _fill(org: Org, on: Transaction, run: str, attempt: Attempt, cells: tuple[Cell, ...]) -> None:
    key = {"organization_id": org, "run_id": run, "position": attempt.position, "number": attempt.number}
    if cells:
        on.connection.execute(insert(schema.cells), [{**key, **columns_of(cell)} for cell in cells])


def get(org: Org, on: Snapshot, run: str, position: int, number: int = 1) -> Attempt | None:
    """Read an attempt; `None` if there is none."""
    query = _select(org, run).where(_TABLE.c.position == position, _TABLE.c.number == number)
    found = on.connection.execute(query).mappings().first()
    return None if found is None else Attempt(**found)


def of_test(org: Org, on: Snapshot, run: str, position: int) -> list[Attempt]:
    """The attempts at one test of a run, in their order."""
    query = _select(org, run).where(_TABLE.c.position == position)
    return [Attempt(**row) for row in on.connection.execute(query).mappings()]


def of_run(org: Org, on: Snapshot, run: str) -> Iterator[Attempt]:
    """All attempts of a run, test by test, read as they are asked for."""
    query = _select(org, run).execution_options(yield_per=AT_ONCE)
    with on.connection.execute(query) as found:
        for row in found.mappings():
            yield Attempt(**row)


def _select(org: Org, run: str) -> Select[Any]:
    columns = (_TABLE.c[name] for name in Attempt.__struct_fields__)
    owned = (_TABLE.c.organization_id == org, _TABLE.c.run_id == run)
    return select(*columns).where(*owned).order_by(_TABLE.c.position, _TABLE.c.number)
