"""Judges that are made when they are first needed: nothing is imported or opened for tests that ask none."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from rightcall.app import ahead
from rightcall.core import jsontext
from rightcall.core.asking import Answer, Asker, Question
from rightcall.core.judging import CannotJudge
from rightcall.errors import RightcallError

if TYPE_CHECKING:
    from concurrent.futures import Future

    from rightcall.testsets import CompiledTest


class LazyJudge:
    """An asker that is made when it is first needed, once."""

    def __init__(self, make: Callable[[], Asker]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: Asker | None = None
        self._begun: dict[bytes, list[Future[Answer]]] = {}

    def open(self) -> Asker:
        """Make it; `UsageError` if there is no such model, no key for it, or no place for its cache."""
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made

    def __call__(self, question: Question) -> Answer:
        """Its answer; `CannotJudge` also where it cannot be made."""
        if (begun := self._taken(question)) is not None:
            return begun.result()
        try:
            ask = self.open()
        except RightcallError as error:
            raise CannotJudge("no_judge", f"The judge cannot be used: {error}.") from None
        return ask(question)

    def begin(self, question: Question) -> None:
        """Ask now, in another thread, what will be asked later, if that takes its time."""
        if getattr(self._made, "is_slow", False):
            begun = ahead.submit(self.open(), question)
            with self._lock:
                self._begun.setdefault(_key(question), []).append(begun)

    def _taken(self, question: Question) -> Future[Answer] | None:
        if not self._begun:
            return None
        with self._lock:
            key = _key(question)
            waiting = self._begun.get(key, [])
            begun = waiting.pop(0) if waiting else None
            if not waiting:
                self._begun.pop(key, None)
        return begun


def _key(question: Question) -> bytes:
    words = [question.instructions, question.answer.__name__, question.problem, question.data]
    return hashlib.sha256(jsontext.encode(words)).digest()


def ready(tests: Iterable[CompiledTest]) -> None:
    """Make the judges that these tests ask, before anything is graded; `UsageError` for one that cannot be used."""
    for judge in _judges(tests):
        judge.open()


def _judges(tests: Iterable[CompiledTest]) -> Iterator[LazyJudge]:
    for test in tests:
        for assertion in test.assertions:
            judge = getattr(assertion.check, "ask", None)
            if isinstance(judge, LazyJudge):
                yield judge
