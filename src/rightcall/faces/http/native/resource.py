"""Rows as resources: listed page by page, made once, shown with their version, changed and removed by it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Generic, TypeVar

import msgspec
from litestar.response import Response

from rightcall.core import jsontext
from rightcall.errors import ConflictError, UnknownRowError
from rightcall.faces.http.bodies import sent, written
from rightcall.faces.http.native.desk import Desk
from rightcall.faces.http.problems import Fault, ProblemError
from rightcall.store import audit, idempotency
from rightcall.store.engine import Transaction
from rightcall.store.idempotency import Answer
from rightcall.store.pages import Page, Wanted
from rightcall.store.rows import Aggregate, Kept

V = TypeVar("V", bound=msgspec.Struct)
S = TypeVar("S", bound=msgspec.Struct)

API = "/api/v1"


class Listed(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """A page: its rows in the order of their making, and the cursor of the next page, if there is one."""

    items: list[S]
    next: str | None = None


class Resource(msgspec.Struct, Generic[V, S], frozen=True, kw_only=True):
    """The rows of an aggregate under a path. `view` is how one is shown, `pointer` the field that names another row."""

    path: str
    aggregate: Aggregate[V]
    view: Callable[[Kept[V]], S]
    pointer: str = "#"

    def page(self, desk: Desk, limit: int, cursor: str | None, **equal: str) -> Response[Listed[S]]:
        """Rows whose columns are equal to what is given."""
        with desk.reading() as on:
            found = self.aggregate.page(desk.org, on, Wanted(limit=limit, cursor=cursor), **equal)
        return listed(found, self.view)

    def show(self, desk: Desk, identity: str) -> Response[S]:
        """One row, with its version as its `ETag`."""
        with desk.reading() as on:
            return self._shown(self.aggregate.need(desk.org, on, identity))

    def make(self, desk: Desk, value: V, key: str | None) -> Response[S]:
        """Keep a new row, once for each idempotency key."""

        def work(on: Transaction) -> Answer:
            kept = self.aggregate.create(desk.org, on, value)
            audit.note(desk.org, on, desk.caller.key, f"create {self.aggregate.word}", kept.id)
            headers = {"ETag": etag(kept), "Location": f"{API}{self.path}/{kept.id}"}
            return Answer(status=201, headers=headers, body=jsontext.encode(self.view(kept)))

        with self._pointing():
            return once(desk, key, self.path, value, work)

    def change(self, desk: Desk, identity: str, value: V, if_match: str | None) -> Response[S]:
        """Put another value in the place of a row's, if it still has the version that `If-Match` says."""
        version = version_of(if_match)

        def work(on: Transaction) -> Kept[V]:
            self.aggregate.need(desk.org, on, identity)
            kept = self.aggregate.update(desk.org, on, identity, value, version)
            audit.note(desk.org, on, desk.caller.key, f"change {self.aggregate.word}", identity)
            return kept

        with self._pointing(identity):
            return self._shown(desk.write(work))

    def remove(self, desk: Desk, identity: str, if_match: str | None) -> None:
        """Delete a row, if it still has the version that `If-Match` says."""
        version = version_of(if_match)

        def work(on: Transaction) -> None:
            self.aggregate.delete(desk.org, on, identity, version)
            audit.note(desk.org, on, desk.caller.key, f"delete {self.aggregate.word}", identity)

        desk.write(work)

    def _shown(self, kept: Kept[V]) -> Response[S]:
        return sent(self.view(kept), headers={"ETag": etag(kept)})

    def _pointing(self, identity: str = "") -> AbstractContextManager[None]:
        return pointing(self.pointer, self.aggregate.unknown(identity).message)


@contextmanager
def pointing(pointer: str, besides: str = "") -> Iterator[None]:
    """Tell rows that a body names and that are not there at their field, unless `besides` is said of them."""
    try:
        yield
    except UnknownRowError as error:
        if error.message == besides:
            raise
        fault = Fault(detail=error.message, pointer=pointer)
        raise ProblemError(422, "The request names something that is not there.", [fault]) from None


def listed(page: Page[Any], view: Callable[[Any], S]) -> Response[Listed[S]]:
    """A page as it is shown."""
    return sent(Listed(items=[view(row) for row in page.rows], next=page.next))


def once(
    desk: Desk, key: str | None, path: str, sent: msgspec.Struct, work: Callable[[Transaction], Answer]
) -> Response[Any]:
    """Do the work, once for each idempotency key, and answer."""
    if key is None:
        return _answered(desk.write(work))
    whole = hashlib.sha256(path.encode() + b"\0" + jsontext.encode(sent)).hexdigest()
    return _answered(desk.write(lambda on: idempotency.once(desk.org, on, key, whole, lambda: work(on))))


def _answered(answer: Answer) -> Response[Any]:
    return written(answer.body, answer.status, answer.headers)


def history(kept: Kept[Any]) -> dict[str, Any]:
    """What every row is shown with, besides what it says."""
    names = ("id", "version", "created_at", "updated_at")
    return {name: getattr(kept, name) for name in names}


def etag(kept: Kept[Any]) -> str:
    """The version of a row as a strong `ETag`."""
    return f'"{kept.version}"'


def version_of(if_match: str | None) -> int | None:
    """The version that `If-Match` asks for; `ProblemError` 400 for what is no version."""
    if if_match is None or if_match.strip() == "*":
        return None
    number = if_match.strip().removeprefix('"').removesuffix('"')
    if not number.isascii() or not number.isdecimal() or len(number) > 9:
        raise ProblemError(400, "`If-Match` is no `ETag` that this server gave.")
    return int(number)


def refuse_built_in(kept: Kept[Any]) -> None:
    """Every organization keeps what is built in; `ConflictError`."""
    if kept.value.built_in is not None:
        raise ConflictError("what is built in cannot be changed or deleted; make a metric of your own")
