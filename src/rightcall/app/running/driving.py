"""Doing many things at once in an event loop, and having what comes of them outside of it.

No more tasks are made than are under way at once, and what comes of them waits in a short queue: a run of any length
takes the same memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

GRACE: Final = 1.0
"""Seconds that what is under way may still take when it is to end."""

_MOST_WAITING: Final = 200
"""Things that wait to be taken out of the event loop, at most."""

Thing = TypeVar("Thing")
Made = TypeVar("Made")


class Stop:
    """Asks a run to end early: nothing more is begun. May be asked from any thread, and by a signal handler."""

    def __init__(self) -> None:
        self.asked = False
        self._told: list[Callable[[], None]] = []

    def ask(self) -> None:
        """Ask."""
        self.asked = True
        for tell in self._told:
            tell()

    @asynccontextmanager
    async def waited_for(self) -> AsyncIterator[asyncio.Event]:
        """An event of this event loop that is set when it is asked."""
        event, loop = asyncio.Event(), asyncio.get_running_loop()

        def tell() -> None:
            loop.call_soon_threadsafe(event.set)

        self._told.append(tell)
        if self.asked:
            event.set()
        try:
            yield event
        finally:
            self._told.remove(tell)


async def each(things: Iterable[Thing], work: Callable[[Thing], Awaitable[None]], at_once: int, stop: Stop) -> None:
    """Do the work for each thing, several at once. What the work raises ends it all and is raised."""
    waiting = iter(things)

    async def worker() -> None:
        for thing in waiting:
            if stop.asked:
                return
            await work(thing)

    async with stop.waited_for() as stopped:
        workers = [asyncio.ensure_future(worker()) for _ in range(at_once)]
        done = asyncio.ensure_future(asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION))
        asking = asyncio.ensure_future(stopped.wait())
        try:
            await asyncio.wait({done, asking}, return_when=asyncio.FIRST_COMPLETED)
            if not done.done():
                await asyncio.wait({done}, timeout=GRACE)
        finally:
            await _cancelled([done, asking, *workers])
        for failed in (worker for worker in workers if worker.done() and not worker.cancelled()):
            failed.result()


async def _cancelled(tasks: Sequence[asyncio.Future[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks, timeout=GRACE)


Give = Callable[[Made], Awaitable[None]]
"""Gives something out of an event loop."""


def outside(main: Callable[[Give[Made]], Coroutine[Any, Any, None]]) -> Generator[Made, None, None]:
    """What a coroutine gives to the function that it is given, out of an event loop in a thread of its own.

    What the coroutine raises is raised here. When nobody asks any more, it is cancelled.
    """
    made: queue.SimpleQueue[Made | _End] = queue.SimpleQueue()
    background = _Background(main, made)
    background.start()
    try:
        while not isinstance(item := made.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        background.cancel()


class _End:
    """The end of what is made, and what was raised."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


class _Background(threading.Thread):
    """The thread of the event loop. It does not keep the program from ending."""

    def __init__(self, main: Callable[..., Coroutine[Any, Any, None]], made: queue.SimpleQueue[Any]) -> None:
        super().__init__(name="rightcall-run", daemon=True)
        self._main = main
        self._made = made
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    def run(self) -> None:
        """Run the coroutine to its end."""
        try:
            asyncio.run(self._run())
        except BaseException as raised:
            self._made.put(_End(raised))

    async def _run(self) -> None:
        """Say that it has ended before the event loop is closed: what hangs there is not waited for."""
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        error: BaseException | None = None
        try:
            await self._main(self._give)
        except asyncio.CancelledError:
            pass
        except Exception as raised:
            error = raised
        self._made.put(_End(error))

    async def _give(self, item: Any) -> None:
        self._made.put(item)
        while self._made.qsize() > _MOST_WAITING:
            await asyncio.sleep(0.005)

    def cancel(self) -> None:
        """End the coroutine, if it has not ended, and wait for that a moment."""
        if self._loop is not None and self._task is not None:
            with contextlib.suppress(RuntimeError):  # it has ended meanwhile
                self._loop.call_soon_threadsafe(self._task.cancel)
        self.join(2 * GRACE)
