"""Who asks: Bearer keys, what they allow, and the organization that they belong to.

The organization comes from the key alone, never from the request. While there is no key at all, and the server is
reached from this machine alone, whoever asks without one is the operator of the organization `default`.
"""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Callable
from typing import Any, Final

import msgspec
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.middleware import AbstractAuthenticationMiddleware, AuthenticationResult
from litestar.types import ASGIApp, Guard

from rightcall.app.keyring import DEFAULT
from rightcall.faces.http.problems import ProblemError
from rightcall.faces.http.settings import Access
from rightcall.store import keys, organizations
from rightcall.store.engine import Org, Store
from rightcall.store.keys import SCOPES, Key, Scope

Clock = Callable[[], datetime.datetime]

_IMPLIED: Final[dict[Scope, frozenset[Scope]]] = {"write": frozenset({"read"}), "admin": frozenset(SCOPES)}
"""What a scope allows besides itself."""


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks: the organization whose rows there are for them, what they may do, and the id of their key."""

    organization: Org
    scopes: tuple[Scope, ...]
    key: str = "local"

    def may(self, scope: Scope) -> bool:
        """Whether one of the scopes allows it."""
        return scope in self.scopes or any(scope in _IMPLIED.get(given, ()) for given in self.scopes)


class Authentication(AbstractAuthenticationMiddleware):
    """Finds who asks. A route with `opt={"exclude_from_auth": True}` asks nobody."""

    def __init__(self, app: ASGIApp, store: Store, access: Access, clock: Clock) -> None:
        super().__init__(app)
        self._store = store
        self._access = access
        self._clock = clock

    async def authenticate_request(self, connection: ASGIConnection[Any, Any, Any, Any]) -> AuthenticationResult:
        """Who asks; `ProblemError` 401 if nobody who is known."""
        given = connection.headers.getall("authorization", [])
        caller = await asyncio.to_thread(self._caller, given)
        if caller is None:
            wanted = "A key is needed: send `Authorization: Bearer rc_…`; `rightcall keys create` makes one."
            raise ProblemError(401, wanted, headers={"WWW-Authenticate": 'Bearer realm="rightcall"'})
        return AuthenticationResult(user=caller, auth=caller.key)

    def _caller(self, given: list[str]) -> Caller | None:
        if not given:
            return self._local() if self._access is Access.OPEN else None
        scheme, _, text = given[0].partition(" ")
        if len(given) > 1 or scheme.lower() != "bearer":
            return None
        with self._store.reading() as on:
            key = keys.recognize(on, text.strip())
        if key is None:
            return None
        self._note(key)
        return Caller(organization=key.organization_id, scopes=key.scopes, key=key.id)

    def _local(self) -> Caller | None:
        with self._store.reading() as on:
            own = None if keys.there_are_any(on) else organizations.named(on, DEFAULT)
        return None if own is None else Caller(organization=own.id, scopes=("admin",))

    def _note(self, key: Key) -> None:
        """Write down that a key is used, now and then."""
        now = self._clock()
        if keys.is_use_due(key, now):
            self._store.write(lambda on: keys.note_use(key.organization_id, on, key.id), now)


def _needs(scope: Scope) -> Guard:
    def guard(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
        caller: Caller = connection.user
        if not caller.may(scope):
            raise ProblemError(403, f"This key does not allow `{scope}`; make one with `--scope {scope}`.")

    return guard


READ: Final = _needs("read")
WRITE: Final = _needs("write")
INGEST: Final = _needs("ingest")
ADMIN: Final = _needs("admin")
