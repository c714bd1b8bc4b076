"""The HTTP server in this process: the whole application, asked without a socket."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from rightcall.app import keyring
from rightcall.faces.http import app
from rightcall.faces.http.doorway import Doorway
from rightcall.faces.http.settings import Access, Settings
from rightcall.store import keys, migrating, organizations
from rightcall.store.engine import Org, Store

OPEN = Settings(access=Access.OPEN, per_minute=1_000_000)
CLOSED = Settings(access=Access.KEYS, per_minute=1_000_000)
NOW = datetime.datetime(2026, 5, 4, 12, tzinfo=datetime.UTC)
JSON = {"Content-Type": "application/json"}


@contextmanager
def opened(directory: Path) -> Iterator[Store]:
    """A new database with the organization `default`."""
    with migrating.open_or_make(str(directory / "served.db")) as store:
        keyring.have_default(store, NOW)
        yield store


def organization(store: Store, name: str) -> Org:
    """A new organization."""
    return store.write(lambda on: organizations.create(on, name), NOW).id


def key_of(store: Store, org: Org, *scopes: keys.Scope) -> str:
    """A new key of an organization."""
    return store.write(lambda on: keys.create(org, on, "test", scopes), NOW)[1]


def application(store: Store, settings: Settings = OPEN) -> Doorway:
    """The application over a store, at a time that stands still."""
    return app.create(settings, store, lambda: NOW)


def ask(served: Any, method: str, path: str, **sent: Any) -> httpx.Response:
    """One request, answered."""

    async def asked() -> httpx.Response:
        async with talking(served) as client:
            return await client.request(method, path, **sent)

    return asyncio.run(asked())


def talking(served: Any) -> httpx.AsyncClient:
    """A client of the application, within an event loop."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=served), base_url="http://localhost:8321")


def bearer(key: str) -> dict[str, str]:
    """The header that a key is sent in."""
    return {"Authorization": f"Bearer {key}"}
