"""`rightcall.capture()`: the block in which the calls of an agent are captured."""

from __future__ import annotations

from contextvars import Token
from types import TracebackType
from typing import TYPE_CHECKING

from rightcall.agents import recording
from rightcall.agents.captured import Captured
from rightcall.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider


class Capture:
    """A block for `with` or `async with`; see `rightcall.capture`."""

    def __init__(self, conversation_id: str | None = None, tracer_provider: TracerProvider | None = None) -> None:
        self._conversation_id = conversation_id
        self._provider = tracer_provider
        self._recording: recording.Recording | None = None
        self._captured: Captured | None = None
        self._token: Token[recording.Here] | None = None

    def __enter__(self) -> Captured:
        if self._recording is not None:
            raise UsageError("a block is entered once; call `rightcall.capture()` for each")
        try:
            from rightcall.agents import listening, threads
        except ImportError:
            raise MissingExtraError("`rightcall.capture()`", "capture") from None
        gaps = listening.listen(self._provider)
        threads.carry()
        self._recording = recording.Recording(self._provider)
        self._captured = Captured(self._recording, self._conversation_id, gaps)
        self._token = recording.enter((*recording.here(), self._recording))
        recording.begin(self._recording)
        return self._captured

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._recording is None or self._captured is None or self._token is None:
            return
        recording.end(self._recording)
        recording.leave(self._token)
        self._captured.keep(None if error is None else f"`{type(error).__name__}`")

    async def __aenter__(self) -> Captured:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, traceback)
