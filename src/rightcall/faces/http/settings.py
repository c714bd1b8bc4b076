"""What the server is told when it is started."""

from __future__ import annotations

import enum
from typing import Final

import msgspec

LOCAL_HOSTS: Final = ("127.0.0.1", "localhost", "::1")
"""Names and addresses that only this machine reaches."""

MAX_BODY: Final = 10 * 1024 * 1024
"""Bytes of a request's body, at most: as much as one record may have (G8)."""

MAX_HEAD: Final = 32 * 1024
"""Bytes of all headers of a request, at most."""

PER_MINUTE: Final = 600
"""Requests a minute from one address."""


class Access(enum.Enum):
    """Who is let in: everybody while no key exists, which is for this machine alone, or holders of keys."""

    OPEN = "open"
    KEYS = "keys"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How the server answers. `allowed_hosts` are the names, without ports, by which it may be addressed.

    `max_body` is in bytes, `per_minute` in requests from one address.
    """

    access: Access = Access.KEYS
    allowed_hosts: tuple[str, ...] = LOCAL_HOSTS
    max_body: int = MAX_BODY
    per_minute: int = PER_MINUTE
