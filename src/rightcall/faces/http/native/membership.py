"""What rows are made of, by ids in an order: the tests and metrics of a test set, the metrics of a requirement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

import msgspec
from litestar.response import Response
from msgspec import Meta

from rightcall.faces.http.bodies import sent
from rightcall.faces.http.native.desk import Desk
from rightcall.faces.http.native.resource import pointing
from rightcall.store import audit
from rightcall.store.engine import Transaction
from rightcall.store.members import Members as Membership
from rightcall.store.pages import Wanted
from rightcall.store.rows import Aggregate

B = TypeVar("B", bound=msgspec.Struct)

MOST = 10_000
"""Members that one request may name."""


class Ids(msgspec.Struct, frozen=True, kw_only=True):
    """A page of ids, in their order."""

    items: list[str]
    next: str | None = None


class MetricIds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Metrics by their ids, in their order."""

    metric_ids: Annotated[list[str], Meta(max_length=MOST)]


class TestIds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tests by their ids, in their order."""

    __test__ = False

    test_ids: Annotated[list[str], Meta(max_length=MOST)]


class Members(msgspec.Struct, frozen=True, kw_only=True):
    """The members of rows. `pointer` is the field of a body that names them."""

    members: Membership
    owners: Aggregate[Any]
    pointer: str

    def page(self, desk: Desk, owner: str, limit: int, cursor: str | None) -> Response[Ids]:
        """Members page by page."""
        with desk.reading() as on:
            self.owners.need(desk.org, on, owner)
            page = self.members.page(desk.org, on, owner, Wanted(limit=limit, cursor=cursor))
        return sent(Ids(items=list(page.rows), next=page.next))

    def replace(self, desk: Desk, owner: str, members: Sequence[str], body: B) -> Response[B]:
        """Have these members and no others."""

        def work(on: Transaction) -> None:
            self.owners.need(desk.org, on, owner)
            with pointing(self.pointer):
                self.members.set(desk.org, on, owner, members)
            audit.note(desk.org, on, desk.caller.key, f"set {self.members.part}s of {self.members.whole}", owner)

        desk.write(work)
        return sent(body)

    def add(self, desk: Desk, owner: str, members: Sequence[str], body: B) -> Response[B]:
        """Put members at the end; those that are in it stay where they are."""

        def work(on: Transaction) -> None:
            self.owners.need(desk.org, on, owner)
            with pointing(self.pointer):
                self.members.add(desk.org, on, owner, members)
            audit.note(desk.org, on, desk.caller.key, f"add {self.members.part}s to {self.members.whole}", owner)

        desk.write(work)
        return sent(body)

    def remove(self, desk: Desk, owner: str, member: str) -> None:
        """Take a member out; it stays itself."""

        def work(on: Transaction) -> None:
            self.members.remove(desk.org, on, owner, member)
            audit.note(desk.org, on, desk.caller.key, f"take {self.members.part} out of {self.members.whole}", owner)

        desk.write(work)
