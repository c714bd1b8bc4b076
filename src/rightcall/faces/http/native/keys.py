"""Keys, for those who may give them out."""

from __future__ import annotations

import datetime
from typing import Annotated

import msgspec
from litestar import Controller, delete, get, post
from litestar.params import FromPath, JSONBody
from msgspec import Meta

from rightcall.faces.http.auth import ADMIN
from rightcall.faces.http.bodies import StrictJSON
from rightcall.faces.http.native.desk import AtDesk
from rightcall.store import audit, keys
from rightcall.store.engine import Transaction
from rightcall.store.keys import Key, Scope


class KeyBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A key to make: what it is for, and what it allows."""

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    scopes: Annotated[list[Scope], Meta(min_length=1, max_length=4)]


class KeyView(msgspec.Struct, frozen=True, kw_only=True):
    """A key without its secret. `prefix` is how it begins."""

    id: str
    name: str
    prefix: str
    scopes: list[Scope]
    created_at: datetime.datetime
    last_used_at: datetime.datetime | None
    revoked_at: datetime.datetime | None


class NewKey(KeyView, frozen=True, kw_only=True):
    """A key that was made. `key` is what is sent as `Authorization: Bearer`; it is not shown again."""

    key: str


class KeyList(msgspec.Struct, frozen=True, kw_only=True):
    """All keys, the oldest first, revoked ones among them."""

    items: list[KeyView]


class Keys(Controller):
    """`/keys`."""

    path = "/keys"
    tags = ["keys"]  # noqa: RUF012  # the framework reads it

    @get(guards=[ADMIN], sync_to_thread=True)
    def list_keys(self, desk: AtDesk) -> KeyList:
        """The keys of the organization."""
        with desk.reading() as on:
            return KeyList(items=[msgspec.convert(_shown(key), KeyView) for key in keys.all_of(desk.org, on)])

    @post(guards=[ADMIN], dto=StrictJSON[KeyBody], return_dto=None, sync_to_thread=True)
    def create_key(self, desk: AtDesk, data: JSONBody[KeyBody]) -> NewKey:
        """Make a key of the same organization."""

        def work(on: Transaction) -> tuple[Key, str]:
            made = keys.create(desk.org, on, data.name, data.scopes)
            audit.note(desk.org, on, desk.caller.key, "create key", made[0].id)
            return made

        key, text = desk.write(work)
        return msgspec.convert({**_shown(key), "key": text}, NewKey)

    @delete("/{key_id:str}", guards=[ADMIN], sync_to_thread=True)
    def revoke_key(self, desk: AtDesk, key_id: FromPath[str]) -> None:
        """Let a key be of no more use, from the next request on."""

        def work(on: Transaction) -> None:
            keys.revoke(desk.org, on, key_id)
            audit.note(desk.org, on, desk.caller.key, "revoke key", key_id)

        desk.write(work)


def _shown(key: Key) -> dict[str, object]:
    return {**msgspec.structs.asdict(key), "scopes": list(key.scopes)}
