"""Organizations: all other rows belong to one. These queries are the operator's, who sees all of them."""

from __future__ import annotations

from typing import Final

import msgspec
from sqlalchemy import delete, insert, select

from rightcall.errors import UnknownRowError
from rightcall.store import metrics, schema
from rightcall.store.engine import Org, Snapshot, Transaction
from rightcall.store.rows import needed, pointing

_TABLE: Final = schema.organizations


class Organization(msgspec.Struct, frozen=True, kw_only=True):
    """Whose tests, runs and traces they are. Names are unique."""

    id: Org
    name: str


def create(on: Transaction, name: str) -> Organization:
    """Make an organization with the metrics that all have; `ConflictError` if there is one of this name."""
    made = Organization(id=Org(on.new_id("org")), name=name)
    with pointing("organization"):
        history = {"version": 1, "created_at": on.now, "updated_at": on.now}
        on.connection.execute(insert(_TABLE).values(id=made.id, name=name, **history))
    metrics.METRICS.create_all(made.id, on, metrics.BUILT_IN)
    return made


def all_of_them(on: Snapshot) -> list[Organization]:
    """Every organization, in the order of their making."""
    found = on.connection.execute(select(_TABLE.c.id, _TABLE.c.name).order_by(_TABLE.c.id))
    return [Organization(id=Org(identity), name=name) for identity, name in found]


def named(on: Snapshot, name: str) -> Organization | None:
    """The organization of a name; `None` if there is none."""
    return next((one for one in all_of_them(on) if one.name == name), None)


def get(org: Org, on: Snapshot) -> Organization | None:
    """The organization itself; `None` if there is none."""
    found = on.connection.execute(select(_TABLE.c.name).where(_TABLE.c.id == org)).scalar_one_or_none()
    return None if found is None else Organization(id=org, name=found)


def remove(org: Org, on: Transaction) -> None:
    """Delete the organization with everything that belongs to it."""
    with needed("organization"):
        if not on.connection.execute(delete(_TABLE).where(_TABLE.c.id == org)).rowcount:
            raise UnknownRowError(f"there is no organization `{org}`")
