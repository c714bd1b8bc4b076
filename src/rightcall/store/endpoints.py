"""Endpoints: how agents are reached. Their secrets are kept sealed and apart, and read only where they are used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, delete, insert, select

from rightcall.store import schema
from rightcall.store.engine import Org, Snapshot, Transaction
from rightcall.store.rows import Aggregate, pointing
from rightcall.store.sealing import Sealer

_SECRETS: Final = schema.endpoint_secrets


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent is reached. `content` is its description as JSON, which names secrets and holds none."""

    name: str
    kind: str
    content: dict[str, Any]


ENDPOINTS: Final = Aggregate(schema.endpoints, Endpoint, "end", "endpoint")


def set_secrets(org: Org, on: Transaction, endpoint: str, secrets: Mapping[str, str], sealer: Sealer) -> None:
    """Keep these secrets of an endpoint by their names, and no others. `StoreError` if there is no key to seal them."""
    on.connection.execute(delete(_SECRETS).where(*_owned(org, endpoint)))
    rows = [
        {
            "organization_id": org,
            "endpoint_id": endpoint,
            "name": name,
            "sealed": sealer.seal(secret, _place(org, endpoint, name)),
        }
        for name, secret in secrets.items()
    ]
    if rows:
        with pointing("secret"):
            on.connection.execute(insert(_SECRETS), rows)


def secret_names(org: Org, on: Snapshot, endpoint: str) -> list[str]:
    """What the secrets of an endpoint are called."""
    query = select(_SECRETS.c.name).where(*_owned(org, endpoint)).order_by(_SECRETS.c.name)
    return list(on.connection.execute(query).scalars())


def open_secrets(org: Org, on: Snapshot, endpoint: str, sealer: Sealer) -> dict[str, str]:
    """The secrets of an endpoint by their names; `StoreError` if the keys open them not."""
    query = select(_SECRETS.c.name, _SECRETS.c.sealed).where(*_owned(org, endpoint))
    found = on.connection.execute(query)
    return {name: sealer.open(bytes(sealed), _place(org, endpoint, name)) for name, sealed in found}


def _owned(org: Org, endpoint: str) -> tuple[ColumnElement[bool], ...]:
    return _SECRETS.c.organization_id == org, _SECRETS.c.endpoint_id == endpoint


def _place(org: Org, endpoint: str, name: str) -> str:
    return "\n".join((org, endpoint, name))
