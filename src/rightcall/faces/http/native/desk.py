"""Where a request is worked on: the rows of its organization, for as long as it is answered."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Annotated, Any, Final, TypeVar

import msgspec
from litestar import Request
from litestar.di import NamedDependency, Provide
from litestar.params import HeaderParameter, QueryParameter

from rightcall.faces.http.auth import Caller
from rightcall.store.engine import Org, Snapshot, Store, Transaction
from rightcall.store.pages import MOST
from rightcall.store.sealing import Sealer

T = TypeVar("T")

Limit = Annotated[int, QueryParameter(ge=1, le=MOST, description="Rows of the page, at most.")]
Cursor = Annotated[
    str | None, QueryParameter(name="cursor", max_length=1000, description="The `next` of the page before.")
]
IfMatch = Annotated[
    str | None,
    HeaderParameter(name="If-Match", max_length=100, description="The `ETag` that the row must still have."),
]
IdempotencyKey = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="Sent again with the same request, it gets the same answer, and nothing is done twice.",
    ),
]


class Desk(msgspec.Struct, frozen=True, kw_only=True):
    """What a request may reach: nothing but the rows of the organization `org`."""

    store: Store
    caller: Caller
    now: datetime.datetime
    sealer: Sealer

    @property
    def org(self) -> Org:
        """The organization of whoever asks: the first argument of every query."""
        return self.caller.organization

    def reading(self) -> AbstractContextManager[Snapshot]:
        """The rows as they are at one moment."""
        return self.store.reading()

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Change rows together, or none."""
        return self.store.write(work, self.now)


AtDesk = NamedDependency[Desk]
"""How a route asks for it."""


def _desk(request: Request[Caller, Any, Any]) -> Desk:
    state = request.app.state
    return Desk(store=state.store, caller=request.user, now=state.clock(), sealer=state.sealer)


DESK: Final = {"desk": Provide(_desk, sync_to_thread=False)}
"""The dependency of every route that reaches rows."""
