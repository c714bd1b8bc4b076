"""How fast an agent is driven, what is tried again, and after how long."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from rightcall.agents.exchange import Reply, Turn
from rightcall.agents.pace import LONGEST_ASKED, Pace, Paced, Throttle, rate, wait_before
from rightcall.errors import EndpointError, UsageError
from support.driving import FakeClock, FakeEndpoint

TURN = Turn(input="hi")


async def ended(throttle: Throttle, error: EndpointError | None = None) -> None:
    """One turn that succeeds, or has this trouble."""
    try:
        async with throttle.turn():
            if error is not None:
                raise error
    except EndpointError:
        return


def passing(after: float | None = None) -> EndpointError:
    return EndpointError("status 429", is_passing=True, after=after)


async def together(count: int, throttle: Throttle, work: Callable[[], Awaitable[None]]) -> int:
    """How many of so many turns were ever under way at once."""
    under_way = most = 0

    async def one() -> None:
        nonlocal under_way, most
        async with throttle.turn():
            under_way += 1
            most = max(most, under_way)
            await work()
            under_way -= 1

    await asyncio.gather(*(one() for _ in range(count)))
    return most


def run(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return asyncio.run(work())


@pytest.mark.parametrize("concurrency", [1, 3, 10])
def test_no_more_turns_are_under_way_than_was_asked_for(concurrency: int) -> None:
    """The window is as large as the concurrency."""

    async def work() -> int:
        throttle = Throttle(Pace(concurrency=concurrency), FakeClock())
        return await together(30, throttle, lambda: asyncio.sleep(0))

    assert run(work) == concurrency


def test_window_is_halved_by_trouble_and_grows_again_one_by_one() -> None:
    """Additive increase, multiplicative decrease; never below one, never beyond what was asked for."""

    async def work() -> list[float]:
        throttle = Throttle(Pace(concurrency=8), FakeClock())
        seen = []
        for error in [passing(), passing(), passing(), passing()]:
            await ended(throttle, error)
            seen.append(throttle.window)
        for _ in range(2):
            await ended(throttle)
            seen.append(throttle.window)
        for _ in range(100):
            await ended(throttle)
        return [*seen, throttle.window]

    assert run(work) == [4, 2, 1, 1, 2, 2.5, 8]


def test_turns_that_were_under_way_together_halve_it_once() -> None:
    """A hundred refusals of one moment say no more than one."""

    async def work() -> float:
        throttle = Throttle(Pace(concurrency=8), FakeClock())
        gate = asyncio.Event()

        async def refused() -> None:
            try:
                async with throttle.turn():
                    await gate.wait()
                    raise passing()
            except EndpointError:
                return

        tasks = [asyncio.ensure_future(refused()) for _ in range(8)]
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(*tasks)
        return throttle.window

    assert run(work) == 4


def test_trouble_that_does_not_pass_changes_no_pace() -> None:
    """A refused key says nothing of the load."""

    async def work() -> float:
        throttle = Throttle(Pace(concurrency=8), FakeClock())
        await ended(throttle, EndpointError("status 401"))
        return throttle.window

    assert run(work) == 8


def test_nobody_sends_before_the_other_side_said() -> None:
    """`Retry-After` holds for all turns to that endpoint."""

    async def work() -> list[float]:
        clock = FakeClock()
        throttle = Throttle(Pace(concurrency=4), clock)
        await ended(throttle, passing(after=7))
        begun = []

        async def one() -> None:
            async with throttle.turn():
                begun.append(clock.time)

        await asyncio.gather(one(), one())
        return begun

    assert [moment >= 7 for moment in run(work)] == [True, True]


def test_turns_are_spread_by_the_rate() -> None:
    """Two a second: half a second from one to the next."""

    async def work() -> list[float]:
        clock = FakeClock()
        throttle = Throttle(Pace(concurrency=1, rate=2), clock)
        begun = []
        for _ in range(4):
            async with throttle.turn():
                begun.append(clock.time)
        return begun

    assert run(work) == [0, 0.5, 1, 1.5]


def test_one_who_gave_up_waiting_takes_no_place() -> None:
    """A turn that was cancelled while it waited, or just as it was let in, keeps none of the others out."""

    async def work() -> int:
        throttle = Throttle(Pace(concurrency=1), FakeClock())
        gate = asyncio.Event()

        async def held() -> None:
            async with throttle.turn():
                await gate.wait()

        first, second, third = (asyncio.ensure_future(held()) for _ in range(3))
        await asyncio.sleep(0)
        second.cancel()
        gate.set()
        await asyncio.sleep(0)
        third.cancel()
        await asyncio.gather(first, second, third, return_exceptions=True)
        return await together(5, throttle, lambda: asyncio.sleep(0))

    assert run(work) == 1


@pytest.mark.parametrize(
    ("tries", "trouble", "chance", "wait"),
    [
        (1, passing(), 0.0, 0.0),
        (1, passing(), 1.0, 0.5),
        (2, passing(), 1.0, 1.0),
        (2, passing(), 0.5, 0.5),
        (3, passing(), 1.0, 2.0),
        (9, passing(), 1.0, 30.0),
        (1, passing(after=12), 0.5, 12.25),
        (1, passing(after=LONGEST_ASKED + 1), 0.5, None),
        (1, EndpointError("status 401"), 0.5, None),
        (10, passing(), 0.5, None),
    ],
)
def test_wait_before_the_next_try(tries: int, trouble: EndpointError, chance: float, wait: float | None) -> None:
    """A random part of a span that doubles, on top of what was asked for; none for what does not pass or too often."""
    assert wait_before(tries, trouble, Pace(retries=9), lambda: chance) == wait


def test_turn_that_takes_too_long_is_trouble_that_passes() -> None:
    """The agent is not waited for any longer (G38)."""

    async def never(turn: Turn) -> Reply:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    async def work() -> EndpointError:
        paced = Paced(FakeEndpoint(never), Pace(timeout=0.001), FakeClock())
        async with paced.conversation() as conversation:
            with pytest.raises(EndpointError) as raised:
                await conversation.send(TURN)
        return raised.value

    error = run(work)
    assert (error.message, error.is_passing) == (
        "no reply came within 0.001 s; the `timeout` of the run sets the limit",
        True,
    )


def test_time_out_of_the_agents_own_is_its_own() -> None:
    """What the agent raises is not taken for ours."""

    async def own(turn: Turn) -> Reply:
        raise TimeoutError("mine")

    async def work() -> None:
        paced = Paced(FakeEndpoint(own), Pace(timeout=60), FakeClock())
        async with paced.conversation() as conversation:
            await conversation.send(TURN)

    with pytest.raises(TimeoutError, match="mine"):
        run(work)


@pytest.mark.parametrize(("text", "number"), [("5", 5), ("300/m", 5), ("1800/h", 0.5), ("0.5/s", 0.5)])
def test_rate_is_in_turns_a_second(text: str, number: float) -> None:
    """As the option writes it."""
    assert rate(text) == number


@pytest.mark.parametrize("text", ["", "x", "0", "-1", "5/d", "nan", "inf", "5/"])
def test_rate_that_is_none_is_refused(text: str) -> None:
    """With what was expected."""
    with pytest.raises(UsageError, match="--rate: expected turns in a second"):
        rate(text)
