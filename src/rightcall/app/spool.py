"""Keeping many things until the end of a run without holding them all in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final, Generic, Self, TypeVar

import msgspec

Thing = TypeVar("Thing")

IN_MEMORY: Final = 64 * 1024 * 1024
"""Bytes that are kept in memory; what comes after them goes to a temporary file without a name."""

_LENGTH: Final = 4


class Spool(Generic[Thing]):
    """Takes things of one kind, and gives each back for the ticket it was given, until it is left (`with`).

    They are kept as MessagePack: where a field takes anything, a tuple comes back as a list, a struct as a mapping.
    """

    def __init__(self, kind: Any, in_memory: int = IN_MEMORY) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=in_memory)  # noqa: SIM115  # it lives as long as the spool
        self._odd: list[Thing] = []
        self._decode: Callable[[bytes], Thing] = msgspec.msgpack.Decoder(kind, dec_hook=_from_text).decode

    def keep(self, thing: Thing) -> int:
        """Keep a thing and return its ticket. What cannot be encoded, as other packages may make it, stays as it is."""
        try:
            data = _encode(thing)
        except Exception:
            self._odd.append(thing)
            return -len(self._odd)
        ticket = self._file.seek(0, 2)
        self._file.write(len(data).to_bytes(_LENGTH) + data)
        return ticket

    def fetch(self, ticket: int) -> Thing:
        """Give back what a ticket stands for."""
        if ticket < 0:
            return self._odd[-ticket - 1]
        self._file.seek(ticket)
        return self._decode(self._file.read(int.from_bytes(self._file.read(_LENGTH))))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _text(value: Any) -> str:
    if isinstance(value, Fraction):
        return str(value)
    raise TypeError(f"{type(value).__name__} stays in memory")


def _from_text(kind: type, value: Any) -> Any:
    if kind is Fraction:
        return Fraction(value)
    raise NotImplementedError


_encode = msgspec.msgpack.Encoder(enc_hook=_text).encode
