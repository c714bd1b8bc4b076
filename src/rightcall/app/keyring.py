"""Keys of a server, made and revoked by whoever has its database."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Final

from rightcall.errors import UsageError
from rightcall.store import audit, keys, migrating, organizations
from rightcall.store.engine import Org, Snapshot, Store, Transaction
from rightcall.store.keys import Key, Scope

DEFAULT: Final = "default"
"""The organization where none is named: that of a server for one."""

OPERATOR: Final = "operator"
"""Who acts, in the audit log, on the machine itself."""


def create(
    database: str, organization: str, name: str, scopes: Sequence[Scope], now: datetime.datetime
) -> tuple[Key, str]:
    """Make a key, and its organization if there is none of this name; the text is shown once and not kept."""

    def work(on: Transaction) -> tuple[Key, str]:
        known = organizations.named(on, organization) or organizations.create(on, organization)
        key, text = keys.create(known.id, on, name, scopes)
        audit.note(known.id, on, OPERATOR, "create key", key.id)
        return key, text

    with migrating.open_or_make(database) as store:
        return store.write(work, now)


def all_of(database: str, organization: str) -> list[Key]:
    """Every key of an organization, the oldest first."""
    with migrating.open_store(database) as store, store.reading() as on:
        return keys.all_of(_known(on, organization), on)


def revoke(database: str, organization: str, identity: str, now: datetime.datetime) -> Key:
    """Let a key be of no more use, from the next request on."""

    def work(on: Transaction) -> Key:
        org = _known(on, organization)
        key = keys.revoke(org, on, identity)
        audit.note(org, on, OPERATOR, "revoke key", identity)
        return key

    with migrating.open_store(database) as store:
        return store.write(work, now)


def have_default(store: Store, now: datetime.datetime) -> None:
    """Make the organization of those who need no key, if there is no organization at all."""
    with store.reading() as on:
        is_new = not organizations.all_of_them(on)
    if is_new:
        store.write(lambda on: organizations.create(on, DEFAULT), now)


def has_keys(store: Store) -> bool:
    """Whether anybody has a key."""
    with store.reading() as on:
        return keys.there_are_any(on)


def _known(on: Snapshot, organization: str) -> Org:
    found = organizations.named(on, organization)
    if found is None:
        listed = ", ".join(f"`{one.name}`" for one in organizations.all_of_them(on)) or "none"
        raise UsageError(f"there is no organization `{organization}`; there are {listed}")
    return found.id
