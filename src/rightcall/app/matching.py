"""Which trajectory is graded for which test, and the results in their order.

Trajectories are graded as they come and then dropped. What is kept until the end is one attempt each, since a
later trajectory may be another attempt at the same test: beyond some size in a temporary file, so that memory holds
only ids and numbers. `each_for_all` keeps nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from rightcall.app import ahead, runner
from rightcall.app.attempts import Attempts, Groups, Head
from rightcall.app.spool import Spool
from rightcall.core.calls import Trajectory
from rightcall.core.counting import Count
from rightcall.core.results import Attempt, Result
from rightcall.core.wording import first_and_more
from rightcall.errors import TraceError, UsageError
from rightcall.testsets import EXPECTATION_KEYS, CompiledTest

if TYPE_CHECKING:
    from rightcall.app.reading import Pairing

SHOWN_OWN = 5


class Reading(msgspec.Struct, frozen=True):
    """What was read: a trajectory, or the error that stands for one, and the file it was in."""

    item: Trajectory | TraceError
    file: str

    @property
    def trajectory(self) -> Trajectory:
        """What was read, where it is known to be a trajectory."""
        assert isinstance(self.item, Trajectory)
        return self.item


class Notes(msgspec.Struct):
    """What the report says beside the results; filled while they are made. `counts` are those of the tests."""

    counts: set[Count] = set()
    unused: list[str] = []
    warnings: list[str] = []


Pair = tuple[CompiledTest, Reading]
"""A test and a trajectory that belong together."""

Grade = Callable[[Trajectory, CompiledTest, str], Attempt]
"""Grades one trajectory, of a file, for one test."""

CompileOne = Callable[[Trajectory, str, str], CompiledTest]
"""Makes a test of the expectations that a trajectory carries, given the test's id and the file."""


def by_test(
    readings: Iterable[Reading],
    tests: Sequence[CompiledTest],
    id_key: str | None,
    notes: Notes,
    grade: Grade = runner.attempt,
) -> Iterator[Result]:
    """Grade each trajectory for the test that it belongs to: one result a test, over its attempts.

    It belongs to the test that it names (`test_id`, or what stands at `id_key`), else to the test whose id is
    its own id or its conversation's; one trajectory and one test belong together anyway.
    """
    notes.counts.update(compiled.test.count for compiled in tests)
    with Spool[Attempt](Attempt) as spool:
        attempts = Attempts(spool, (compiled.test.id for compiled in tests))
        table = {compiled.test.id: compiled for compiled in tests}
        pairs = _begun(matched_pairs(readings, table, id_key, notes), tests)
        bad = _grade_by_test(pairs, attempts, grade)
        yield from (runner.result(compiled.test, attempts.of(compiled.test.id)) for compiled in tests)
    yield from map(runner.unread, bad)


def _begun(pairs: Iterable[Pair | TraceError], tests: Sequence[CompiledTest]) -> Iterable[Pair | TraceError]:
    """The same pairs; where judges are asked, those of the next ones are asked meanwhile."""
    return ahead.looking(pairs, _begin) if ahead.asks(tests) else pairs


def _begin(pair: Pair | TraceError) -> None:
    if not isinstance(pair, TraceError):
        ahead.begin(pair[1].trajectory, pair[0])


def _grade_by_test(pairs: Iterable[Pair | TraceError], attempts: Attempts, grade: Grade) -> list[TraceError]:
    """Grade everything and return what could not be read."""
    bad: list[TraceError] = []
    for pair in pairs:
        if isinstance(pair, TraceError):
            _keep_unread(pair, attempts, bad)
        else:
            compiled, reading = pair
            attempts.add(compiled.test.id, grade(reading.trajectory, compiled, reading.file))
    return bad


def pairs(
    readings: Iterable[Reading], table: Mapping[str, CompiledTest], how: Pairing, notes: Notes
) -> Iterator[Pair | TraceError]:
    """Each trajectory with every test, or with the one that it belongs to, as is asked for."""
    if how.apply_all:
        return all_pairs(readings, list(table.values()), notes)
    return matched_pairs(readings, table, how.id_key, notes)


def matched_pairs(
    readings: Iterable[Reading], table: Mapping[str, CompiledTest], id_key: str | None, notes: Notes
) -> Iterator[Pair | TraceError]:
    """Each trajectory with the test that it belongs to (see `by_test`), and each error as it is."""
    carried: list[str] = []
    lonely: Reading | None = None
    count = 0
    for reading in readings:
        item, count = reading.item, count + 1
        if isinstance(item, TraceError):
            yield item
            continue
        if _expects(item):
            carried.append(_shown(item, reading.file))
        named = _named(item, id_key)
        identity = belongs_to(item, id_key, table)
        if identity is not None:
            yield table[identity], reading
        elif count == 1 and len(table) == 1 and named is None:
            lonely = reading
        else:
            notes.unused.append(_unused(item, reading.file, named))
    if lonely is not None:
        yield from _settle_lonely(lonely, count, next(iter(table.values())), notes)
    _note_carried(carried, notes)


def each_for_all(
    readings: Iterable[Reading], tests: Sequence[CompiledTest], notes: Notes, grade: Grade = runner.attempt
) -> Iterator[Result]:
    """Grade every trajectory for every test: each pair is a result of its own."""
    notes.counts.update(compiled.test.count for compiled in tests)
    for pair in _begun(all_pairs(readings, tests, notes), tests):
        if isinstance(pair, TraceError):
            yield runner.unread(pair)
        else:
            compiled, reading = pair
            attempt = grade(reading.trajectory, compiled, reading.file)
            name = f"{compiled.test.id}[{_shown(reading.trajectory, reading.file)}]"
            yield runner.result(compiled.test, (attempt,), name)


