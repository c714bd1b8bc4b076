"""Questions asked ahead of their time: a model takes seconds, and several can be asked at once.

Grading goes on one by one and in order. What the checks of the next trajectories will ask first is asked before, in
threads; when a check asks it, the answer is there or on its way. Verdicts are those that there are without it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rightcall.core.asking import Answer, JudgedCheck, Question
from rightcall.core.calls import Trajectory
from rightcall.testsets import CompiledTest

if TYPE_CHECKING:
    from concurrent.futures import Future
    from queue import SimpleQueue

    Work = tuple[Future[Answer], Callable[[Question], Answer], Question]

AT_ONCE: Final = 8
"""Questions that are on their way to models at the same time."""

T = TypeVar("T")
_STARTING: Final = threading.Lock()


def asks(tests: Iterable[CompiledTest]) -> bool:
    """Whether one of the tests asks a judge."""
    return any(getattr(one.check, "ask", None) is not None for test in tests for one in test.assertions)


def looking(items: Iterable[T], begin: Callable[[T], None]) -> Iterator[T]:
    """The same items in order, each begun while those before it are still worked on."""
    waiting: deque[T] = deque()
    for item in items:
        begin(item)
        waiting.append(item)
        if len(waiting) > AT_ONCE:
            yield waiting.popleft()
    yield from waiting


def begin(trajectory: Trajectory, test: CompiledTest) -> None:
    """Ask what the checks of a test will ask first about a trajectory; nothing where nothing will be judged."""
    if trajectory.trouble is not None or trajectory.failure is not None:
        return
    for assertion in test.assertions:
        start: Any = getattr(getattr(assertion.check, "ask", None), "begin", None)
        if start is not None and isinstance(assertion.check, JudgedCheck):
            for question in _opening(assertion.check, trajectory):
                start(question)


def _opening(check: JudgedCheck, trajectory: Trajectory) -> Iterable[Question]:
    if trajectory.tool_calls is None and check.needs_calls:
        return ()
    try:
        return check.opening(trajectory)
    except Exception:
        return ()  # a mistake of ours, which is told when it is made again in its time


def submit(ask: Callable[[Question], Answer], question: Question) -> Future[Answer]:
    """Ask in another thread."""
    from concurrent.futures import Future

    future: Future[Answer] = Future()
    with _STARTING:
        queue = _queue()
    queue.put((future, ask, question))
    return future


@cache
def _queue() -> SimpleQueue[Work]:
    from queue import SimpleQueue

    queue: SimpleQueue[Work] = SimpleQueue()
    for _ in range(AT_ONCE):
        # Daemons: whoever interrupts the program does not wait for a model.
        threading.Thread(target=_work, args=(queue,), name="rightcall-asking", daemon=True).start()
    return queue


def _work(queue: SimpleQueue[Work]) -> None:
    while True:
        future, ask, question = queue.get()
        try:
            future.set_result(ask(question))
        except BaseException as error:
            future.set_exception(error)
