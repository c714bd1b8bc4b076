"""Threads and executors take the block along in which they are started, and the span that is current there.

Contexts of `contextvars` do not go into threads by themselves, and agents run tools in threads. The two functions are
replaced once, when the first block begins, and do nothing of their own outside of blocks.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, ParamSpec, TypeVar

from opentelemetry import context

from rightcall.agents import recording

_P = ParamSpec("_P")
_T = TypeVar("_T")

_lock: Final = threading.Lock()
_done: list[bool] = []


def carry() -> None:
    """Let threads that are started in a block, and what is submitted to executors there, belong to the block."""
    with _lock:
        if not _done:
            _done.append(True)
            _replace_start(threading.Thread.start)
            _replace_submit(ThreadPoolExecutor.submit)


def _replace_start(start: Callable[[threading.Thread], None]) -> None:
    @functools.wraps(start)
    def started(self: threading.Thread) -> None:
        if recording.here():
            setattr(self, "run", _carried(self.run))  # noqa: B010 - mypy refuses the assignment to a method
        start(self)

    setattr(threading.Thread, "start", started)  # noqa: B010 - as above


def _replace_submit(submit: Callable[..., Future[Any]]) -> None:
    @functools.wraps(submit)
    def submitted(self: ThreadPoolExecutor, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if not recording.here():
            return submit(self, fn, *args, **kwargs)
        carried = _carried(fn)
        token = recording.enter(())  # a thread of the pool outlives the block: only what it runs belongs to it
        try:
            return submit(self, carried, *args, **kwargs)
        finally:
            recording.leave(token)

    setattr(ThreadPoolExecutor, "submit", submitted)  # noqa: B010 - as above


def _carried(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """The function, to be run in the blocks and in the span that are current now."""
    blocks, spans = recording.here(), context.get_current()

    def run(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        entered, attached = recording.enter(blocks), context.attach(spans)
        try:
            return function(*args, **kwargs)
        finally:
            context.detach(attached)
            recording.leave(entered)

    return run
