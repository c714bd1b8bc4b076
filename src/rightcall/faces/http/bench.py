"""Where grading is done: in threads of its own, so that long work keeps nobody else from being answered."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from rightcall.faces.http.problems import ProblemError

T = TypeVar("T")

WORKERS: Final = max(2, os.cpu_count() or 1)
"""How many requests are graded at once."""

MOST: Final = 16
"""How many may be graded or wait for it; those beyond are told to come back."""


class Bench:
    """Threads that grade."""

    def __init__(self, workers: int = WORKERS, most: int = MOST) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="grading")
        self._most = most
        self._taken = 0

    async def do(self, work: Callable[[], T]) -> T:
        """Do the work in a thread; `ProblemError` 503 if too much waits already."""
        if self._taken >= self._most:
            words = "The server is busy grading; the header `Retry-After` says how many seconds to wait."
            raise ProblemError(503, words, headers={"Retry-After": "5"})
        self._taken += 1
        doing = asyncio.get_running_loop().run_in_executor(self._pool, work)
        # Counted until it has really ended, also where nobody waits for it any more.
        doing.add_done_callback(self._done)
        return await asyncio.shield(doing)

    def _done(self, _: object) -> None:
        self._taken -= 1

    async def close(self) -> None:
        """Begin nothing that still waits."""
        self._pool.shutdown(wait=False, cancel_futures=True)
