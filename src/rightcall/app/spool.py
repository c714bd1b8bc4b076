"""Keeping many things until the end of a run without holding them all in memory."""

from __future__ import annotations

import pickle
import tempfile
from typing import Any, Final, Generic, Self, TypeVar

Thing = TypeVar("Thing")

IN_MEMORY: Final = 64 * 1024 * 1024
"""Bytes that are kept in memory; what comes after them goes to a temporary file without a name."""


class Spool(Generic[Thing]):
    """Takes things, and gives each back for the ticket it was given, until it is left (`with`)."""

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=in_memory)  # noqa: SIM115  # it lives as long as the spool
        self._odd: list[Thing] = []

    def keep(self, thing: Thing) -> int:
        """Keep a thing and return its ticket. What cannot be pickled, as other packages may make it, stays as it is."""
        try:
            data = pickle.dumps(thing, pickle.HIGHEST_PROTOCOL)
        except Exception:
            self._odd.append(thing)
            return -len(self._odd)
        ticket = self._file.seek(0, 2)
        self._file.write(data)
        return ticket

    def fetch(self, ticket: int) -> Thing:
        """Give back what a ticket stands for."""
        if ticket < 0:
            return self._odd[-ticket - 1]
        self._file.seek(ticket)
        thing: Any = pickle.load(self._file)
        kept: Thing = thing
        return kept

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
