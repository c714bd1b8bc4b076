"""Migrations: the newest tables come of every version, and rows of every version live on.

`tests/store_versions/NNNN.jsonl` holds rows as that version has them, one a line: a new version adds one file.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection, MetaData, func, select

from rightcall.errors import StoreError
from rightcall.store import addresses, engine, migrating, organizations, schema, test_sets, versions
from rightcall.store import tests as test_rows
from rightcall.store.engine import Org
from rightcall.store.pages import Wanted
from support.databases import Maker, empty, new_organization
from support.filling import fill

FOLDER = Path(__file__).parent / "store_versions"


Tables = tuple[Connection, MetaData]


class Line(msgspec.Struct, frozen=True):
    """A row of some version: the table, and the columns; bytes are hexadecimal with `hex:` before."""

    table: str
    row: dict[str, Any]


def lines(version: str) -> list[Line]:
    return [msgspec.json.decode(line, type=Line) for line in (FOLDER / f"{version}.jsonl").read_bytes().splitlines()]


@contextlib.contextmanager
def _tables(database: str, version: str) -> Iterator[Tables]:
    """A database of a version, and its tables as they are found there."""
    made = engine.make_engine(addresses.read(database))
    try:
        with made.begin() as connection:
            migrating.migrate(connection, version)
            found = MetaData()
            found.reflect(connection)
            yield connection, found
    finally:
        made.dispose()


def _columns(row: dict[str, Any]) -> dict[str, Any]:
    return {name: _value(value) for name, value in row.items()}


def _value(value: Any) -> Any:
    return bytes.fromhex(value[4:]) if isinstance(value, str) and value.startswith("hex:") else value


def _count(connection: Connection, name: str) -> int:
    return connection.execute(select(func.count()).select_from(schema.METADATA.tables[name])).scalar_one()


def test_every_version_has_its_rows() -> None:
    """There is a file of rows for each version, with a row of every table that the version has."""
    assert sorted(path.stem for path in FOLDER.iterdir()) == versions.known()
    assert {line.table for line in lines(versions.known()[-1])} == set(schema.METADATA.tables)


def test_versions_are_numbered_without_a_gap() -> None:
    """Versions count from 0001, which is how they are found."""
    assert versions.known() == [f"{number:04}" for number in range(1, len(versions.known()) + 1)]


@pytest.mark.parametrize("version", versions.known())
def test_rows_of_every_version_live_on(databases: Maker, version: str) -> None:
    """A database of a version with rows in every table becomes one of the newest, whole, with all rows."""
    database = empty(databases)
    with _tables(database, version) as (connection, found):
        for line in lines(version):
            connection.execute(found.tables[line.table].insert().values(_columns(line.row)))
    migrating.upgrade(database)
    assert migrating.check(database) == []
    with migrating.open_store(database) as store, store.reading() as on:
        counts = {name: _count(on.connection, name) for name in schema.METADATA.tables}
        assert {line.table for line in lines(version)} <= {name for name, count in counts.items() if count}
        (test,) = test_rows.TESTS.page(Org("org_a"), on, Wanted()).rows
        assert test.value.content == {"input": "Refund order 42", "expected": None, "none": []}


def test_an_upgrade_happens_whole_or_not_at_all(databases: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a migration fails, the database is as it was before."""
    from alembic import op

    database = empty(databases)
    made: list[str] = []

    def create(name: str, *columns: Any, **options: Any) -> Any:
        made.append(name)
        if len(made) == 9:
            raise ZeroDivisionError
        return original(name, *columns, **options)

    original = op.create_table
    monkeypatch.setattr(op, "create_table", create)
    with pytest.raises(ZeroDivisionError):
        migrating.upgrade(database)
    monkeypatch.undo()
    assert migrating.upgrade(database) == (None, versions.known()[-1])
    assert migrating.check(database) == []


def test_a_table_that_is_made_anew_keeps_what_points_at_it(databases: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changing a table to which others point loses none of their rows, though SQLite makes it anew."""
    database = databases()
    with migrating.open_store(database) as store:
        org = new_organization(store)
        made = fill(store, org, "mark")

    def change(connection: Connection) -> None:
        operations = Operations(MigrationContext.configure(connection))
        with operations.batch_alter_table("test_sets") as table:
            table.alter_column("description", nullable=True)

    monkeypatch.setattr(migrating, "migrate", change)
    migrating.upgrade(database)
    with migrating.open_store(database) as store, store.reading() as on:
        assert test_sets.TESTS.all_of(org, on, made.ids["test_set"]) == [made.ids["test"]]


def test_an_upgrade_that_would_break_references_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rows would point at nothing afterwards, the database stays as it was."""
    database = str(tmp_path / "a.db")
    migrating.upgrade(database)
    with migrating.open_store(database) as store:
        org = new_organization(store)
    monkeypatch.setattr(
        migrating, "migrate", lambda connection: connection.exec_driver_sql("DELETE FROM organizations")
    )
    with pytest.raises(
        StoreError, match="cannot be brought up to date, and stays as it was: row 1 of metrics points at"
    ):
        migrating.upgrade(database)
    with migrating.open_store(database) as store, store.reading() as on:
        assert organizations.get(org, on) is not None
