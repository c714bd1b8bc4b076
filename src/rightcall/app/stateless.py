"""Grading what is handed in, with nothing kept and nothing read besides: no file, no code, no judge."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import Any, Final, Literal

from rightcall.app import checking, gates, loading, matching
from rightcall.app.allowance import Allowance
from rightcall.app.matching import Notes, Reading
from rightcall.app.reading import How, trace_reader
from rightcall.app.reporting import head_of, report
from rightcall.app.sinks import Sink
from rightcall.app.spool import Spools
from rightcall.core.assertion import RegexEngine
from rightcall.core.results import Result
from rightcall.errors import RightcallError, TestSetError, TraceError, UsageError, Where
from rightcall.reports.json import JSONReport
from rightcall.testsets import CompiledTest, TestSet

FILE: Final = "trace"
"""How results name where the trajectories came from."""

Part = Literal["trace", "trajectory", "expectations", "test_set"]


class GradeData(How, frozen=True, kw_only=True):
    """What to grade: the bytes of a trace file, for a test set or for the expectations of one test.

    `expectations` are keys of a test, and each trajectory is graded for them; of a `test_set`, which is the JSON value
    of a file, each is graded for the test that it belongs to. One of the two is given.
    """

    trace: bytes
    part: Part = "trace"
    expectations: dict[str, Any] | None = None
    test_set: dict[str, Any] | None = None
    dialect: str | None = None


class PartError(Exception):
    """A part of what was handed in cannot be used."""

    def __init__(self, part: Part, error: RightcallError) -> None:
        super().__init__(str(error))
        self.part: Part = part
        self.error = error


def grade(data: GradeData, allowance: Allowance | None = None) -> bytes:
    """Grade, and return the JSON report: the very document that `rightcall grade --json` prints.

    What takes longer than is allowed is an `error` in the report, or is refused. Raises `PartError` for what cannot be
    used at all, `UsageError` for a way of reading that there is not.
    """
    allowed = allowance or Allowance()
    read = trace_reader(data)
    sets, tests, pair = _tests(data, allowed)
    gate = gates.strictest(test_set.gate for test_set in sets)
    written = _Kept()
    notes = Notes()
    notes.warnings.extend(loading.warnings_of(sets))
    with Spools() as keep:
        items = read([data.trace], FILE, keep, None)
        with _part(data.part):
            results = pair(map(Reading, allowed.within(items), repeat(FILE)), tests, notes)
            report(head_of(sets, ["test_set"] * len(sets), gate), results, [Sink(JSONReport(), lambda: written)], notes)
    return written.whole()


_Pair = Callable[[Iterator[Reading], Sequence[CompiledTest], Notes], Iterator[Result]]


def _tests(data: GradeData, regex: RegexEngine) -> tuple[list[TestSet], tuple[CompiledTest, ...], _Pair]:
    """What is expected, ready to check, and how trajectories are paired with it."""
    if data.expectations is not None and data.test_set is None:
        with _part("expectations"):
            return [], (checking.single(data.expectations, data.dialect, regex),), matching.each_for_all
    if data.test_set is not None and data.expectations is None:
        with _part("test_set"):
            test_set, tests = checking.whole(data.test_set, data.dialect, regex)
        return [test_set], tests, lambda readings, tests, notes: matching.by_test(readings, tests, None, notes)
    raise UsageError("give what is expected: either `expectations` or `test_set`")


@contextmanager
def _part(part: Part) -> Iterator[None]:
    """Say which part of the data a mistake is in."""
    try:
        yield
    except (TestSetError, TraceError) as error:
        if part != "trace":
            # It came as a value: lines and columns are those of a text that nobody sees.
            error.where = Where(path=error.where.path)
        raise PartError(part, error) from None


class _Kept:
    """A report that is kept in memory."""

    def __init__(self) -> None:
        self._file = io.BytesIO()

    def whole(self) -> bytes:
        """What was written."""
        return self._file.getvalue()

    def write(self, data: bytes) -> None:
        """Keep some bytes."""
        self._file.write(data)

    def finish(self) -> None:
        """Nothing is left to do."""

    def discard(self) -> None:
        """Forget all."""
        self._file = io.BytesIO()
