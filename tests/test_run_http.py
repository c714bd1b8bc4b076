"""Agents behind a server that is busy, broken or refuses: what is tried again, after how long, and what comes of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from rightcall.agents import endpoints
from rightcall.agents.pace import Pace
from rightcall.app.running.attempting import Driven, World, drive
from rightcall.app.running.driving import Stop
from rightcall.app.running.planning import Planned
from rightcall.core.calls import Trajectory
from rightcall.testsets import Test
from support.driving import FakeClock
from support.loopback import Answer, answer, serving

WELL = answer({"output": "ok", "tool_calls": [{"name": "a", "arguments": {}}]})
BUSY = answer({}, "429 Too Many Requests", Retry_After="7")
HALF = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"


def attempted(*answers: Answer | bytes, turns: tuple[str, ...] = ("hi",), count: int = 1) -> Any:
    """The trajectories of attempts at a server with these answers, how long was waited, and how often it was asked."""

    async def run() -> tuple[list[Trajectory], list[float], int]:
        clock, made = FakeClock(), list[Trajectory]()

        async def record(planned: Planned, trajectory: Trajectory) -> None:
            made.append(trajectory)

        async with serving(*answers) as server:
            agent = endpoints.open(endpoints.read({"http": {"url": server.url}}), {}, "")
            driven = Driven(
                run="r",
                tests={"t": Test(id="t", turns=turns)},
                endpoints={"t": agent},
                planned={"t": count},
                pace=Pace(concurrency=1, retries=2),
                world=World(clock=clock, random=lambda: 1.0),
            )
            await drive(driven, (Planned("t", number) for number in range(1, count + 1)), record, Stop())
            return made, clock.slept, len(server.requests)

    return asyncio.run(run())


@pytest.mark.parametrize("trouble", [BUSY, answer({}, "503 Service Unavailable"), HALF, b""])
def test_trouble_that_passes_is_tried_again(trouble: bytes) -> None:
    """A busy server, a broken one, half an answer, none: the next try may be well (G38)."""
    (made,), _, asked = attempted(trouble, WELL)
    assert (made.trouble, [one.name for one in made.tool_calls or ()], asked) == (None, ["a"], 2)
    assert len(made.warnings) == 1
    assert "begun anew" in made.warnings[0]


def test_server_is_not_asked_before_it_said() -> None:
    """`Retry-After` in seconds, and the waits beside it."""
    _, slept, _ = attempted(BUSY, BUSY, WELL)
    assert [seconds >= 7 for seconds in slept] == [True, True]


def test_attempts_that_follow_wait_too() -> None:
    """An attempt that was given up holds the next one back until the time that the server named."""
    made, slept, asked = attempted(BUSY, BUSY, BUSY, WELL, count=2)
    assert [one.trouble is None for one in made] == [False, True]
    assert "429" in str(made[0].trouble)
    assert str(made[0].trouble).endswith("; tried 3 times")
    assert (asked, slept[-1] >= 7) == (4, True)


@pytest.mark.parametrize("status", ["400 Bad Request", "401 Unauthorized", "404 Not Found"])
def test_refusal_is_not_tried_again(status: str) -> None:
    """It would be refused again; it says nothing of the agent (G38)."""
    (made,), slept, asked = attempted(answer({"message": "no"}, status), WELL)
    assert (status.partition(" ")[0] in str(made.trouble), slept, asked) == (True, [], 1)


def test_second_turn_that_fails_begins_the_conversation_anew() -> None:
    """The server sees the first turn again, not half a conversation."""
    (made,), _, asked = attempted(WELL, BUSY, WELL, WELL, turns=("one", "two"))
    assert (made.trouble, asked) == (None, 4)
    assert [(one.name, one.turn) for one in made.tool_calls or ()] == [("a", 0), ("a", 1)]


def test_what_the_agent_reports_as_its_failure_is_not_tried_again() -> None:
    """It is an answer (G38)."""
    (made,), slept, asked = attempted(answer({"error": "no stock"}), WELL)
    assert (made.failure, made.trouble, slept, asked) == ("no stock", None, [], 1)
