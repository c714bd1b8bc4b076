"""How much time one request may take, which whoever sends it cannot choose."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

from rightcall.app.regex import compile_regex
from rightcall.core.assertion import CannotJudge, Matcher
from rightcall.errors import TraceError

T = TypeVar("T")

GRADING: Final = 60.0
"""Seconds after which no further trajectory is graded."""

SEARCHING: Final = 10.0
"""Seconds of computing that all regular expressions of a request have together; each match has its own limit (G28)."""


class Allowance:
    """The time of one request. It is a `RegexEngine`, whose matches count toward it."""

    def __init__(self, grading: float = GRADING, searching: float = SEARCHING) -> None:
        self._ends = time.monotonic() + grading
        self._grading = grading
        self._searching = searching
        self._left = searching

    def __call__(self, pattern: str, flags: str) -> Matcher:
        """Compile; a match is `CannotJudge` once the time for all of them is used up."""
        is_found = compile_regex(pattern, flags)

        def search(text: str) -> bool:
            if self._left <= 0:
                limit = f"{self._searching:g} s"
                raise CannotJudge(
                    "timeout", f"All regular expressions together ran out of their time limit of {limit}."
                )
            started = time.thread_time()
            try:
                return is_found(text)
            finally:
                self._left -= time.thread_time() - started

        return search

    def within(self, items: Iterable[T]) -> Iterator[T]:
        """The same items; `TraceError` instead of the next when the time is up."""
        for item in items:
            if time.monotonic() > self._ends:
                raise TraceError(f"grading took longer than {self._grading:g} s; send less at once")
            yield item
