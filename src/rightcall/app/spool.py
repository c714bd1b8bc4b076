"""Keeping many things until they are needed without holding them all in memory."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final, Generic, Self, TypeVar

import msgspec

from rightcall.errors import StoreError, Where

Thing = TypeVar("Thing")

IN_MEMORY: Final = 16 * 1024 * 1024
"""Bytes that are kept in memory; what comes after them goes to a temporary file without a name."""

_LENGTH: Final = 4


class Storage:
    """Takes bytes, and gives them back for the ticket they were given, until it is left (`with`) or closed.

    Its file has no name, so that nothing is left behind however the program ends. `StoreError` if the disk is full.
    """

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        # To the library, 0 means without limit.
        self._file = tempfile.SpooledTemporaryFile(max_size=max(1, in_memory))  # noqa: SIM115  # it lives as long as this

    def add(self, data: bytes) -> int:
        """Keep bytes and return their ticket."""
        try:
            ticket = self._file.seek(0, 2)
            self._file.write(len(data).to_bytes(_LENGTH) + data)
        except OSError as error:
            raise _refused(error) from None
        return ticket

    def get(self, ticket: int) -> bytes:
        """Give back what a ticket stands for."""
        try:
            self._file.seek(ticket)
            return self._file.read(int.from_bytes(self._file.read(_LENGTH)))
        except OSError as error:
            raise _refused(error) from None

    def close(self) -> None:
        """Forget everything."""
        with contextlib.suppress(OSError):  # what the disk did not take is not wanted any more
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _refused(error: OSError) -> StoreError:
    cause = error.strerror or type(error).__name__
    advice = "name a directory with more room in the environment variable `TMPDIR`"
    message = f"what does not fit into memory cannot be kept there: {cause[:1].lower()}{cause[1:]}; {advice}"
    return StoreError(message, Where(file=tempfile.gettempdir()))


class Spool(Generic[Thing]):
    """Takes things of one kind, and gives each back for the ticket it was given.

    They are kept as MessagePack in a storage, where a field takes anything a tuple comes back as a list and a struct as
    a mapping. Without a storage it has one of its own, until it is left (`with`).
    """

    def __init__(self, kind: Any, in_memory: int = IN_MEMORY, storage: Storage | None = None) -> None:
        self._storage = Storage(in_memory) if storage is None else storage
        self._odd: list[Thing] = []
        self._decode: Callable[[bytes], Thing] = msgspec.msgpack.Decoder(kind, dec_hook=_from_text).decode

    def keep(self, thing: Thing, /) -> int:
        """Keep a thing and return its ticket. What cannot be encoded, as other packages may make it, stays as it is."""
        try:
            data = _encode(thing)
        except Exception:
            self._odd.append(thing)
            return -len(self._odd)
        return self._storage.add(data)

    def fetch(self, ticket: int, /) -> Thing:
        """Give back what a ticket stands for."""
        return self._odd[-ticket - 1] if ticket < 0 else self._decode(self._storage.get(ticket))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._storage.close()


class Spools:
    """Makes spools that share one storage, until it is left (`with`); nothing is opened before the first."""

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        self._in_memory = in_memory
        self._storage: Storage | None = None

    def __call__(self, kind: Any, /) -> Spool[Any]:
        """A new spool of things of a kind."""
        if self._storage is None:
            self._storage = Storage(self._in_memory)
        return Spool(kind, storage=self._storage)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._storage is not None:
            self._storage.close()


def _text(value: Any) -> str:
    if isinstance(value, Fraction):
        return str(value)
    raise TypeError(f"{type(value).__name__} stays in memory")


def _from_text(kind: type, value: Any) -> Any:
    if kind is Fraction:
        return Fraction(value)
    raise NotImplementedError


_encode = msgspec.msgpack.Encoder(enc_hook=_text).encode
