"""What a row is made of, in an order: the tests of a test set, the metrics of a requirement."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Table, delete, func, insert, select

from rightcall.errors import ConflictError, UnknownRowError
from rightcall.store.engine import Org, Snapshot, Transaction
from rightcall.store.pages import Page, Wanted, after, page_of
from rightcall.store.rows import pointing


class Members:
    """The members of rows, by the ids of both. `whole` and `part` name them to people."""

    def __init__(self, table: Table, owners: Table, owner: str, member: str, whole: str, part: str) -> None:
        self.table = table
        self.owners = owners
        self.owner = table.c[owner]
        self.member = table.c[member]
        self.whole = whole
        self.part = part

    def add(self, org: Org, on: Transaction, owner: str, members: Sequence[str]) -> int:
        """Put members at the end, in their order; those that are in it stay where they are. How many are new?

        `UnknownRowError` if the row or a member is not there.
        """
        self._lock(org, on, owner)
        there = set(self.all_of(org, on, owner))
        new = [member for member in dict.fromkeys(members) if member not in there]
        end = on.connection.execute(select(func.max(self.table.c.position)).where(*self._owned(org, owner))).scalar()
        self._insert(org, on, owner, new, 0 if end is None else end + 1)
        return len(new)

    def set(self, org: Org, on: Transaction, owner: str, members: Sequence[str]) -> None:
        """Have these members, in this order, and no others. `ConflictError` if one is named twice."""
        if len(set(members)) != len(members):
            raise ConflictError(f"a {self.part} is named twice; a {self.whole} has each of them once")
        self._lock(org, on, owner)
        on.connection.execute(delete(self.table).where(*self._owned(org, owner)))
        self._insert(org, on, owner, members, 0)

    def remove(self, org: Org, on: Transaction, owner: str, member: str) -> None:
        """Take a member out, which itself stays; `UnknownRowError` if it is none."""
        query = delete(self.table).where(*self._owned(org, owner), self.member == member)
        if not on.connection.execute(query).rowcount:
            raise UnknownRowError(f"the {self.whole} `{owner}` has no {self.part} `{member}`")

    def all_of(self, org: Org, on: Snapshot, owner: str) -> list[str]:
        """The ids of all members, in their order."""
        query = select(self.member).where(*self._owned(org, owner)).order_by(self.table.c.position)
        return list(on.connection.execute(query).scalars())

    def page(self, org: Org, on: Snapshot, owner: str, wanted: Wanted) -> Page[str]:
        """The ids of members page by page, in their order."""
        query = select(self.member, self.table.c.position).where(*self._owned(org, owner))
        found = on.connection.execute(after(query, wanted, self.table.c.position, int)).all()
        page = page_of(found, wanted, lambda row: row.position)
        return Page(rows=tuple(row[0] for row in page.rows), next=page.next)

    def _lock(self, org: Org, on: Transaction, owner: str) -> None:
        """Let nobody else change the members until the end, lest two be put in one place."""
        query = select(self.owners.c.id).where(self.owners.c.organization_id == org, self.owners.c.id == owner)
        if on.connection.execute(query.with_for_update()).first() is None:
            raise UnknownRowError(f"there is no {self.whole} `{owner}`")

    def _owned(self, org: Org, owner: str) -> tuple[ColumnElement[bool], ...]:
        return self.table.c.organization_id == org, self.owner == owner

    def _insert(self, org: Org, on: Transaction, owner: str, members: Sequence[str], start: int) -> None:
        rows = [
            {"organization_id": org, self.owner.name: owner, self.member.name: member, "position": position}
            for position, member in enumerate(members, start)
        ]
        if rows:
            with pointing(f"{self.part} of the {self.whole}"):
                on.connection.execute(insert(self.table), rows)
