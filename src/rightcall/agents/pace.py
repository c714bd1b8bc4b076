"""How fast an agent is driven, and what is tried again.

Turns are sent by a throttle, one an endpoint. It lets at most a window of turns be under way at once. The window is
as large as was asked for until there is trouble that passes (a reset, a time-out, status 429 or 5xx): then it is
halved, once for all turns that were under way together, and each turn that succeeds widens it again by one over its
size, so that it grows by one for each window of successes. This is additive increase and multiplicative decrease
(Chiu and Jain 1989), as in TCP. Where the other side says how long to wait (`Retry-After`), no turn is sent until then.

A conversation is tried again from its start after trouble that passes. It waits a random time from 0 to twice as long
each time (full jitter: M. Brooker, "Exponential backoff and jitter", 2015), and never less than it was asked to.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, Protocol

import msgspec

from rightcall.agents.exchange import Conversation, Endpoint, Reply, Turn
from rightcall.agents.limiting import within
from rightcall.errors import EndpointError, UsageError

FIRST_WAIT: Final = 0.5
"""Seconds that the first wait before another try takes at most."""

LONGEST_WAIT: Final = 30.0
"""Seconds that any wait takes at most, unless the other side asks for a longer one."""

_ADVICE: Final = "the `timeout` of the run sets the limit"

LONGEST_ASKED: Final = 300.0
"""Seconds that the other side may ask to wait. Asked for more, it is not tried again."""


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent is driven.

    `concurrency` is how many attempts are under way at once, `rate` how many turns are sent in a second at most,
    `timeout` how many seconds one turn may take, where the endpoint does not say less, `retries` how often a
    conversation is tried again.
    """

    concurrency: int = 10
    rate: float | None = None
    timeout: float | None = None
    retries: int = 2


class Clock(Protocol):
    """Time, as it is handed in. `now` counts seconds from anywhere."""

    def now(self) -> float:
        """What time it is."""
        ...

    def sleep(self, seconds: float) -> Awaitable[None]:
        """Wait."""
        ...


class Throttle:
    """Lets turns pass to one endpoint as fast as it takes them."""

    def __init__(self, pace: Pace, clock: Clock) -> None:
        self.window = float(pace.concurrency)
        self._widest = float(pace.concurrency)
        self._interval = 0.0 if pace.rate is None else 1 / pace.rate
        self._clock = clock
        self._under_way = 0
        self._epoch = 0
        self._slot = self._paused_until = clock.now()
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """One turn: waits until it may begin, and learns from how it ends."""
        await self._admitted()
        try:
            await self._due()
            epoch = self._epoch
            try:
                yield
            except EndpointError as error:
                self._troubled(error, epoch)
                raise
            self.window = min(self._widest, self.window + 1 / self.window)
        finally:
            self._under_way -= 1
            self._wake()

    async def _admitted(self) -> None:
        """Wait for a place in the window. Those who wait come in in their order."""
        if self._waiting or self._under_way >= int(self.window):
            place = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place
            except asyncio.CancelledError:
                if place.done() and not place.cancelled():
                    self._under_way -= 1
                self._wake()
                raise
        else:
            self._under_way += 1

    def _wake(self) -> None:
        while self._waiting and self._under_way < int(self.window):
            place = self._waiting.popleft()
            if not place.done():
                self._under_way += 1
                place.set_result(None)

    async def _due(self) -> None:
        """Wait for the next free moment, by the rate and by what the other side asked for."""
        now = self._clock.now()
        due = max(now, self._slot, self._paused_until)
        self._slot = due + self._interval
        while due > now:
            await self._clock.sleep(due - now)
            now = self._clock.now()
            due = max(due, self._paused_until)

    def _troubled(self, error: EndpointError, epoch: int) -> None:
        if not error.is_passing:
            return
        if error.after is not None and error.after <= LONGEST_ASKED:
            self._paused_until = max(self._paused_until, self._clock.now() + error.after)
        if epoch == self._epoch:
            self._epoch += 1
            self.window = max(1.0, self.window / 2)


class Paced:
    """An endpoint whose turns pass a throttle and may take only so long."""

    def __init__(self, endpoint: Endpoint, pace: Pace, clock: Clock) -> None:
        self._endpoint = endpoint
        self._timeout = pace.timeout
        self._throttle = Throttle(pace, clock)

    @asynccontextmanager
    async def conversation(self) -> AsyncIterator[Conversation]:
        """Begin a conversation. That it cannot be begun in time is trouble, too."""
        beginning = self._endpoint.conversation()
        async with within(self._timeout, "no conversation was begun", _ADVICE):
            conversation = await beginning.__aenter__()
        try:
            yield _PacedConversation(conversation, self._throttle, self._timeout)
        except BaseException as error:
            if not await beginning.__aexit__(type(error), error, error.__traceback__):
                raise
        else:
            await beginning.__aexit__(None, None, None)

    async def close(self) -> None:
        """Close the endpoint."""
        await self._endpoint.close()


class _PacedConversation:
    def __init__(self, conversation: Conversation, throttle: Throttle, timeout: float | None) -> None:
        self._conversation = conversation
        self._throttle = throttle
        self._timeout = timeout

    async def send(self, turn: Turn) -> Reply:
        async with self._throttle.turn(), within(self._timeout, "no reply came", _ADVICE):
            return await self._conversation.send(turn)


def wait_before(tries: int, trouble: EndpointError, pace: Pace, random: Callable[[], float]) -> float | None:
    """How many seconds to wait before the next try, `None` if there is to be none.

    `tries` is how often it was tried, from 1; `random` gives numbers from 0 to 1.
    """
    asked = trouble.after or 0.0
    if not trouble.is_passing or tries > pace.retries or asked > LONGEST_ASKED:
        return None
    jitter = random() * min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (tries - 1))
    return asked + jitter


_PER: Final = {"s": 1.0, "m": 60.0, "h": 3600.0}


def rate(text: str) -> float:
    """Turns in a second, of `5`, `300/m` or `1000/h`; `UsageError` if the text is none of these."""
    number, stroke, unit = text.partition("/")
    try:
        found = float(number) / _PER[unit if stroke else "s"]
    except (ValueError, KeyError):
        found = 0.0
    if not 0 < found < float("inf"):
        raise UsageError(f"--rate: expected turns in a second, or such as 300/m or 1000/h; found {text!r}")
    return found
