"""Numbers that count within an organization, so that they tell nothing of others."""

from __future__ import annotations

from typing import Final

from rightcall.store import schema
from rightcall.store.engine import Org, Transaction
from rightcall.store.upserting import insert

_TABLE: Final = schema.counters


def take(org: Org, on: Transaction, name: str, how_many: int = 1) -> range:
    """The next numbers of a counter, which begins at 1. Nobody else is given them, unless the transaction fails."""
    row = insert(on.connection, _TABLE).values(organization_id=org, name=name, value=how_many)
    counted = row.on_conflict_do_update(
        index_elements=["organization_id", "name"], set_={"value": _TABLE.c.value + how_many}
    )
    last = on.connection.execute(counted.returning(_TABLE.c.value)).scalar_one()
    return range(last - how_many + 1, last + 1)
