"""What agents print goes to the standard error: the standard output belongs to reports.

Agents run beside one another and beside what reports, so the stream is told by who writes: by the context that an agent
runs in, which threads take along when they are captured (`agents/threads.py`).
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, Final

from rightcall.agents import recording

_is_agent: Final[ContextVar[bool]] = ContextVar("rightcall_agent", default=False)
_lock: Final = threading.Lock()
_diverting: list[_Divided] = []


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


def _begin() -> None:
    with _lock:
        if not _diverting:
            _diverting.append(_Divided(sys.stdout))
            sys.stdout = _diverting[0]  # it answers like the stream that it stands for
        _diverting[0].count += 1


def _end() -> None:
    """Put the stream back when no agent runs any more, unless somebody has replaced it meanwhile."""
    with _lock:
        divided = _diverting[0]
        divided.count -= 1
        if divided.count == 0:
            _diverting.clear()
            if sys.stdout is divided:
                sys.stdout = divided.stream
