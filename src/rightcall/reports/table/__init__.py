"""The results as a table: one row a verdict, so that counting, filtering and joining need no nesting.

A result without verdicts, such as one without a trajectory, has one row with nothing in the columns of the verdict.
Columns keep their names, order and types; new ones are added at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

import msgspec

from rightcall.core.jsontext import encode
from rightcall.core.results import Attempt, Result
from rightcall.core.verdicts import Verdict

ColumnType = Literal["text", "integer", "number"]
Cell = str | int | float | None


class Column(msgspec.Struct, frozen=True):
    """A column: its name and the type of its cells. A cell of any type may be empty."""

    name: str
    type: ColumnType


COLUMNS: Final = (
    Column("result", "integer"),
    Column("test", "text"),
    Column("name", "text"),
    Column("place", "text"),
    Column("outcome", "text"),
    Column("reason", "text"),
    Column("attempts", "integer"),
    Column("attempt", "integer"),
    Column("trajectory", "text"),
    Column("trajectory_place", "text"),
    Column("trajectory_hash", "text"),
    Column("attempt_outcome", "text"),
    Column("attempt_reason", "text"),
    Column("calls", "integer"),
    Column("verdict", "text"),
    Column("verdict_name", "text"),
    Column("kind", "text"),
    Column("status", "text"),
    Column("severity", "text"),
    Column("score", "number"),
    Column("precision", "number"),
    Column("recall", "number"),
    Column("code", "text"),
    Column("verdict_reason", "text"),
    Column("findings", "integer"),
    Column("labels", "text"),
)

_OF_ATTEMPT: Final[tuple[Cell, ...]] = (None,) * 7
_OF_VERDICT: Final[tuple[Cell, ...]] = (None,) * 11


def rows(result: Result, number: int) -> Iterator[tuple[Cell, ...]]:
    """The rows of a result, which is the one of that number, from 1; cells in the order of `COLUMNS`."""
    head = (number, result.id, result.name, result.place, str(result.outcome), result.reason, len(result.attempts))
    labels = encode(result.labels).decode("utf-8") if result.labels else None
    for cells in _attempts(result):
        yield (*head, *cells, labels)


def _attempts(result: Result) -> Iterator[tuple[Cell, ...]]:
    if not result.attempts:
        yield (*_OF_ATTEMPT, *_OF_VERDICT)
    for index, attempt in enumerate(result.attempts, 1):
        cells = _attempt(attempt, index)
        yield from ((*cells, *_verdict(verdict)) for verdict in attempt.verdicts)
        if not attempt.verdicts:
            yield (*cells, *_OF_VERDICT)


def _attempt(attempt: Attempt, number: int) -> tuple[Cell, ...]:
    outcome = str(attempt.outcome)
    return (number, attempt.trajectory, attempt.place, attempt.hash, outcome, attempt.reason, attempt.calls)


def _verdict(verdict: Verdict) -> tuple[Cell, ...]:
    findings = verdict.findings
    return (
        verdict.id,
        verdict.name,
        verdict.kind,
        str(verdict.status),
        verdict.severity,
        verdict.score,
        verdict.precision,
        verdict.recall,
        findings[0].code if findings else None,
        verdict.reason,
        len(findings),
    )
