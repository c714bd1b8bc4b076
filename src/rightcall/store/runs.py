"""Runs: what is to be tried, and whether it has been.

A run is planned with its tests as they are then. Its attempts are recorded one by one as they end (`attempts`), so that
what is missing after a restart is known, and nothing is recorded twice. One worker at a time carries a run out: it
claims the run for a while, and again before the while is over.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, Final, Literal, get_args

import msgspec
from sqlalchemy import ColumnElement, func, insert, literal, or_, select, update

from rightcall.errors import UsageError
from rightcall.store import counters, schema
from rightcall.store.columns import Moment
from rightcall.store.engine import Org, Snapshot, Transaction
from rightcall.store.rows import Aggregate, Kept, pointing

Status = Literal["planned", "running", "finished", "cancelled", "failed"]
"""Of a run: `failed` is one that could not be carried out, not one whose tests failed."""

ENDED: Final = ("finished", "cancelled", "failed")

_TABLE: Final = schema.runs


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run. `number` counts the runs of the organization, `source` says which interface it came by.

    `content` is what it is made with, and `summary` what it came to, both as JSON.
    """

    number: int = 0
    alias: str | None = None
    source: str = "native"
    status: Status = "planned"
    test_set_id: str | None = None
    endpoint_id: str | None = None
    content: dict[str, Any] = {}
    summary: dict[str, Any] | None = None
    started_at: datetime.datetime | None = None
    finished_at: datetime.datetime | None = None


class Planned(msgspec.Struct, frozen=True, kw_only=True):
    """A test of a run, as it is when the run is planned, and how many attempts are to be made at it."""

    test_id: str
    name: str
    test: dict[str, Any]
    attempts: int = 1


class Missing(msgspec.Struct, frozen=True, kw_only=True):
    """A test of a run that has fewer attempts than were planned, and the numbers of those it has."""

    position: int
    planned: int
    made: tuple[int, ...]


RUNS: Final = Aggregate(_TABLE, Run, "run", "run")


def plan(org: Org, on: Transaction, run: Run, tests: Sequence[Planned]) -> Kept[Run]:
    """Keep a run with its tests, in their order; it is given its number. `ConflictError` if the alias is taken."""
    (number,) = counters.take(org, on, "runs")
    kept = RUNS.create(org, on, msgspec.structs.replace(run, number=number))
    rows = [_planned(org, kept.id, position, test) for position, test in enumerate(tests)]
    if rows:
        with pointing("test of the run"):
            on.connection.execute(insert(schema.results), rows)
    return kept


def _planned(org: Org, run: str, position: int, test: Planned) -> dict[str, Any]:
    told = {"test_id": test.test_id, "name": test.name, "test": test.test, "planned": test.attempts}
    return {"organization_id": org, "run_id": run, "position": position, "reason": "", **told}


def unfinished(on: Snapshot, now: datetime.datetime) -> list[tuple[Org, str]]:
    """The runs of all organizations that have not ended and that nobody has claimed, the oldest first."""
    query = select(_TABLE.c.organization_id, _TABLE.c.id)
    open_ = (_TABLE.c.status.in_(("planned", "running")), _is_free(now))
    return [(Org(org), run) for org, run in on.connection.execute(query.where(*open_).order_by(_TABLE.c.id))]


def claim(org: Org, on: Transaction, run: str, worker: str, until: datetime.datetime) -> bool:
    """Whether the worker may carry out the run until then: nobody else has claimed it, and it has not ended."""
    mine = or_(_is_free(on.now), _TABLE.c.worker == worker)
    query = update(_TABLE).where(*_owned(org, run), _TABLE.c.status.not_in(ENDED), mine)
    started = func.coalesce(_TABLE.c.started_at, literal(on.now, Moment))
    changes = {"worker": worker, "claimed_until": until, "status": "running", "started_at": started}
    return bool(on.connection.execute(query.values(**changes)).rowcount)


def end(org: Org, on: Transaction, run: str, status: Status, summary: dict[str, Any] | None) -> Kept[Run]:
    """Let a run have ended, for the first reason that is given. `UnknownRowError` if there is none."""
    if status not in ENDED:
        raise UsageError(f"a run ends as one of {', '.join(get_args(Status)[2:])}, not as `{status}`")
    on.connection.execute(select(_TABLE.c.id).where(*_owned(org, run)).with_for_update())
    kept = RUNS.need(org, on, run)
    if kept.value.status in ENDED:
        return kept
    value = msgspec.structs.replace(kept.value, status=status, summary=summary, finished_at=on.now)
    return RUNS.update(org, on, run, value)


def _owned(org: Org, run: str) -> tuple[ColumnElement[bool], ...]:
    return _TABLE.c.organization_id == org, _TABLE.c.id == run


def _is_free(now: datetime.datetime) -> ColumnElement[bool]:
    return or_(_TABLE.c.claimed_until.is_(None), _TABLE.c.claimed_until < now)


def missing(org: Org, on: Snapshot, run: str) -> list[Missing]:
    """The tests that have fewer attempts than were planned, in their order."""
    results, attempts = schema.results, schema.attempts
    query = select(results.c.position, results.c.planned).where(
        results.c.organization_id == org, results.c.run_id == run, results.c.outcome.is_(None)
    )
    made: dict[int, list[int]] = {}
    numbers = select(attempts.c.position, attempts.c.number).where(
        attempts.c.organization_id == org, attempts.c.run_id == run
    )
    for position, number in on.connection.execute(numbers):
        made.setdefault(position, []).append(number)
    waiting = on.connection.execute(query.order_by(results.c.position))
    found = (Missing(position=at, planned=planned, made=tuple(sorted(made.get(at, ())))) for at, planned in waiting)
    return [one for one in found if len(one.made) < one.planned]
