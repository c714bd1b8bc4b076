"""Runs that were written to a file: the JSON report, or its results as JSON Lines, read result by result."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec

from rightcall.app import files
from rightcall.app.running.journal import RESULTS
from rightcall.app.spool import Spool
from rightcall.core import jsontext
from rightcall.core.comparison.outlines import ResultRow, RunRow
from rightcall.errors import UsageError, Where
from rightcall.reports.json import SCHEMA

if TYPE_CHECKING:
    from rightcall.core.redaction.redactor import Redactor

_OPENING: Final = b'"results":['
_ADVICE: Final = "write one with `rightcall grade … -o run.json`"


class SavedRun(msgspec.Struct, frozen=True):
    """A run that was written: what is known of it as a whole, and its results, read as they are asked for."""

    run: RunRow
    results: Iterator[ResultRow]


def read_run(name: str, redactors: Sequence[Redactor] = ()) -> SavedRun:
    """Open a run: a report, the directory of a run of an agent that has ended, or `-` for the standard input.

    `UsageError`, also while the results are read, if it is none.

    The JSON report has one result a line, so that one of any size is read in little memory; a document that was laid
    out otherwise is read whole. `redactors` look for secrets in each result.
    """
    file = files.shown(name)
    lines = _lines(_results_of(name) if files.is_run(name) else name)
    first = next(lines, (1, b""))[1]
    if first.rstrip().endswith(_OPENING):
        head = _decoded(first + b"]}", file, 1)
        return SavedRun(_run(head, file), _rows(_members(lines, file), file, redactors))
    value, rest = _document(first, lines, file)
    if isinstance(value, dict) and isinstance(value.get("results"), list):
        _check_number(value, len(value["results"]), file)
        members = ((None, member) for member in value["results"])
        return SavedRun(_run(value, file), _rows(members, file, redactors))
    if not isinstance(value, dict) or "attempts" not in value:
        raise UsageError(f"expected a JSON report of a run: {_ADVICE}", Where(file=file))
    return SavedRun(RunRow(name=file, is_complete=False), _rows(chain([(1, value)], rest), file, redactors))


def _results_of(directory: str) -> str:
    path = os.path.join(directory, RESULTS)
    if not os.path.isfile(path):
        advice = "go on with it: rightcall run --resume"
        raise UsageError(f"is a run that has not ended, so there are no results yet; {advice}", Where(file=directory))
    return path


_Numbered = tuple[int | None, Any]
"""A result as it was written, and its line."""


def _document(first: bytes, lines: Iterator[tuple[int, bytes]], file: str) -> tuple[Any, Iterator[_Numbered]]:
    """The value of the first line with those of the others still to come, or else of all lines together."""
    try:
        value = jsontext.decode(first)
    except jsontext.JSONError:
        return _decoded(first + b"".join(line for _, line in lines), file, None), iter(())
    return value, ((number, _decoded(line, file, number)) for number, line in lines if line.strip())


def _members(lines: Iterator[tuple[int, bytes]], file: str) -> Iterator[_Numbered]:
    """The results of a report that has one a line, up to its end, which has to be there."""
    for index, (number, line) in enumerate(lines):
        if line.startswith(b"],"):
            end = _decoded(b"{" + line[2:] + b"".join(more for _, more in lines), file, number)
            _check_number(end, index, file)
            return
        yield number, _decoded(line.rstrip().removesuffix(b","), file, number)
    raise UsageError("is cut off: the end of the report is missing", Where(file=file))


def _check_number(end: dict[str, Any], found: int, file: str) -> None:
    """Refuse a report from which results were taken, or to which some were added, since it was written."""
    counts = end.get("counts")
    total = counts.get("total", found) if isinstance(counts, dict) else found
    if total != found:
        message = f"counts {total} results, and has {found}: somebody has changed it since it was written; {_ADVICE}"
        raise UsageError(message, Where(file=file))


def _lines(name: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers, line ends included."""
    number = 0
    waiting: list[bytes] = []
    for chunk in files.chunks(name):
        waiting.append(chunk)
        if b"\n" in chunk:
            *whole, rest = b"".join(waiting).split(b"\n")
            waiting = [rest]
            for line in whole:
                number += 1
                yield number, line + b"\n"
    if any(waiting):
        yield number + 1, b"".join(waiting)


def _decoded(data: bytes, file: str, line: int | None) -> Any:
    if not data.strip():
        raise UsageError(f"is empty; expected a JSON report of a run: {_ADVICE}", Where(file=file))
    try:
        return jsontext.decode(data)
    except jsontext.JSONError as error:
        message = f"expected a JSON report of a run: {error}; {_ADVICE}"
        at = line if error.line is None or line is not None else error.line
        raise UsageError(message, Where(file=file, line=at)) from None


def _run(head: dict[str, Any], file: str) -> RunRow:
    """What the report says of the run as a whole; `UsageError` if it is of another shape than this version reads."""
    schema, test_set = head.get("schema"), head.get("test_set")
    if schema != SCHEMA or not isinstance(test_set, dict):
        found = "no `schema`" if schema is None else f"`schema` {schema}"
        raise UsageError(f"expected a JSON report with `schema` {SCHEMA}, found {found}: {_ADVICE}", Where(file=file))
    return RunRow(
        name=file,
        product=str(head.get("rightcall", "")),
        rules=str(head.get("rules", "")),
        test_set=str(test_set.get("name", "")),
        test_set_hash=str(test_set.get("hash", "")),
    )


def _rows(members: Iterable[_Numbered], file: str, redactors: Sequence[Redactor]) -> Iterator[ResultRow]:
    for number, (line, member) in enumerate(members):
        try:
            row = msgspec.convert(member, ResultRow)
        except (msgspec.ValidationError, RecursionError) as error:
            where = Where(file=file, line=line, path="" if line else f"results[{number}]")
            raise UsageError(f"expected a result of a JSON report: {error}; {_ADVICE}", where) from None
        yield _noted(row, member, redactors) if redactors else row


def _noted(row: ResultRow, member: Any, redactors: Sequence[Redactor]) -> ResultRow:
    """The result with what is secret anywhere in what was written of it."""
    calls = [call.get("arguments") for attempt in row.attempts for call in attempt.made or ()]
    found = {one.name: tuple(secret for value in (member, *calls) for secret in one.find(value)) for one in redactors}
    return msgspec.structs.replace(row, secrets=found)


class Baseline:
    """The results of a run by their id: those beyond some size in a temporary file, so that memory holds the ids."""

    def __init__(self, saved: SavedRun) -> None:
        self.run = saved.run
        self._spool = Spool[ResultRow](ResultRow)
        self._tickets: dict[str, array[int]] = {}
        try:
            for row in saved.results:
                self._tickets.setdefault(row.id, array("q")).append(self._spool.keep(row))
        except BaseException:
            self.__exit__()
            raise

    def take(self, identity: str) -> ResultRow | None:
        """Give the first result of this id that has not been given yet."""
        tickets = self._tickets.get(identity)
        return self._spool.fetch(tickets.pop(0)) if tickets else None

    def rest(self) -> Iterator[ResultRow]:
        """Give all others."""
        for identity, tickets in self._tickets.items():
            for _ in range(len(tickets)):
                yield self._spool.fetch(self._tickets[identity].pop(0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._spool.__exit__()
