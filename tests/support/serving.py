"""The HTTP server in this process: the whole application, asked without a socket."""

from __future__ import annotations

import asyncio
import base64
import datetime
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from rightcall.app import keyring
from rightcall.faces.http import app
from rightcall.faces.http.doorway import Doorway
from rightcall.faces.http.settings import Access, Settings
from rightcall.store import keys, migrating, organizations
from rightcall.store.engine import Org, Store
from rightcall.store.sealing import Sealer

OPEN = Settings(access=Access.OPEN, per_minute=1_000_000)
CLOSED = Settings(access=Access.KEYS, per_minute=1_000_000)
NOW = datetime.datetime(2026, 5, 4, 12, tzinfo=datetime.UTC)
SECRET_KEY = base64.b64encode(bytes(32)).decode()
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
    """The application over a store; each look at its clock is a second after the one before."""
    seconds = itertools.count()
    return app.create(settings, store, lambda: NOW + datetime.timedelta(seconds=next(seconds)), sealer())


def sealer() -> Sealer:
    """What the applications of tests seal secrets with."""
    return Sealer([SECRET_KEY])


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


class Samples(NamedTuple):
    """One row of each kind that a key may reach: their ids, by the names of the path parameters, and their paths."""

    ids: dict[str, str]
    paths: list[str]


def samples(served: Any, key: str) -> Samples:
    """Make one row of each kind."""

    def made(path: str, **sent: Any) -> Any:
        answer = ask(served, "POST", f"/api/v1{path}", headers=bearer(key), **sent)
        assert answer.status_code == 201, answer.text
        return answer.json()

    requirement = made("/requirements", json={"name": "Refunds"})["id"]
    ids = {
        "requirement_id": requirement,
        "metric_id": made("/metrics", json={"name": "Bans", "kind": "allowed_tools", "config": {"tools": ["a"]}})["id"],
        "test_id": made("/tests", json={"name": "One", "requirement_id": requirement})["id"],
        "test_set_id": made("/test_sets", json={"name": "All"})["id"],
        "endpoint_id": made(
            "/endpoints", json={"name": "Agent", "kind": "http", "config": {"url": "http://127.0.0.1:1/"}}
        )["id"],
        "trace_id": made("/traces", content=b'{"id": "a", "tool_calls": [{"name": "a"}]}')["traces"][0]["id"],
        "key_id": made("/keys", json={"name": "other", "scopes": ["read"]})["id"],
    }
    words = ("requirements", "metrics", "tests", "test_sets", "endpoints", "traces")
    paths = [f"/api/v1/{word}/{identity}" for word, identity in zip(words, ids.values(), strict=False)]
    ask(served, "POST", f"{paths[3]}/tests", json={"test_ids": [ids["test_id"]]}, headers=bearer(key))
    return Samples(ids, paths)
