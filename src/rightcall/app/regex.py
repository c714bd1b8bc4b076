"""JavaScript regular expressions, run by a JavaScript engine within limits of time and memory (G28).

The engine is QuickJS. It may be used only by the thread that made it, so each thread has an engine of its
own, with its own compiled patterns. A match leaves the interpreter lock free: other threads go on meanwhile.

The engine looks at its clock every so many steps. Where one step walks through a long text, a match can go on
well beyond its limit before the engine notices; it is then ended, and not tried again.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any, Final, Never

from rightcall.core.assertion import CannotJudge, Matcher

TIME_LIMIT: Final = 0.1
"""Seconds of computing after which a match is ended, as soon as the engine looks at its clock."""

MEMORY_LIMIT: Final = 256 * 1024 * 1024
"""Bytes that the engine of one thread may hold."""

MOST_PATTERNS: Final = 10_000
"""Compiled patterns that a thread keeps; beyond them it begins anew."""

MOST_PATIENCE: Final = 64
"""How often the limit may be stretched, while other threads use up the clock."""

SHOWN: Final = 80

_COMPILE: Final = """(function (pattern, flags) {
    const regex = new RegExp(JSON.parse(pattern), JSON.parse(flags));
    return function (text, json) {
        regex.lastIndex = 0;
        return regex.test(json ? JSON.parse(text) : text);
    };
})"""


class JavaScriptRegex:
    """Compiles patterns and searches with them: the `RegexEngine` that is handed to the core.

    `time_limit` is in seconds of computing time of the thread that searches, `memory_limit` in bytes.
    """

    def __init__(self, time_limit: float = TIME_LIMIT, memory_limit: int = MEMORY_LIMIT) -> None:
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self._local = threading.local()

    def __call__(self, pattern: str, flags: str) -> Matcher:
        """Compile; `ValueError` with the engine's words if the pattern or a flag is not valid."""
        try:
            self._machine().compiled(pattern, flags)
        except _FullError:
            self._machine().compiled(pattern, flags)

        def is_found(text: str) -> bool:
            try:
                return self._machine().search(pattern, flags, text)
            except _FullError:
                return self._machine().search(pattern, flags, text)

        return is_found

    def _machine(self) -> _Machine:
        machine: _Machine | None = getattr(self._local, "machine", None)
        if machine is None or machine.is_spent:
            machine = self._local.machine = _Machine(self.time_limit, self.memory_limit)
        return machine


compile_regex: Final = JavaScriptRegex()
"""The engine with the default limits; it costs nothing until it is first used."""


class _FullError(Exception):
    """The memory was used up, and other patterns held some of it: a new engine may have enough."""


class _Machine:
    """The engine of one thread."""

    def __init__(self, time_limit: float, memory_limit: int) -> None:
        import quickjs  # type: ignore[import-untyped]  # it ships without types

        self.is_spent = False
        self._exception: type[Exception] = quickjs.JSException
        self._time_limit = time_limit
        self._memory_limit = memory_limit
        self._context: Any = quickjs.Context()
        self._context.set_memory_limit(memory_limit)
        self._context.set_time_limit(time_limit / 4)
        self._compile: Callable[[str, str], Any] = self._context.eval(_COMPILE)
        self._searches: dict[tuple[str, str], Any] = {}

    def compiled(self, pattern: str, flags: str) -> Any:
        """Return the engine's search function for a pattern."""
        search = self._searches.get((pattern, flags))
        if search is None:
            try:
                search = self._compile(json.dumps(pattern), json.dumps(flags))
            except self._exception as error:
                if "out of memory" in str(error):
                    self._begin_anew(others=len(self._searches))
                raise ValueError(_reason(error, flags)) from None
            self._searches[pattern, flags] = search
            self.is_spent = len(self._searches) >= MOST_PATTERNS
        return search

    def search(self, pattern: str, flags: str, text: str) -> bool:
        """Is the pattern found in the text? `CannotJudge` at a limit."""
        search = self.compiled(pattern, flags)
        # The engine takes text as UTF-8, in which a lone surrogate cannot be written: such text goes as JSON.
        arguments = (text,) if text.isascii() or _is_utf8(text) else (json.dumps(text), True)
        started = time.thread_time()
        try:
            # Nearly every match ends within a quarter of the limit. Only the others are worth a stopwatch.
            return bool(search(*arguments))
        except self._exception as error:
            if not _is_interruption(error):
                self._out_of_memory(pattern, text)
        if self._is_used_up(started):
            self._out_of_time(pattern, text)
        return self._search_patiently(search, arguments, pattern, text)

    def _search_patiently(self, search: Any, arguments: tuple[Any, ...], pattern: str, text: str) -> bool:
        """Search until the limit is really used up.

        The engine's clock counts the computing time of the whole process, so busy threads beside this one
        make it run fast. The clock of this thread tells; the limit is then stretched until the two agree.
        """
        stretch = 1
        try:
            while True:
                self._context.set_time_limit(self._time_limit * stretch)
                started = time.thread_time()
                try:
                    return bool(search(*arguments))
                except self._exception as error:
                    if not _is_interruption(error):
                        self._out_of_memory(pattern, text)
                if self._is_used_up(started) or stretch >= MOST_PATIENCE:
                    self._out_of_time(pattern, text)
                stretch *= 2
        finally:
            self._context.set_time_limit(self._time_limit / 4)

    def _is_used_up(self, started: float) -> bool:
        # A hundredth is forgiven: the two clocks are not read at the same instant.
        return time.thread_time() - started >= self._time_limit * 0.99

    def _out_of_time(self, pattern: str, text: str) -> Never:
        limit = f"its time limit of {self._time_limit * 1000:g} ms"
        raise CannotJudge("timeout", f"The pattern {_shown(pattern)} ran out of {limit} on {_described(text)}.")

    def _out_of_memory(self, pattern: str, text: str) -> Never:
        self._begin_anew(others=len(self._searches) - 1)
        limit = f"its memory limit of {self._memory_limit // (1024 * 1024)} MiB"
        message = f"The pattern {_shown(pattern)} ran out of {limit} on {_described(text)}."
        raise CannotJudge("memory_limit", message)

    def _begin_anew(self, others: int) -> None:
        # What the engine still holds is unknown, so the next search begins with a new one.
        self.is_spent = True
        if others:
            raise _FullError


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_interruption(error: Exception) -> bool:
    return str(error).startswith("InternalError: interrupted")


def _reason(error: Exception, flags: str) -> str:
    """Return the engine's words without the kind of exception and its stack."""
    reason = str(error).partition("\n")[0].partition(": ")[2] or str(error)
    return f"{reason} {_shown(flags)}" if "flags" in reason else reason


def _described(text: str) -> str:
    return f"the text {_shown(text)} of {len(text):,} characters"


def _shown(text: str) -> str:
    cut = text if len(text) <= SHOWN else text[:SHOWN] + "…"
    return f"`{cut}`"
