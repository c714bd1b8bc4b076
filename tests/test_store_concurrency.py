"""Many writers at once, and a writer that is killed: nothing twice, nothing lost that was confirmed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any, Final, TypeVar

import pytest

from rightcall.errors import StoreError
from rightcall.store import attempts, counters, engine, idempotency, migrating, runs, spans, test_sets, tests
from rightcall.store.engine import Org, Store, Transaction
from rightcall.store.gathering import Gatherer
from rightcall.store.idempotency import Answer
from rightcall.store.pages import MOST, Wanted
from rightcall.store.requirements import REQUIREMENTS, Requirement
from rightcall.store.runs import Planned, Run
from rightcall.store.test_sets import TEST_SETS, TestSet
from rightcall.store.tests import TESTS, Test
from rightcall.store.traces import TRACES
from support.databases import NOW, Maker, later, new_organization
from support.processes import unmeasured

_T = TypeVar("_T")

WRITERS: Final = 8


def at_once(work: Callable[[int], _T]) -> list[_T]:
    """What work gives in several threads that begin together."""
    start = threading.Barrier(WRITERS)

    def begin(number: int) -> _T:
        start.wait()
        return work(number)

    with ThreadPoolExecutor(WRITERS) as pool:
        return list(pool.map(begin, range(WRITERS)))


def test_numbers_are_given_once(store: Store, org: Org) -> None:
    """Writers that count at the same time are given different numbers, without a gap."""
    taken = at_once(lambda _: store.write(lambda on: list(counters.take(org, on, "x", 3)), NOW))
    assert sorted(chain.from_iterable(taken)) == list(range(1, 3 * WRITERS + 1))


def test_one_worker_wins(store: Store, org: Org) -> None:
    """Of workers that claim a run at the same time one may carry it out."""
    with store.writing(NOW) as on:
        run = runs.plan(org, on, Run(), []).id
    won = at_once(lambda number: store.write(lambda on: runs.claim(org, on, run, f"w{number}", later(60)), NOW))
    assert sorted(won) == [False] * (WRITERS - 1) + [True]


def test_a_run_ends_for_the_first_reason(store: Store, org: Org) -> None:
    """Of ends that come at the same time one counts, and all are told which."""
    with store.writing(NOW) as on:
        run = runs.plan(org, on, Run(), []).id
    ends = at_once(lambda number: store.write(lambda on: runs.end(org, on, run, "finished", {"by": number}), NOW))
    assert len({repr(kept.value.summary) for kept in ends}) == 1


def test_one_attempt_is_recorded(store: Store, org: Org) -> None:
    """Of workers that record the same attempt at the same time one does, and its row stays."""
    with store.writing(NOW) as on:
        run = runs.plan(org, on, Run(), [Planned(test_id="t", name="t", test={})]).id

    def record(number: int) -> bool:
        ended = attempts.Attempt(position=0, outcome=str(number), finished_at=NOW)
        return store.write(lambda on: attempts.record(org, on, run, ended), NOW)

    recorded = at_once(record)
    with store.reading() as seen:
        kept = attempts.get(org, seen, run, 0)
    assert kept is not None
    assert recorded == [str(number) == kept.outcome for number in range(WRITERS)]


def test_one_request_is_carried_out(store: Store, org: Org) -> None:
    """Of equal requests at the same time one is carried out, and all get its answer."""

    def request(_: int) -> Answer:
        def work(on: Transaction) -> Answer:
            def make() -> Answer:
                return Answer(status=201, body=TESTS.create(org, on, Test(name="t", content={})).id.encode())

            return idempotency.once(org, on, "key", "hash", make)

        return store.write(work, NOW)

    answers = at_once(request)
    with store.reading() as on:
        (made,) = TESTS.page(org, on, Wanted()).rows
    assert answers == [Answer(status=201, body=made.id.encode())] * WRITERS


def test_members_have_places_of_their_own(store: Store, org: Org) -> None:
    """Tests that are added at the same time are all added, each in its place."""
    with store.writing(NOW) as on:
        test_set = TEST_SETS.create(org, on, TestSet(name="s")).id
        made = [kept.id for kept in TESTS.create_all(org, on, [Test(name="t", content={})] * WRITERS)]
    at_once(lambda number: store.write(lambda on: test_sets.TESTS.add(org, on, test_set, [made[number]]), NOW))
    with store.reading() as seen:
        assert sorted(test_sets.TESTS.page(org, seen, test_set, Wanted()).rows) == sorted(made)


def test_transactions_that_wait_for_one_another_are_tried_again(store: Store, org: Org) -> None:
    """Writers that change rows in opposite orders, so that they wait for one another, all succeed."""
    with store.writing(NOW) as on:
        first, second = (kept.id for kept in REQUIREMENTS.create_all(org, on, [Requirement(name="0")] * 2))
    both = threading.Barrier(2)

    def change(on: Transaction, order: list[str], is_first_try: list[bool]) -> None:
        for place, identity in enumerate(order):
            REQUIREMENTS.update(org, on, identity, Requirement(name="changed"))
            if place == 0 and is_first_try.pop() and store.engine.dialect.name == "postgresql":
                both.wait()

    with ThreadPoolExecutor(2) as pool:
        orders = [[first, second], [second, first]]
        waiting = [pool.submit(store.write, _with(change, order, [False] * 9 + [True]), NOW) for order in orders]
        for one in waiting:
            one.result()
    with store.reading() as seen:
        assert [REQUIREMENTS.need(org, seen, one).version for one in (first, second)] == [3, 3]


def _with(change: Callable[..., None], *more: Any) -> Callable[[Transaction], None]:
    return lambda on: change(on, *more)


def test_gathered_writes_are_all_made(store: Store, org: Org) -> None:
    """Writes that are gathered are each made once and return what they give; one that fails fails alone."""
    gatherer = Gatherer(store)

    def write(number: int) -> str:
        def work(on: Transaction) -> str:
            spans.take(org, on, "trace", [spans.Span(span_id=str(number), body=b"", ended_at=1)], "otlp")
            if number == 3:
                raise ZeroDivisionError
            return str(number)

        try:
            return gatherer.write(work, NOW)
        except ZeroDivisionError:
            return "failed"

    assert at_once(write) == [str(number) if number != 3 else "failed" for number in range(WRITERS)]
    with store.reading() as on:
        (trace,) = TRACES.page(org, on, Wanted()).rows
        assert {span.span_id for span in spans.of_trace(org, on, trace.id)} == set(map(str, range(WRITERS))) - {"3"}


def test_what_waits_is_committed_together(store: Store, org: Org) -> None:
    """Writes that come while one is being committed share the next transaction."""
    gatherer, times = Gatherer(store), []
    entered, go_on = threading.Event(), threading.Event()

    def hold(on: Transaction) -> None:
        entered.set()
        go_on.wait()

    with ThreadPoolExecutor(WRITERS) as pool:
        first = pool.submit(gatherer.write, hold, NOW)
        entered.wait()
        rest = [pool.submit(gatherer.write, lambda on: times.append(id(on)), NOW) for _ in range(WRITERS - 1)]
        while gatherer.waiting < WRITERS - 1:
            pass
        go_on.set()
        for one in (first, *rest):
            one.result()
    assert len(times) == WRITERS - 1
    assert len(set(times)) == 1


def test_a_writer_that_waits_too_long_says_so(databases: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that others are writing to is told to be busy, in words, after a while."""
    monkeypatch.setattr(engine, "WAITING", 0.05)
    database = databases()
    with migrating.open_store(database) as one, migrating.open_store(database) as other:
        org = new_organization(one)
        with one.writing(NOW) as on:
            TEST_SETS.create(org, on, TestSet(name="s"))
            if one.engine.dialect.name == "sqlite":
                with pytest.raises(StoreError, match="the database cannot be used: database is locked"):
                    other.write(lambda on: None, NOW)
                with ThreadPoolExecutor(1) as pool, pytest.raises(StoreError, match="has been busy with other writers"):
                    pool.submit(one.write, lambda on: None, NOW).result()
            else:
                on.connection.exec_driver_sql("LOCK TABLE test_sets")
                with pytest.raises(StoreError, match="the database cannot be used: canceling statement due to lock"):
                    other.write(lambda on: TEST_SETS.count(org, on), NOW)


