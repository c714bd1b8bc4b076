"""An agent that is a program: started for each turn, given JSON on its standard input, read from its standard output.

It gets one object with the fields of a turn: `input`, `number`, `attempt`, `conversation_id`, `history`, `test`,
`metadata`. It prints text, an object with `output` and `tool_calls`, or a trace of any known format. No shell is
between. Of the environment it gets what programs need to run, and the variables that are named. An exit code other than
0 is its failure.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from rightcall.agents import replies
from rightcall.agents.configuring import MAX_REPLY, TIMEOUT, EndpointConfig, Seconds, Setting, Watch
from rightcall.agents.continuing import Continuing
from rightcall.agents.discreet import Discreet
from rightcall.agents.exchange import Conversation, Endpoint, Reply, Turn
from rightcall.agents.limiting import within
from rightcall.agents.secrets import Secrets, Text
from rightcall.core import jsontext
from rightcall.errors import EndpointError, UsageError

_NEEDED: Final = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "TMP", "VIRTUAL_ENV")
_NEEDED_ON_WINDOWS: Final = ("SYSTEMROOT", "COMSPEC", "PATHEXT", "APPDATA", "LOCALAPPDATA", "USERPROFILE")
_TAIL: Final = 2000
"""Bytes of the standard error that are told, from its end."""

_COMPLAINTS: Final = 2
"""The number of the standard error."""


class Command(EndpointConfig, frozen=True, kw_only=True):
    """A program that is started for each turn."""

    argv: Annotated[tuple[str, ...], Meta(min_length=1, description="The program and its arguments.")]
    cwd: Annotated[str, Meta(description="Where it runs, relative to the test set's file.")] = ""
    env: Annotated[
        dict[str, Text] | tuple[str, ...],
        Meta(description="Variables that it gets besides those that programs need: names, or names with values."),
    ] = ()
    format: Annotated[str | None, Meta(description="The format of what it prints; `text` reads nothing else.")] = None
    timeout: Seconds = TIMEOUT
    max_bytes: Annotated[int, Meta(gt=0, description="Bytes that it may print.")] = MAX_REPLY

    @property
    def programs(self) -> tuple[str, ...]:
        """Each word of the command: the program is a file, or one of its arguments is."""
        return tuple(os.path.join(self.cwd, word) for word in self.argv)

    def open(self, setting: Setting) -> Endpoint:
        """The program, ready to be started; `UsageError` if a variable that it needs is not set."""
        secrets = Secrets(setting.environment)
        cwd = os.path.join(setting.directory, self.cwd) or "."
        if not os.path.isdir(cwd):
            raise UsageError(f"there is no folder `{self.cwd}` to run the agent in")
        return _CommandEndpoint(self, cwd, self._variables(setting.environment, secrets), secrets, setting.watch)

    def _variables(self, environment: Mapping[str, str], secrets: Secrets) -> dict[str, str]:
        needed = {name: environment[name] for name in (*_NEEDED, *_NEEDED_ON_WINDOWS) if name in environment}
        if isinstance(self.env, dict):
            return {**needed, **secrets.all_filled(self.env)}
        return {**needed, **{name: secrets.value(name) for name in self.env}}


class _CommandEndpoint:
    def __init__(self, config: Command, cwd: str, env: dict[str, str], secrets: Secrets, watch: Watch | None) -> None:
        self.config = config
        self.cwd = cwd
        self.env = env
        self.secrets = secrets
        self.watch = watch

    @asynccontextmanager
    async def conversation(self) -> AsyncIterator[Conversation]:
        """Begin a conversation; nothing is kept between its turns but what they say."""
        yield Discreet(_Conversation(self), self.secrets)

    async def close(self) -> None:
        """Nothing is held."""


class _Conversation:
    def __init__(self, endpoint: _CommandEndpoint) -> None:
        self._endpoint = endpoint
        self._told = Continuing()

    async def send(self, turn: Turn) -> Reply:
        """Run the program once."""
        config, secrets, watch = self._endpoint.config, self._endpoint.secrets, self._endpoint.watch
        if watch is not None:
            watch.sent("command", shlex.join(config.argv))
            watch.sent("stdin", msgspec.to_builtins(turn))
        ended = await _ran(self._endpoint, jsontext.encode(turn) + b"\n")
        output, complaint = secrets.hide_bytes(ended.output), secrets.hide(_text(ended.complaint))
        if watch is not None:
            watch.came("exit code", ended.code)
            watch.came("stdout", output.decode("utf-8", "replace"))
        if ended.code == 0:
            return self._told.new(replies.answer_alone(replies.of_bytes(output, config.format), config.format))
        return self._told.new(_failed(ended.code, complaint, output, config.format))


class _Ended(msgspec.Struct, frozen=True):
    """What a program came to."""

    code: int
    output: bytes
    complaint: bytes


_RUNNING: Final[set[int]] = set()
"""The programs that were started and have not ended."""

_STARTING: Final[set[object]] = set()
"""One thing for each program that is being started: it may run already, though its number is not known yet."""

_SOON: Final = 1.0
"""Seconds that a program takes to be started, at most."""


async def _ran(endpoint: _CommandEndpoint, given: bytes) -> _Ended:
    with _starting():
        process, talk = await _started(endpoint)
        _RUNNING.add(process.get_pid())
    try:
        async with within(endpoint.config.timeout, "the program did not end"):
            _tell(process, given)
            await talk.enough
        if talk.has_too_much:
            raise EndpointError(f"the program printed more than {talk.most:,} bytes; `max_bytes` sets the limit")
    except BaseException:
        await _end(process, talk)
        raise
    finally:
        _RUNNING.discard(process.get_pid())
        process.close()
    return _Ended(process.get_returncode() or 0, bytes(talk.output), talk.complaint)


@contextlib.contextmanager
def _starting() -> Iterator[None]:
    this = object()
    _STARTING.add(this)
    try:
        yield
    finally:
        _STARTING.discard(this)


def kill_running() -> None:
    """End every program that has not ended, for who is about to end this one at once, in another thread."""
    last = time.monotonic() + _SOON
    while _STARTING and time.monotonic() < last:
        time.sleep(0.01)
    for pid in list(_RUNNING):
        with contextlib.suppress(OSError):
            _kill_group(pid)


def _kill_group(pid: int) -> None:
    """End a program and all that it started; `OSError` if there is none."""
    if hasattr(os, "killpg"):
        os.killpg(pid, signal.SIGKILL)
    else:
        os.kill(pid, signal.SIGTERM)


async def _started(endpoint: _CommandEndpoint) -> tuple[asyncio.SubprocessTransport, _Talk]:
    argv = endpoint.config.argv
    try:
        return await asyncio.get_running_loop().subprocess_exec(
            lambda: _Talk(endpoint.config.max_bytes),
            *argv,
            cwd=endpoint.cwd,
            env=endpoint.env,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        cause = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise EndpointError(f"the program `{argv[0]}` cannot be started: {cause}") from error


class _Talk(asyncio.SubprocessProtocol):
    """What a program prints, at most about `most` bytes, and the end of what it complains of.

    `ended` is done when the program and its output have ended, `enough` then, or when it printed too much.
    """

    def __init__(self, most: int) -> None:
        loop = asyncio.get_running_loop()
        self.most = most
        self.output = bytearray()
        self.complaint = b""
        self.ended: asyncio.Future[None] = loop.create_future()
        self.enough: asyncio.Future[None] = loop.create_future()

    @property
    def has_too_much(self) -> bool:
        """Whether it printed more than it may."""
        return len(self.output) > self.most

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take what it printed."""
        if fd == _COMPLAINTS:
            self.complaint = (self.complaint + data)[-_TAIL:]
        elif not self.has_too_much:
            self.output += data
        if self.has_too_much:
            _done(self.enough)

    def connection_lost(self, exc: Exception | None) -> None:
        """It has ended, and nothing more will come."""
        _done(self.ended)
        _done(self.enough)


def _done(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _tell(process: asyncio.SubprocessTransport, given: bytes) -> None:
    """Write to the program, which need not read it."""
    stdin = process.get_pipe_transport(0)
    assert isinstance(stdin, asyncio.WriteTransport)
    stdin.write(given)
    stdin.close()  # when all is written


async def _end(process: asyncio.SubprocessTransport, talk: _Talk) -> None:
    """End the program and all that it started. It may have ended, and what it started not, nor what it prints."""
    with contextlib.suppress(OSError):
        _kill_group(process.get_pid())
    process.close()
    await talk.ended


def _text(complaint: bytes) -> str:
    return complaint.decode("utf-8", "replace").strip()


def _failed(code: int, complaint: str, output: bytes, format: str | None) -> Reply:
    """The agent's failure, with what it had printed before it."""
    what = f"exit code {code}" if code > 0 else f"ended by signal {signal.Signals(-code).name}"
    error = f"{what}: {complaint}" if complaint else what
    try:
        return msgspec.structs.replace(replies.of_bytes(output, format), error=error)
    except EndpointError:
        return Reply(error=error)
