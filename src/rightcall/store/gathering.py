"""Many small writes as few transactions: what is waiting when the database is free is committed together.

Each write is a savepoint of the transaction, so that one that fails fails alone. Whoever wrote returns when its write
is on the disk, and no sooner.
"""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, NamedTuple, TypeVar

from sqlalchemy.exc import OperationalError

from rightcall.store.engine import Store, Transaction

_T = TypeVar("_T")

MOST: Final = 500
"""Writes of one transaction, at most."""


class _Write(NamedTuple):
    work: Callable[[Transaction], Any]
    done: Future[Any]


class Gatherer:
    """Gathers the writes of any number of threads: one of them commits for all that wait."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[_Write] = []
        self._adding = threading.Lock()
        self._committing = threading.Lock()

    @property
    def waiting(self) -> int:
        """How many writes wait for the next transaction."""
        return len(self._waiting)

    def write(self, work: Callable[[Transaction], _T], now: datetime.datetime) -> _T:
        """Do work that has no effect but on the database, and return what it returns once that is on the disk.

        The time of the transaction is that of whoever commits it.
        """
        done: Future[_T] = Future()
        with self._adding:
            self._waiting.append(_Write(work, done))
        with self._committing:
            while not done.done():
                self._commit(self._take(), now)
        return done.result()

    def _take(self) -> list[_Write]:
        with self._adding:
            taken, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
        return taken

    def _commit(self, writes: list[_Write], now: datetime.datetime) -> None:
        try:
            results = self._store.write(lambda on: [_attempt(on, write) for write in writes], now)
        except BaseException as error:
            for write in writes:
                write.done.set_exception(error)
            raise
        for write, (value, failure) in zip(writes, results, strict=True):
            if failure is None:
                write.done.set_result(value)
            else:
                write.done.set_exception(failure)


def _attempt(on: Transaction, write: _Write) -> tuple[Any, Exception | None]:
    try:
        with on.connection.begin_nested():
            return write.work(on), None
    except OperationalError:
        raise  # of the database itself, not of this write: all are tried again, or fail
    except Exception as error:
        return None, error