WRITER = """
import datetime, sys
from rightcall.store import migrating, tests
from rightcall.store.engine import Org

now = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
with migrating.open_store(sys.argv[1]) as store:
    while True:
        with store.writing(now) as on:
            made = tests.TESTS.create_all(Org(sys.argv[2]), on, [tests.Test(name="t", content={})] * 3)
        print(*(kept.id for kept in made), flush=True)
"""


def test_a_killed_writer_loses_nothing_that_it_confirmed(databases: Maker) -> None:
    """Rows that a program said were kept are there after it was killed, none half, and the database is whole."""
    database = databases()
    with migrating.open_store(database) as store:
        org = new_organization(store)
    confirmed: set[str] = set()
    for turn in range(3):
        confirmed |= _killed_after(database, org, 5 + 7 * turn)
    assert migrating.check(database) == []
    with migrating.open_store(database) as store, store.reading() as on:
        kept = [row.id for row in TESTS.page(org, on, Wanted(limit=MOST)).rows]
    assert confirmed <= set(kept)
    assert len(kept) % 3 == 0


def _killed_after(database: str, org: Org, lines: int) -> set[str]:
    """The ids that a writer told before it was killed."""
    command = [sys.executable, "-c", WRITER, database, org]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=unmeasured()) as writer:
        assert writer.stdout is not None
        told = [writer.stdout.readline() for _ in range(lines)]
        os.kill(writer.pid, signal.SIGKILL)
        told += [line for line in writer.stdout if line.endswith("\n")]
    return {identity for line in told for identity in line.split()}


def test_two_programs_write_to_one_database(databases: Maker) -> None:
    """Programs that write at the same time both go on, and both their rows are kept."""
    database = databases()
    with migrating.open_store(database) as store:
        first, second = new_organization(store), new_organization(store)
    with ThreadPoolExecutor(2) as pool:
        told = list(pool.map(lambda org: _killed_after(database, org, 10), (first, second)))
    with migrating.open_store(database) as store, store.reading() as on:
        for org, confirmed in zip((first, second), told, strict=True):
            assert confirmed <= {row.id for row in TESTS.page(org, on, Wanted(limit=MOST)).rows}


def test_readers_see_one_moment(store: Store, org: Org) -> None:
    """What is committed while somebody reads is not seen before the next reading, and reading never waits."""
    with store.reading() as on:
        assert tests.TESTS.count(org, on) == 0
        with store.writing(NOW) as other:
            TESTS.create(org, other, Test(name="t", content={}))
            assert tests.TESTS.count(org, on) == 0
        assert tests.TESTS.count(org, on) == 0
    with store.reading() as on:
        assert tests.TESTS.count(org, on) == 1
