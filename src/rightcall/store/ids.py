"""Ids: opaque, unguessable, in the order of their making.

A prefix says what is named; then come 26 letters and digits of Crockford's base 32: the microseconds since 1970, then
76 random bits. Ids made one after the other at one time count on from the first, so that they sort as they were made.
"""

from __future__ import annotations

import datetime
import secrets
from collections.abc import Iterator
from typing import Final

from rightcall.store.columns import EPOCH, MICROSECOND

_LETTERS: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_RANDOM: Final = 76
_LENGTH: Final = 26


def numbers(now: datetime.datetime) -> Iterator[str]:
    """Ids made at one time, without their prefix, each after the one before.

    The first random bit is zero, so that there is always room to count on.
    """
    number = ((now - EPOCH) // MICROSECOND << _RANDOM) + secrets.randbits(_RANDOM - 1)
    while True:
        yield "".join(_LETTERS[number >> 5 * place & 31] for place in reversed(range(_LENGTH)))
        number += 1
