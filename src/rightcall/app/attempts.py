"""The attempts at each test, kept until the last of them is there."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from rightcall.app.spool import Spool
from rightcall.core import jsontext
from rightcall.core.results import Attempt
from rightcall.core.values import equal
from rightcall.errors import TestSetError, Where
from rightcall.testsets import CompiledTest, Test


def keep(spool: Spool[Attempt], attempt: Attempt) -> int:
    """Keep an attempt with expected beside made, which cannot be lined up any more once its trajectory is gone."""
    return spool.keep(replace(attempt, alignments=dict(attempt.alignments)))


class Attempts:
    """The attempts at each test, in the order in which they came."""

    def __init__(self, spool: Spool[Attempt], identities: Iterable[str] = ()) -> None:
        self._spool = spool
        self._tickets = {identity: array("q") for identity in identities}

    def __contains__(self, identity: str) -> bool:
        return identity in self._tickets

    def add(self, identity: str, attempt: Attempt) -> int:
        """Keep one more attempt at a test; return how many there are."""
        tickets = self._tickets.setdefault(identity, array("q"))
        tickets.append(keep(self._spool, attempt))
        return len(tickets)

    def of(self, identity: str) -> list[Attempt]:
        """Give back the attempts at a test."""
        return [self._spool.fetch(ticket) for ticket in self._tickets[identity]]


Head = tuple[Test, bytes]
"""A test that a record carries, without its assertions, and what the record expects, as text."""


class Groups:
    """Tests that records carry, by id, and the attempts at them."""

    def __init__(self, heads: Spool[Head], attempts: Spool[Attempt]) -> None:
        self.ids: dict[str, int] = {}
        self._heads = heads
        self._attempts = Attempts(attempts)

    def add(self, compiled: CompiledTest, carried: Mapping[str, Any], attempt: Attempt, file: str) -> int:
        """Keep one more attempt and return how many there are now.

        `TestSetError` if what its record carries expects something else than the ones before it.
        """
        expectations, identity = jsontext.encode(carried), compiled.test.id
        # Taken out and put in again, so that ids stand in the order of their last attempts.
        head = self.ids.pop(identity, None)
        if head is None:
            head = self._heads.keep((replace(compiled.test, assertions=(), places=()), expectations))
        elif not _same(self._heads.fetch(head)[1], expectations):
            raise TestSetError(
                f"the records with id `{identity}` expect different things; attempts at one test must expect the same",
                Where(file=file),
            )
        self.ids[identity] = head
        return self._attempts.add(identity, attempt)

    def take(self, identity: str) -> tuple[Test, list[Attempt]]:
        """Give back a test and its attempts, and forget them."""
        return self._heads.fetch(self.ids.pop(identity))[0], self._attempts.of(identity)


def _same(one: bytes, other: bytes) -> bool:
    return one == other or equal(jsontext.decode(one), jsontext.decode(other))
