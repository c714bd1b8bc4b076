"""The grid: a row for each test with what its verdicts came to, and the columns that all rows together need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from rightcall.core.results import Outcome, Result
from rightcall.core.story import reason
from rightcall.core.values import cut, display
from rightcall.core.verdicts import WORST_FIRST, Severity, Status

FACETS: Final = ("requirement", "category", "topic", "tags")
"""Labels of a test by which results are filtered."""

MOST_COLUMNS: Final = 12
MOST_VALUES: Final = 500
SHOWN_NAME: Final = 200
SHOWN_REASON: Final = 300

Counts = dict[Status, int]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One test. `statuses` say, by verdict name, how often its verdicts came to which status.

    `severities` are those of names that do not block. `anchor` is where the page tells of it, `labels` are numbers of
    values that can be filtered by.
    """

    anchor: str
    id: str
    name: str
    outcome: Outcome
    reason: str
    attempts: str
    statuses: Mapping[str, Counts]
    severities: Mapping[str, Severity]
    labels: tuple[int, ...]


class Cell(msgspec.Struct, frozen=True):
    """What stands in a column: words, and the status that weighs most; without any the cell is empty."""

    words: str = ""
    status: Status | None = None


class Labels:
    """Values of labels as numbers, in the order in which they were first seen. Of one label at most `MOST_VALUES`.

    `full` are the labels that have more.
    """

    def __init__(self) -> None:
        self.values: dict[str, dict[str, int]] = {}
        self.full: set[str] = set()
        self._count = 0

    def numbers(self, labels: Mapping[str, Any]) -> tuple[int, ...]:
        """The numbers of what a test is labelled with."""
        return tuple(self._numbers(labels))

    def _numbers(self, labels: Mapping[str, Any]) -> Iterator[int]:
        for facet in FACETS:
            given = labels.get(facet, [])
            for value in given if isinstance(given, list) else [given]:
                known = self.values.setdefault(facet, {})
                text = cut(value, SHOWN_NAME) if isinstance(value, str) else display(value, SHOWN_NAME)
                if text not in known and len(known) < MOST_VALUES:
                    known[text] = self._count
                    self._count += 1
                if text in known:
                    yield known[text]
                else:
                    self.full.add(facet)


def row(result: Result, anchor: str, labels: tuple[int, ...]) -> Row:
    """What the grid shows of a result."""
    return Row(
        anchor=anchor,
        id=cut(result.id, SHOWN_NAME),
        name=cut(result.name, SHOWN_NAME) if result.name != result.id else "",
        outcome=result.outcome,
        reason="" if result.outcome == Outcome.PASS else cut(reason(result), SHOWN_REASON),
        attempts=_attempts(result),
        statuses=_statuses(result),
        severities=_severities(result),
        labels=labels,
    )


def _attempts(result: Result) -> str:
    statistics = result.statistics
    if statistics is None:
        return str(len(result.attempts))
    return f"{statistics.passed} of {len(result.attempts)} passed{', flaky' if statistics.flaky else ''}"


def _severities(result: Result) -> dict[str, Severity]:
    verdicts = [verdict for attempt in result.attempts for verdict in attempt.verdicts]
    blocking = {verdict.name for verdict in verdicts if verdict.severity == "block"}
    return {verdict.name: verdict.severity for verdict in verdicts if verdict.name not in blocking}


def _statuses(result: Result) -> dict[str, Counts]:
    found: dict[str, Counts] = {}
    for attempt in result.attempts:
        for verdict in attempt.verdicts:
            counts = found.setdefault(verdict.name, {})
            counts[verdict.status] = counts.get(verdict.status, 0) + 1
    return found


def columns(rows: Iterable[Row]) -> list[str]:
    """The verdict names that have a column: the most frequent ones, in the order in which they were first seen."""
    seen = Counter(name for row in rows for name in row.statuses)
    kept = {name for name, _ in seen.most_common(MOST_COLUMNS)}
    return [name for name in seen if name in kept]


def cell(row: Row, name: str) -> Cell:
    """What a test's verdicts of one name came to, with their severity where it does not count."""
    shown, severity = _cell(row.statuses.get(name, {})), row.severities.get(name)
    return Cell(f"{shown.words} ({severity})", shown.status) if severity else shown


def other_cell(row: Row, names: Iterable[str]) -> Cell:
    """What its verdicts of all other names came to, together."""
    total = Counter[Status]()
    for name, counts in row.statuses.items():
        if name not in names:
            total.update(counts)
    return _cell(total)


def _cell(counts: Counts) -> Cell:
    met = [status for status in WORST_FIRST if counts.get(status)]
    if not met:
        return Cell()
    if sum(counts.values()) == 1:
        return Cell(met[0].short, met[0])
    return Cell(", ".join(f"{counts[status]}× {status.short}" for status in met), met[0])
