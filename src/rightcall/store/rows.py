"""What rows of most aggregates have in common: made, read, listed, changed and deleted by one organization.

An aggregate is a table and a frozen struct whose fields are the table's columns but for the id, the version and the
times, which come with it (`Kept`).
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

import msgspec
from sqlalchemy import ColumnElement, Delete, RowMapping, Select, Table, Update, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from rightcall.errors import ChangedRowError, ConflictError, UnknownRowError
from rightcall.store.engine import Org, Snapshot, Transaction
from rightcall.store.pages import Page, Wanted, after, page_of

V = TypeVar("V", bound=msgspec.Struct)
"""The value of a row."""

_HISTORY: Final = ("id", "version", "created_at", "updated_at")

_UNIQUE: Final = frozenset({"SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY", "23505"})
_FOREIGN: Final = frozenset({"SQLITE_CONSTRAINT_FOREIGNKEY", "23503"})


class Kept(msgspec.Struct, Generic[V], frozen=True, kw_only=True):
    """A row: its value, and what is known of it. `version` counts from 1 and grows with each change."""

    id: str
    version: int
    created_at: datetime.datetime
    updated_at: datetime.datetime
    value: V


class Aggregate(Generic[V]):
    """The rows of one table. `word` names one of them to people, `prefix` begins its ids."""

    def __init__(self, table: Table, value: type[V], prefix: str, word: str) -> None:
        self.table = table
        self.value = value
        self.prefix = prefix
        self.word = word
        self._columns = [table.c[name] for name in (*_HISTORY, *value.__struct_fields__)]

    def create(self, org: Org, on: Transaction, value: V) -> Kept[V]:
        """Keep a new row. `UnknownRowError` if it points at a row that is not there, `ConflictError` for a twin."""
        (kept,) = self.create_all(org, on, [value])
        return kept

    def create_all(self, org: Org, on: Transaction, values: Sequence[V]) -> list[Kept[V]]:
        """Keep new rows, which are listed in this order."""
        made = [
            Kept(id=on.new_id(self.prefix), version=1, created_at=on.now, updated_at=on.now, value=value)
            for value in values
        ]
        if made:
            with pointing(self.word):
                on.connection.execute(insert(self.table), [{"organization_id": org, **_columns(kept)} for kept in made])
        return made

    def get(self, org: Org, on: Snapshot, identity: str) -> Kept[V] | None:
        """Read a row; `None` if this organization has no such row."""
        found = on.connection.execute(self._select(org).where(self.table.c.id == identity)).mappings().first()
        return None if found is None else self._kept(found)

    def need(self, org: Org, on: Snapshot, identity: str) -> Kept[V]:
        """Read a row; `UnknownRowError` if this organization has no such row."""
        kept = self.get(org, on, identity)
        if kept is None:
            raise self.unknown(identity)
        return kept

    def page(self, org: Org, on: Snapshot, wanted: Wanted, **equal: str) -> Page[Kept[V]]:
        """Read rows in the order of their making, those whose columns are equal to what is given."""
        query = after(self._select(org).where(*self._where(equal)), wanted, self.table.c.id)
        found = on.connection.execute(query).mappings()
        return page_of([self._kept(row) for row in found], wanted, lambda kept: kept.id)

    def count(self, org: Org, on: Snapshot, **equal: str) -> int:
        """How many rows there are whose columns are equal to what is given."""
        query = select(func.count()).select_from(self.table).where(self._owned(org), *self._where(equal))
        return on.connection.execute(query).scalar_one()

    def update(self, org: Org, on: Transaction, identity: str, value: V, version: int | None = None) -> Kept[V]:
        """Change a row, if it still has the version: `ChangedRowError` if it has another, `UnknownRowError` if none."""
        columns = {**columns_of(value), "version": self.table.c.version + 1, "updated_at": on.now}
        query = self._one(update(self.table).values(columns), org, identity, version)
        with pointing(self.word):
            found = on.connection.execute(query.returning(*self._columns)).mappings().first()
        if found is None:
            raise self._missed(org, on, identity)
        return self._kept(found)

    def delete(self, org: Org, on: Transaction, identity: str, version: int | None = None) -> None:
        """Delete a row, if it still has the version; `ConflictError` if other rows still need it."""
        query = self._one(delete(self.table), org, identity, version)
        with needed(self.word):
            changed = on.connection.execute(query).rowcount
        if not changed:
            raise self._missed(org, on, identity)

    def unknown(self, identity: str) -> UnknownRowError:
        """Tell that there is no such row."""
        return UnknownRowError(f"there is no {self.word} `{identity}`")

    def _select(self, org: Org) -> Select[Any]:
        return select(*self._columns).where(self._owned(org))

    def _owned(self, org: Org) -> ColumnElement[bool]:
        return self.table.c.organization_id == org

    def _where(self, equal: Mapping[str, str]) -> Iterator[ColumnElement[bool]]:
        return (self.table.c[name] == value for name, value in equal.items())

    def _one(self, query: _Q, org: Org, identity: str, version: int | None) -> _Q:
        query = query.where(self._owned(org), self.table.c.id == identity)
        return query if version is None else query.where(self.table.c.version == version)

    def _missed(self, org: Org, on: Snapshot, identity: str) -> Exception:
        kept = self.get(org, on, identity)
        if kept is None:
            return self.unknown(identity)
        return ChangedRowError(
            f"the {self.word} `{identity}` has changed and is version {kept.version} now; read it again"
        )

    def _kept(self, row: RowMapping) -> Kept[V]:
        history = {name: row[name] for name in _HISTORY}
        return Kept(**history, value=self.value(**{name: row[name] for name in self.value.__struct_fields__}))


_Q = TypeVar("_Q", Update, Delete)


def columns_of(value: msgspec.Struct) -> dict[str, Any]:
    """The fields of a struct, which are columns of the same names."""
    return {name: getattr(value, name) for name in value.__struct_fields__}


def _columns(kept: Kept[Any]) -> dict[str, Any]:
    return {**{name: getattr(kept, name) for name in _HISTORY}, **columns_of(kept.value)}


@contextlib.contextmanager
def pointing(word: str) -> Iterator[None]:
    """Tell what stands in the way of a row that is written."""
    try:
        yield
    except IntegrityError as error:
        if _broken(error) & _UNIQUE:
            raise ConflictError(f"another {word} has this name already") from None
        if _broken(error) & _FOREIGN:
            raise UnknownRowError(f"the {word} refers to something that is not there") from None
        raise


@contextlib.contextmanager
def needed(word: str) -> Iterator[None]:
    """Tell that a row is still needed by others where it cannot be deleted."""
    try:
        yield
    except IntegrityError as error:
        if _broken(error) & _FOREIGN:
            raise ConflictError(f"the {word} is still in use; change or delete what refers to it first") from None
        raise


def _broken(error: IntegrityError) -> set[str]:
    return {getattr(error.orig, "sqlite_errorname", ""), getattr(error.orig, "sqlstate", None) or ""}
