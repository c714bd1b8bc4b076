"""Which trajectory is graded for which test, and the results in their order.

Trajectories are graded as they come and then dropped. What is kept until the end is one attempt each, since a
later trajectory may be another attempt at the same test: beyond some size in a temporary file, so that memory holds
only ids and numbers. `each_for_all` keeps nothing.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from rightcall.app import runner
from rightcall.app.spool import Spool
from rightcall.core import jsontext
from rightcall.core.calls import Trajectory
from rightcall.core.counting import Count
from rightcall.core.results import Attempt, Result
from rightcall.core.values import equal
from rightcall.errors import TestSetError, TraceError, UsageError, Where
from rightcall.testsets import EXPECTATION_KEYS, CompiledTest, Test

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

CompileOne = Callable[[Trajectory, str, str], CompiledTest]
"""Makes a test of the expectations that a trajectory carries, given the test's id and the file."""


def by_test(
    readings: Iterable[Reading], tests: Sequence[CompiledTest], id_key: str | None, notes: Notes
) -> Iterator[Result]:
    """Grade each trajectory for the test that it belongs to: one result a test, over its attempts.

    It belongs to the test that it names (`test_id`, or what stands at `id_key`), else to the test whose id is
    its own id or its conversation's; one trajectory and one test belong together anyway.
    """
    notes.counts.update(compiled.test.count for compiled in tests)
    with Spool[Attempt](Attempt) as spool:
        attempts = _Attempts(spool, (compiled.test.id for compiled in tests))
        bad = _grade_by_test(readings, {compiled.test.id: compiled for compiled in tests}, id_key, attempts, notes)
        yield from (runner.result(compiled.test, attempts.of(compiled.test.id)) for compiled in tests)
    yield from map(runner.unread, bad)


def _grade_by_test(
    readings: Iterable[Reading],
    table: Mapping[str, CompiledTest],
    id_key: str | None,
    attempts: _Attempts,
    notes: Notes,
) -> list[TraceError]:
    """Grade everything and return what could not be read."""
    bad: list[TraceError] = []
    for pair in matched_pairs(readings, table, id_key, notes):
        if isinstance(pair, TraceError):
            _keep_unread(pair, attempts, bad)
        else:
            compiled, reading = pair
            attempts.add(compiled.test.id, runner.attempt(reading.trajectory, compiled, reading.file))
    return bad


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
        identity = _belongs_to(item, named, table)
        if identity is not None:
            yield table[identity], reading
        elif count == 1 and len(table) == 1 and named is None:
            lonely = reading
        else:
            notes.unused.append(_unused(item, reading.file, named))
    if lonely is not None:
        yield from _settle_lonely(lonely, count, next(iter(table.values())), notes)
    _note_carried(carried, notes)


def each_for_all(readings: Iterable[Reading], tests: Sequence[CompiledTest], notes: Notes) -> Iterator[Result]:
    """Grade every trajectory for every test: each pair is a result of its own."""
    notes.counts.update(compiled.test.count for compiled in tests)
    for pair in all_pairs(readings, tests, notes):
        if isinstance(pair, TraceError):
            yield runner.unread(pair)
        else:
            compiled, reading = pair
            attempt = runner.attempt(reading.trajectory, compiled, reading.file)
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
    readings: Iterable[Reading], compile_one: CompileOne, notes: Notes, repeats: Mapping[str, int] | None = None
) -> Iterator[Result]:
    """Grade each trajectory for the expectations that it carries: one result an id, over its attempts.

    A result comes with the last attempt of its id. `repeats` says how many there are of the ids that occur more
    than once; without it nothing can be told before the end, and every attempt is kept until then.
    `TestSetError` when trajectories of one id carry different expectations, `UsageError` when none carries any.
    """
    bad: list[TraceError] = []
    with Spool[_Head](_Head) as heads, Spool[Attempt](Attempt) as spool:
        groups = _Groups(heads, spool)
        for compiled, reading in _carrying(readings, compile_one, bad, notes):
            identity = compiled.test.id
            if repeats is not None and identity not in repeats:
                yield runner.result(compiled.test, (runner.attempt(reading.trajectory, compiled, reading.file),))
            elif groups.add(compiled, reading.trajectory, reading.file) == (repeats or {}).get(identity):
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


class _Attempts:
    """The attempts at each test, in the order in which they came."""

    def __init__(self, spool: Spool[Attempt], identities: Iterable[str] = ()) -> None:
        self._spool = spool
        self._tickets = {identity: array("q") for identity in identities}

    def __contains__(self, identity: str) -> bool:
        return identity in self._tickets

    def add(self, identity: str, attempt: Attempt) -> int:
        """Keep one more attempt at a test; return how many there are."""
        settled = replace(attempt, alignments=dict(attempt.alignments))
        tickets = self._tickets.setdefault(identity, array("q"))
        tickets.append(self._spool.keep(settled))
        return len(tickets)

    def of(self, identity: str) -> list[Attempt]:
        """Give back the attempts at a test."""
        return [self._spool.fetch(ticket) for ticket in self._tickets[identity]]


_Head = tuple[Test, bytes]
"""A test that a record carries, without its assertions, and what the record expects, as text."""


class _Groups:
    """Tests that records carry, by id, and the attempts at them."""

    def __init__(self, heads: Spool[_Head], attempts: Spool[Attempt]) -> None:
        self.ids: dict[str, int] = {}
        self._heads = heads
        self._attempts = _Attempts(attempts)

    def add(self, compiled: CompiledTest, trajectory: Trajectory, file: str) -> int:
        """Grade one more attempt and return how many there are now.

        `TestSetError` if it expects something else than the ones before it.
        """
        expectations, identity = jsontext.encode(trajectory.expectations), compiled.test.id
        # Taken out and put in again, so that ids stand in the order of their last attempts.
        head = self.ids.pop(identity, None)
        if head is None:
            head = self._heads.keep((replace(compiled.test, assertions=(), places=()), expectations))
        elif not _same(self._heads.fetch(head)[1], expectations):
            raise TestSetError(
                f"the records with id `{identity}` expect different things; attempts at one test must expect the same",
                Where(file=file),
            )
        self.ids[identity] = head
        return self._attempts.add(identity, runner.attempt(trajectory, compiled, file))

    def take(self, identity: str) -> tuple[Test, list[Attempt]]:
        """Give back a test and its attempts, and forget them."""
        return self._heads.fetch(self.ids.pop(identity))[0], self._attempts.of(identity)


def _same(one: bytes, other: bytes) -> bool:
    return one == other or equal(jsontext.decode(one), jsontext.decode(other))


def _keep_unread(error: TraceError, attempts: _Attempts, bad: list[TraceError]) -> None:
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


def _belongs_to(trajectory: Trajectory, named: str | None, table: Mapping[str, CompiledTest]) -> str | None:
    candidates = (trajectory.id, trajectory.conversation_id) if named is None else (named,)
    return next((name for name in candidates if name is not None and name in table), None)


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
        listed = ", ".join(names[:SHOWN_OWN])
        more = f" and {len(names) - SHOWN_OWN} more" if len(names) > SHOWN_OWN else ""
        notes.warnings.append(f"unused, since a test set is given: the expectations of {listed}{more}")