def all_pairs(readings: Iterable[Reading], tests: Sequence[CompiledTest], notes: Notes) -> Iterator[Pair | TraceError]:
    """Each trajectory with every test, and each error as it is."""
    carried: list[str] = []
    for reading in readings:
        if isinstance(reading.item, TraceError):
            yield reading.item
            continue
        if _expects(reading.item):
            carried.append(_shown(reading.item, reading.file))
        for compiled in tests:
            yield compiled, reading
    _note_carried(carried, notes)


def by_own_expectations(
    readings: Iterable[Reading],
    compile_one: CompileOne,
    notes: Notes,
    repeats: Mapping[str, int] | None = None,
    grade: Grade = runner.attempt,
) -> Iterator[Result]:
    """Grade each trajectory for the expectations that it carries: one result an id, over its attempts.

    A result comes with the last attempt of its id. `repeats` says how many there are of the ids that occur more
    than once; without it nothing can be told before the end, and every attempt is kept until then.
    `TestSetError` when trajectories of one id carry different expectations, `UsageError` when none carries any.
    """
    bad: list[TraceError] = []
    with Spool[Head](Head) as heads, Spool[Attempt](Attempt) as spool:
        groups = Groups(heads, spool)
        for compiled, reading in _carrying(readings, compile_one, bad, notes):
            trajectory, file, identity = reading.trajectory, reading.file, compiled.test.id
            attempt = grade(trajectory, compiled, file)
            if repeats is not None and identity not in repeats:
                yield runner.result(compiled.test, (attempt,))
            elif groups.add(compiled, trajectory.expectations, attempt, file) == (repeats or {}).get(identity):
                yield runner.result(*groups.take(identity))
        yield from (runner.result(*groups.take(identity)) for identity in list(groups.ids))
    yield from map(runner.unread, bad)


def _carrying(
    readings: Iterable[Reading], compile_one: CompileOne, bad: list[TraceError], notes: Notes
) -> Iterator[tuple[CompiledTest, Reading]]:
    """The trajectories that carry expectations, with these compiled; what cannot be read goes to `bad`."""
    carrying = 0
    for number, reading in enumerate(readings, 1):
        item = reading.item
        if isinstance(item, TraceError):
            bad.append(item)
        elif not _expects(item):
            notes.unused.append(_shown(item, reading.file))
        else:
            carrying += 1
            compiled = compile_one(item, item.id or f"{reading.file}[{number}]", reading.file)
            notes.counts.add(compiled.test.count)
            yield compiled, reading
    if notes.unused and not carrying:
        raise UsageError("there is nothing to grade: no trajectory carries expectations; name a test set with --tests")


def _keep_unread(error: TraceError, attempts: Attempts, bad: list[TraceError]) -> None:
    """An unreadable record is an attempt at the test that its id names, else a result of its own."""
    if error.record_id is not None and error.record_id in attempts:
        attempts.add(error.record_id, runner.unread_attempt(error))
    else:
        bad.append(error)


def _expects(trajectory: Trajectory) -> bool:
    """Tell whether the record says what it expects, and does not only name or label a test."""
    return not EXPECTATION_KEYS.isdisjoint(trajectory.expectations)


def _named(trajectory: Trajectory, id_key: str | None) -> str | None:
    """Return the test that a trajectory names."""
    if id_key is None:
        return trajectory.test_id
    value = trajectory.metadata.get(id_key)
    is_name = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value) if is_name else trajectory.test_id


def names_of(trajectory: Trajectory, id_key: str | None) -> list[str]:
    """Return the ids of tests that a trajectory could be for: that of the test that it names, else its own two."""
    named = _named(trajectory, id_key)
    names = (trajectory.id, trajectory.conversation_id) if named is None else (named,)
    return [name for name in names if name is not None]


def belongs_to(trajectory: Trajectory, id_key: str | None, ids: Container[str]) -> str | None:
    """Return the one of these tests that a trajectory is for, if it is for one."""
    return next((name for name in names_of(trajectory, id_key) if name in ids), None)


def _settle_lonely(reading: Reading, count: int, compiled: CompiledTest, notes: Notes) -> Iterator[Pair]:
    item = reading.trajectory
    if count == 1:
        yield compiled, reading
        if (item.id or item.conversation_id) and not compiled.test.positional:
            shown = _shown(item, reading.file)
            notes.warnings.append(f"`{shown}` was graded for `{compiled.test.id}`: there is one of each, of other ids")
    else:
        notes.unused.insert(0, _unused(item, reading.file, None))


def _unused(trajectory: Trajectory, file: str, named: str | None) -> str:
    shown = _shown(trajectory, file)
    return shown if named is None else f"{shown} (names the test `{named}`, which there is not)"


def _shown(trajectory: Trajectory, file: str) -> str:
    return trajectory.id or trajectory.conversation_id or file


def _note_carried(carried: Sequence[str], notes: Notes) -> None:
    if names := list(dict.fromkeys(carried)):
        shown = first_and_more(names, SHOWN_OWN)
        notes.warnings.append(f"unused, since a test set is given: the expectations of {shown}")
