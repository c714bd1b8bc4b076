"""The audit log: who did what, when. Rows are only ever added."""

from __future__ import annotations

import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import insert, select

from rightcall.store import schema
from rightcall.store.engine import Org, Snapshot, Transaction
from rightcall.store.pages import Page, Wanted, after, page_of

_TABLE: Final = schema.audit_log


class Deed(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was done: `actor` is the id of a key or a word for who else, `subject` the id of a row."""

    id: str
    at: datetime.datetime
    actor: str
    action: str
    subject: str
    details: dict[str, Any] = {}


def note(org: Org, on: Transaction, actor: str, action: str, subject: str, **details: Any) -> None:
    """Write down what is done in this transaction."""
    deed = Deed(id=on.new_id("log"), at=on.now, actor=actor, action=action, subject=subject, details=details)
    on.connection.execute(insert(_TABLE).values(organization_id=org, **msgspec.structs.asdict(deed)))


def page(org: Org, on: Snapshot, wanted: Wanted) -> Page[Deed]:
    """What was done, the oldest first."""
    query = after(select(_TABLE).where(_TABLE.c.organization_id == org), wanted, _TABLE.c.id)
    found = on.connection.execute(query).mappings()
    deeds = [Deed(**{name: row[name] for name in Deed.__struct_fields__}) for row in found]
    return page_of(deeds, wanted, lambda deed: deed.id)
