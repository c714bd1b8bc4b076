"""What agents, judges and checks of users print goes to the standard error: the standard output belongs to reports.

Agents run beside one another and beside what reports, so the stream is told by who writes: by the context that an agent
runs in, which threads take along when they are captured (`agents/threads.py`).
"""

from __future__ import annotations

import collections
import contextlib
import functools
import sys
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, Final, ParamSpec, TypeVar

from rightcall.agents import recording

_is_agent: Final[ContextVar[bool]] = ContextVar("rightcall_agent", default=False)
_lock: Final = threading.Lock()
_diverting: list[_Divided] = []
_kept: Final[collections.deque[_Divided]] = collections.deque(maxlen=64)
"""What stood for the standard output of late: `print` holds no reference to it while another thread puts it back."""

_Given = ParamSpec("_Given")
_Returned = TypeVar("_Returned")


class _Divided:
    """The standard output for everybody else, the standard error for agents."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.count = 0

    def __getattr__(self, name: str) -> Any:
        is_agent = _is_agent.get() or recording.here()
        return getattr(sys.stderr if is_agent and sys.stderr is not None else self.stream, name)


@contextlib.contextmanager
def diverted() -> Iterator[None]:
    """A block in which an agent runs, whose prints go to the standard error."""
    if sys.stdout is None:  # there is nothing to keep free
        yield
        return
    _begin()
    token = _is_agent.set(True)
    try:
        yield
    finally:
        _is_agent.reset(token)
        _end()


def apart(function: Callable[_Given, _Returned]) -> Callable[_Given, _Returned]:
    """The function, whose prints go to the standard error."""

    @functools.wraps(function)
    def printing_apart(*args: _Given.args, **named: _Given.kwargs) -> _Returned:
        with diverted():
            return function(*args, **named)

    return printing_apart


def _begin() -> None:
    with _lock:
        if not _diverting:
            _diverting.append(_standing_for(sys.stdout))
            sys.stdout = _diverting[0]  # it answers like the stream that it stands for
        _diverting[0].count += 1


def _standing_for(stream: Any) -> _Divided:
    known = next((one for one in _kept if one is stream or one.stream is stream), None)
    if known is None:
        known = _Divided(stream)
        _kept.append(known)
    return known


def _end() -> None:
    """Put the stream back when no agent runs any more, unless somebody has replaced it meanwhile."""
    with _lock:
        divided = _diverting[0]
        divided.count -= 1
        if divided.count == 0:
            _diverting.clear()
            if sys.stdout is divided:
                sys.stdout = divided.stream
