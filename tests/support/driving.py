"""Agents, clocks and endpoints without a model, for tests of running."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from rightcall.agents.exchange import Conversation, Reply, Turn

Answer = Callable[[Turn], Awaitable[Reply] | Reply]


class FakeClock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.time = 0.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


class FakeEndpoint:
    """An agent that answers as a function says, and remembers its conversations by what was said in them."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.conversations: list[list[Turn]] = []
        self.is_closed = False
        self.open = 0

    @asynccontextmanager
    async def conversation(self) -> AsyncIterator[Conversation]:
        turns: list[Turn] = []
        self.conversations.append(turns)
        self.open += 1
        try:
            yield _Conversation(self.answer, turns)
        finally:
            self.open -= 1

    async def close(self) -> None:
        self.is_closed = True


class _Conversation:
    def __init__(self, answer: Answer, turns: list[Turn]) -> None:
        self._answer = answer
        self._turns = turns

    async def send(self, turn: Turn) -> Reply:
        self._turns.append(turn)
        answer = self._answer(turn)
        return answer if isinstance(answer, Reply) else await answer
