"""API keys: what one may do, for which organization. The key is shown once, when it is made; its SHA-256 is kept.

A key has 256 random bits, so that a hash which is fast to compute is as hard to invert as a slow one.
"""

from __future__ import annotations

import datetime
import hashlib
import hmac
import secrets
from collections.abc import Iterable
from typing import Any, Final, Literal, get_args

import msgspec
from sqlalchemy import RowMapping, insert, select, update

from rightcall.errors import UnknownRowError
from rightcall.store import schema
from rightcall.store.engine import Org, Snapshot, Transaction

Scope = Literal["read", "write", "ingest", "admin"]

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)

_TABLE: Final = schema.api_keys
_BEGINNING: Final = "rc_"
_SHOWN: Final = 10
"""Letters of a key by which people know it again."""

BETWEEN_USES: Final = datetime.timedelta(minutes=1)
"""How exact the time of the last use is."""


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A key without its secret. `prefix` is how it begins."""

    id: str
    organization_id: Org
    name: str
    prefix: str
    scopes: tuple[Scope, ...]
    created_at: datetime.datetime
    last_used_at: datetime.datetime | None = None
    revoked_at: datetime.datetime | None = None


def create(org: Org, on: Transaction, name: str, scopes: Iterable[Scope]) -> tuple[Key, str]:
    """Make a key; the text is what whoever uses it sends, and is not kept."""
    text = _BEGINNING + secrets.token_urlsafe(32)
    wanted = frozenset(scopes)
    key = Key(
        id=on.new_id("key"),
        organization_id=org,
        name=name,
        prefix=text[:_SHOWN],
        scopes=tuple(scope for scope in SCOPES if scope in wanted),
        created_at=on.now,
    )
    on.connection.execute(insert(_TABLE).values(**msgspec.structs.asdict(key), hash=_hash(text)))
    return key, text


def recognize(on: Snapshot, text: str) -> Key | None:
    """The key that this text is, whoever's; `None` if there is none or it has been revoked."""
    hashed = _hash(text)
    found = on.connection.execute(select(_TABLE).where(_TABLE.c.hash == hashed)).mappings().first()
    if found is None or not hmac.compare_digest(found["hash"], hashed) or found["revoked_at"] is not None:
        return None
    return _key(found)


def there_are_any(on: Snapshot) -> bool:
    """Whether anybody has a key that has not been revoked."""
    return on.connection.execute(select(_TABLE.c.id).where(_TABLE.c.revoked_at.is_(None)).limit(1)).first() is not None


def get(org: Org, on: Snapshot, identity: str) -> Key | None:
    """Read a key; `None` if this organization has no such key."""
    query = select(_TABLE).where(_TABLE.c.organization_id == org, _TABLE.c.id == identity)
    found = on.connection.execute(query).mappings().first()
    return None if found is None else _key(found)


def all_of(org: Org, on: Snapshot) -> list[Key]:
    """Every key of the organization, the oldest first, revoked ones among them."""
    query = select(_TABLE).where(_TABLE.c.organization_id == org).order_by(_TABLE.c.id)
    return [_key(row) for row in on.connection.execute(query).mappings()]


def revoke(org: Org, on: Transaction, identity: str) -> Key:
    """Let a key be of no more use, at once and for good; `UnknownRowError` if there is no such key."""
    key = get(org, on, identity)
    if key is None:
        raise UnknownRowError(f"there is no key `{identity}`")
    if key.revoked_at is not None:
        return key
    _change(org, on, identity, revoked_at=on.now)
    return msgspec.structs.replace(key, revoked_at=on.now)


def is_use_due(key: Key, now: datetime.datetime) -> bool:
    """Whether a use is worth writing down: once a minute, lest every request write."""
    return key.last_used_at is None or now - key.last_used_at >= BETWEEN_USES


def note_use(org: Org, on: Transaction, identity: str) -> None:
    """Write down that a key has been used."""
    _change(org, on, identity, last_used_at=on.now)


def _change(org: Org, on: Transaction, identity: str, **columns: datetime.datetime) -> None:
    owned = (_TABLE.c.organization_id == org, _TABLE.c.id == identity)
    on.connection.execute(update(_TABLE).where(*owned).values(**columns))


def _key(row: RowMapping) -> Key:
    columns: dict[str, Any] = {name: row[name] for name in Key.__struct_fields__}
    return Key(**{**columns, "scopes": tuple(row["scopes"])})


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
