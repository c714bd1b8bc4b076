"""What one block records, and which blocks a span belongs to.

A span belongs to each open block in whose context it begins, and to each that already has its parent. The context is
that of `contextvars`: tasks take it along, and so do threads (`agents/threads.py`). Nothing of OpenTelemetry is
imported here.
"""

from __future__ import annotations

import mmap
import os
import threading
from contextvars import ContextVar, Token
from typing import Any, Final

Key = tuple[int, int]
"""A span of OpenTelemetry, by the numbers of its trace and of itself."""


class Recording:
    """The spans and log records of one block, as OpenTelemetry holds them.

    `strays` began while the block was open, where nothing says whether they belong to it. `provider` is the one that
    the block listens to, `None` for the configured one. What begins in a process that was forked inside the block stays
    there; that it did is known here too, by a byte that both share.
    """

    def __init__(self, provider: Any = None) -> None:
        self.provider = provider
        self.spans: dict[Key, Any] = {}
        self.records: list[Any] = []
        self.strays: list[Any] = []
        self._process = os.getpid()
        self._elsewhere = mmap.mmap(-1, 1)

    @property
    def is_elsewhere(self) -> bool:
        """Whether something of the block began in another process."""
        return self._elsewhere[0] != 0

    def note_process(self) -> None:
        """Something of the block begins, perhaps in another process."""
        if os.getpid() != self._process:
            self._elsewhere[0] = 1


Here = tuple[Recording, ...]
"""The blocks around some place in a program, the outermost first; they may have ended."""

_here: Final[ContextVar[Here]] = ContextVar("rightcall_recordings", default=())
_open: list[Recording] = []
_lock: Final = threading.RLock()


def here() -> Here:
    """The blocks that this context is in."""
    return _here.get()


def provider() -> Any:
    """The provider that the innermost block around listens to, `None` for the configured one."""
    return next((block.provider for block in reversed(here()) if block in _open), None)


def enter(blocks: Here) -> Token[Here]:
    """Let this context be in these blocks, until `leave`."""
    return _here.set(blocks)


def leave(token: Token[Here]) -> None:
    """Undo `enter`. Where a block ends in another context than it began in, that context never was in it."""
    try:
        _here.reset(token)
    except ValueError:
        return


def begin(recording: Recording) -> None:
    """From now on spans are given to the recording."""
    with _lock:
        _open.append(recording)


def end(recording: Recording) -> None:
    """No further span is given to the recording."""
    with _lock:
        _open.remove(recording)


def add_span(key: Key, parent: Key | None, span: Any) -> None:
    """Give a span that begins to the blocks that it belongs to; to all as a stray, if that cannot be told."""
    if not _open:
        return
    around = here()
    with _lock:
        blocks = [block for block in _open if block in around or parent in block.spans]
        for block in blocks or _open:
            block.note_process()
        for block in blocks:
            block.spans[key] = span
        for block in _open if not blocks else ():
            block.strays.append(span)


def add_record(key: Key, record: Any) -> None:
    """Give a log record to the blocks that its span, or its context, belongs to."""
    if not _open:
        return
    around = here()
    with _lock:
        for block in _open:
            if block in around or key in block.spans:
                block.note_process()
                block.records.append(record)
