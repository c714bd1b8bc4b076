"""An agent that is a function of Python: `path.py:function`, `module:function`, or the function itself.

It is given what the user says; a function whose first parameter is called `turn`, or is annotated with
`rightcall.agents.exchange.Turn`, is given the whole turn. A class is made anew for each conversation and its objects
are called. Asynchronous functions run in the event loop, all others in a thread each.

What it returns is text, an object with `output` and `tool_calls`, a result of any framework that `rightcall.read`
reads, or a trajectory; what generators yield is collected. Meanwhile its calls are captured from spans, as by
`rightcall.capture()`. Where the two differ, `agents/agreeing.py` says what counts. What it raises is its failure.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import copy
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from rightcall.agents import agreeing, loading, printing, replies
from rightcall.agents.capture import Capture
from rightcall.agents.captured import Captured
from rightcall.agents.configuring import TIMEOUT, EndpointConfig, Seconds, Setting, Watch
from rightcall.agents.continuing import Continuing
from rightcall.agents.exchange import Conversation, Endpoint, Reply, Turn
from rightcall.agents.limiting import within
from rightcall.core.calls import Trajectory
from rightcall.errors import EndpointError, TraceError, UsageError

_ENDING: Final = 0.5
"""Seconds that an agent may take to end when nobody waits for its reply any more."""


class Python(EndpointConfig, frozen=True, kw_only=True):
    """A function of Python."""

    call: Annotated[str, Meta(description="`path.py:function` or `module:function`.")]
    timeout: Seconds = TIMEOUT

    @property
    def programs(self) -> tuple[str, ...]:
        """The file of the function, if it is named."""
        return (self.call.rpartition(":")[0],)

    def open(self, setting: Setting) -> Endpoint:
        """The function, loaded; `EndpointError` if it cannot be."""
        try:
            function = loading.function(self.call, setting.directory)
        except loading.CannotLoad as error:
            raise EndpointError(str(error)) from error
        return PythonEndpoint(function, self.timeout, setting.watch)


class PythonEndpoint:
    """A function of this process as an agent."""

    def __init__(self, call: Callable[..., Any], timeout: float = TIMEOUT, watch: Watch | None = None) -> None:
        self._call = call
        self._timeout = timeout
        self._watch = watch

    @asynccontextmanager
    async def conversation(self) -> AsyncIterator[Conversation]:
        """Begin a conversation, with an object of its own if the agent is a class."""
        yield _Conversation(self._call, self._timeout, self._watch)

    async def close(self) -> None:
        """Nothing is held."""


class _Raised(msgspec.Struct, frozen=True):
    """What the agent raised instead of returning, also what would have ended a program or a task."""

    error: BaseException


class _Conversation:
    def __init__(self, call: Callable[..., Any], timeout: float, watch: Watch | None) -> None:
        self._made = call
        self._call: Callable[..., Any] | None = None if isinstance(call, type) else call
        self._timeout = timeout
        self._watch = watch
        self._told = Continuing()

    async def send(self, turn: Turn) -> Reply:
        """Call the function."""
        if self._watch is not None:
            self._watch.sent("input", turn.input)
        with printing.diverted(), _capturing(turn) as captured:
            async with within(self._timeout, "no reply"):
                outcome = await self._outcome(turn)
        if self._watch is not None and not isinstance(outcome, _Raised):
            self._watch.came("returned", outcome)
        returned = self._told.new(
            _failed(outcome.error, self._made) if isinstance(outcome, _Raised) else _reply(outcome)
        )
        return _joined(returned, captured)

    async def _outcome(self, turn: Turn) -> Any:
        """What comes of the call, in a task of its own: an agent may cancel its task, or refuse to be cancelled."""
        task = asyncio.ensure_future(self._caught(turn))
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task}, timeout=_ENDING)
            raise
        outcome = task.result()
        if isinstance(outcome, _Raised) and isinstance(outcome.error, EndpointError):
            raise outcome.error
        return outcome

    async def _caught(self, turn: Turn) -> Any:
        """What the function returns or raises. What it is given is its own, for it may write into it."""
        try:
            if self._call is None:
                self._call = await _in_thread(self._made)
            return await _returned(self._call, copy.deepcopy(turn if takes_turn(self._call) else turn.input))
        except BaseException as error:
            return _Raised(error)  # an interruption of this program is raised where signals are handled, not here


def takes_turn(call: Callable[..., Any]) -> bool:
    """Whether a function wants the whole turn: by the name or the annotation of its first parameter."""
    try:
        first = next(iter(inspect.signature(call).parameters.values()), None)
    except (TypeError, ValueError):
        return False
    if first is None:
        return False
    annotation = first.annotation
    return (
        first.name == "turn"
        or annotation is Turn
        or (isinstance(annotation, str) and annotation.split(".")[-1] == "Turn")
    )


async def _returned(call: Callable[..., Any], given: Any) -> Any:
    """What the function gives in the end, however it gives it."""
    inner: Any = call if inspect.isroutine(call) else getattr(call, "__call__", call)  # noqa: B004 - asked what kind it is
    if inspect.iscoroutinefunction(inner) or inspect.isasyncgenfunction(inner):
        value = call(given)
    else:
        value = await _in_thread(lambda: _listed(call(given)))
    if inspect.isawaitable(value):
        value = await value
    return [part async for part in value] if inspect.isasyncgen(value) else value


def _listed(value: Any) -> Any:
    return list(value) if inspect.isgenerator(value) else value


async def _in_thread(function: Callable[[], Any]) -> Any:
    """What a function returns that runs in a thread of its own, with the context of here.

    The thread does not keep the program from ending: a function that hangs cannot be stopped.
    """
    loop, context = asyncio.get_running_loop(), contextvars.copy_context()
    done: asyncio.Future[Any] = loop.create_future()

    def run() -> None:
        try:
            value, error = context.run(function), None
        except BaseException as raised:
            value, error = None, raised
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, done, value, error)

    threading.Thread(target=run, name="rightcall-agent", daemon=True).start()
    return await done


def _settle(done: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if done.done():
        return
    if isinstance(error, StopIteration):
        error = RuntimeError("the agent raised StopIteration")
    done.set_result(value) if error is None else done.set_exception(error)


@contextlib.contextmanager
def _capturing(turn: Turn) -> Iterator[Captured | UsageError]:
    """A block in which spans are captured, or why they cannot be."""
    block = Capture(conversation_id=turn.attempt or "conversation")
    try:
        captured = block.__enter__()
    except UsageError as error:
        yield error
        return
    try:
        yield captured
    finally:
        block.__exit__(None, None, None)


def _reply(value: Any) -> Reply:
    try:
        found = replies.of_value(value)
        return found if isinstance(value, Reply | Trajectory | Captured) else replies.answer_alone(found, None)
    except TraceError as error:
        raise EndpointError(f"what the agent returned cannot be read: {error.message}", error.where) from error


def _failed(error: BaseException, call: Callable[..., Any]) -> Reply:
    """The agent's failure, with what a framework tells in its exception of the run until then."""
    reply = Reply(error=loading.placed(error, loading.source_file(call)))
    data = getattr(error, "run_data", None)
    if data is None:
        return reply
    try:
        return msgspec.structs.replace(replies.of_value(data), error=reply.error)
    except (EndpointError, TraceError):
        return reply


def _joined(returned: Reply, captured: Captured | UsageError) -> Reply:
    """What was returned with what was captured; why nothing was, where nothing else tells the calls."""
    if isinstance(captured, UsageError):
        return returned if returned.calls is not None else returned.noting(f"nothing is captured: {captured}")
    try:
        return agreeing.combined(returned, captured.trajectory)
    except TraceError as error:
        return returned.noting(f"what was captured cannot be read: {error.message}")
