"""Databases for tests, each with the newest tables and no rows: copies of one that was migrated."""

from __future__ import annotations

import datetime
import itertools
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rightcall.store import migrating, organizations
from rightcall.store.engine import Org, Store
from support import postgres

KINDS: Final = ("sqlite", "postgresql")

NOW: Final = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)

Maker = Callable[[], str]
"""Makes a database and returns what opens it."""


_NAMES: Final = itertools.count()


def new_organization(store: Store) -> Org:
    """An organization that nothing belongs to yet."""
    with store.writing(NOW) as on:
        return organizations.create(on, f"organization {next(_NAMES)}").id


def later(seconds: float) -> datetime.datetime:
    """Some time after `NOW`."""
    return NOW + datetime.timedelta(seconds=seconds)


def sqlite(folder: Path) -> Maker:
    """Make files in a folder."""
    numbers = itertools.count()
    template = folder / "template.db"
    migrating.upgrade(str(template))

    def make() -> str:
        return str(shutil.copy(template, folder / f"{next(numbers)}.db"))

    return make


@contextmanager
def postgresql() -> Iterator[Maker]:
    """Make databases in a cluster."""
    with postgres.cluster() as url:
        numbers = itertools.count()
        postgres.execute(url, "CREATE DATABASE migrated")
        migrating.upgrade(_named(url, "migrated"))

        def make() -> str:
            name = f"test_{next(numbers)}"
            postgres.execute(url, f"CREATE DATABASE {name} TEMPLATE migrated")
            return _named(url, name)

        yield make


def empty(make: Maker) -> str:
    """A database without any tables, beside those that a maker makes."""
    database = make()
    if "://" not in database:
        Path(database).unlink()
        return database
    postgres.execute(database, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return database


def _named(url: str, name: str) -> str:
    return url.replace("/postgres?", f"/{name}?")
