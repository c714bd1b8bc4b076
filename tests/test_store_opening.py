"""Opening a database: what is made, what is left alone, and what a program that cannot go on says."""

from __future__ import annotations

import itertools
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.errors import StoreError
from rightcall.store import ids, migrating, organizations, versions
from rightcall.store.engine import Store
from support.databases import NOW, Maker, empty, later


def test_a_new_database_is_made_when_it_is_opened(databases: Maker) -> None:
    """Where there is none, the tables are made; where there are rows, they stay."""
    database = empty(databases)
    for expected in ([], ["acme"]):
        with migrating.open_or_make(database) as store:
            with store.reading() as on:
                assert [one.name for one in organizations.all_of_them(on)] == expected
            if not expected:
                with store.writing(NOW) as on:
                    organizations.create(on, "acme")


def test_programs_that_begin_together_make_one_database(databases: Maker) -> None:
    """Of programs that open a new database at the same time each finds all tables."""
    database = empty(databases)

    def begin(_: int) -> str | None:
        with migrating.open_or_make(database) as store, store.reading() as on:
            return versions.version(on.connection)

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(begin, range(3))) == [versions.known()[-1]] * 3


def test_an_older_database_is_never_changed_by_opening_it(databases: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that finds a database of an older version says how it is brought up to date, and leaves it alone."""
    database = databases()
    monkeypatch.setattr(versions, "known", lambda: ["0001", "9999"])
    with pytest.raises(StoreError, match=r"is of an older version \(0001, this program needs 9999\); keep a copy and"):
        migrating.open_or_make(database)


def test_a_database_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    """Where there is no folder for the file, that is told with its name."""
    file = tmp_path / "nowhere" / "a.db"
    with pytest.raises(StoreError, match=r"a\.db: the database cannot be made: No such file or directory"):
        migrating.open_or_make(str(file))


def test_what_was_committed_is_on_the_disk(store: Store) -> None:
    """SQLite waits for the disk at each commit, and holds rows to what they point at."""
    if store.engine.dialect.name != "sqlite":
        pytest.skip("it is how PostgreSQL is set up by itself")
    with store.reading() as on:
        found = {
            name: on.connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


def test_a_busy_database_says_so_when_all_connections_are_in_use(databases: Maker) -> None:
    """Whoever waits in vain for a connection is told to come back."""
    with migrating.open_store(databases()) as store:
        pool = store.engine.pool
        taken = [pool.connect() for _ in range(40)]
        pool._timeout = 0.01  # type: ignore[attr-defined]  # ten seconds are too long for a test
        with pytest.raises(StoreError, match="all connections are in use; try again later"), store.reading():
            pass
        for connection in taken:
            connection.close()


def test_a_database_that_fails_in_the_middle_says_so(tmp_path: Path) -> None:
    """A table that has gone is told as a fault of the database, not as an error of ours."""
    database = str(tmp_path / "a.db")
    with migrating.open_or_make(database) as store:
        with closing(sqlite3.connect(database)) as other, other:
            other.execute("PRAGMA foreign_keys=OFF")
            other.execute("DROP TABLE organizations")
        with pytest.raises(StoreError, match="the database cannot be used: no such table: organizations"):
            _list(store)


def _list(store: Store) -> None:
    with store.reading() as on:
        organizations.all_of_them(on)


@given(st.lists(st.integers(0, 10**9), unique=True, min_size=2, max_size=5))
def test_ids_sort_as_they_were_made(seconds: list[int]) -> None:
    """Ids are of one length and unique, and sort by time and then by their making."""
    made = [list(itertools.islice(ids.numbers(later(second)), 40)) for second in sorted(seconds)]
    all_of_them = [identity for group in made for identity in group]
    assert all_of_them == sorted(set(all_of_them))
    assert {len(identity) for identity in all_of_them} == {26}
