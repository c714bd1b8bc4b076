"""Attempts: conversations that are begun anew after trouble, several at once, each recorded when it has ended."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from rightcall.agents.exchange import Reply, Turn
from rightcall.agents.pace import Pace
from rightcall.app.running import driving
from rightcall.app.running.attempting import Driven, World, attempt_id, drive
from rightcall.app.running.driving import Stop, each, outside
from rightcall.app.running.planning import Planned
from rightcall.core.calls import Trajectory
from rightcall.errors import EndpointError
from rightcall.testsets import Test
from support.driving import Answer, FakeClock, FakeEndpoint
from support.grading import call

DONE = Reply(output="ok", tool_calls=(call("a"),))


def driven(agent: FakeEndpoint, *tests: Test, repeat: int = 1, **pace: Any) -> tuple[Driven, FakeClock]:
    clock = FakeClock()
    made = Driven(
        run="run-1",
        tests={test.id: test for test in tests},
        endpoints={test.id: agent for test in tests},
        planned={test.id: repeat for test in tests},
        pace=Pace(**pace),
        world=World(clock=clock, random=lambda: 0.5),
    )
    return made, clock


def recorded(run: Driven, attempts: Iterator[Planned], stop: Stop | None = None) -> dict[Planned, Trajectory]:
    """What is recorded of these attempts."""
    found: dict[Planned, Trajectory] = {}

    async def record(planned: Planned, trajectory: Trajectory) -> None:
        assert planned not in found
        found[planned] = trajectory

    asyncio.run(drive(run, attempts, record, stop or Stop()))
    return found


def once(answer: Answer, test: Test, **pace: Any) -> tuple[Trajectory, FakeEndpoint, FakeClock]:
    """One attempt at a test."""
    agent = FakeEndpoint(answer)
    run, clock = driven(agent, test, **pace)
    (made,) = recorded(run, iter([Planned(test.id, 1)])).values()
    return made, agent, clock


def failing_first(times: int, error: EndpointError, at_turn: int = 1) -> Answer:
    """An agent with trouble in so many conversations, at that turn."""
    left = [times]

    def answer(turn: Turn) -> Reply:
        if left[0] and turn.number == at_turn:
            left[0] -= 1
            raise error
        return DONE

    return answer


def test_conversation_is_begun_anew_never_resumed_half() -> None:
    """Trouble in the second turn: the third conversation begins with the first turn again, each under its own id."""
    test = Test(id="t", turns=("one", "two"))
    reset = EndpointError("reset", is_passing=True)
    made, agent, clock = once(failing_first(2, reset, at_turn=2), test, retries=2)
    assert [[turn.input for turn in turns] for turns in agent.conversations] == [["one", "two"]] * 3
    assert len({turn.attempt for turns in agent.conversations for turn in turns}) == 3
    assert [len({turn.attempt for turn in turns}) for turns in agent.conversations] == [1, 1, 1]
    assert [one.name for one in made.tool_calls or ()] == ["a", "a"]
    assert made.metadata == {"rightcall": {"attempt": 1, "tries": 3}}
    assert clock.slept == [0.25, 0.5]


def test_tries_are_told_for_they_may_have_had_effects() -> None:
    """A note on the attempt says so for each of them."""
    made, _, _ = once(failing_first(1, EndpointError("status 503", is_passing=True)), Test(id="t", prompt="hi"))
    told = "begun anew, and what the agent had done by then may have had effects: status 503"
    assert (made.warnings, made.trouble) == ((told,), None)


def test_trouble_after_all_tries_is_the_attempts() -> None:
    """It says what it was, and how often it was tried; calls until then are kept (G38)."""
    test = Test(id="t", turns=("one", "two"))
    made, agent, _ = once(failing_first(9, EndpointError("status 429", is_passing=True), at_turn=2), test, retries=2)
    assert made.trouble == "status 429; tried 3 times"
    assert [one.name for one in made.tool_calls or ()] == ["a"]
    assert len(agent.conversations) == 3


def test_trouble_that_does_not_pass_is_not_tried_again() -> None:
    """Neither is a failure of the agent (G38)."""
    test = Test(id="t", prompt="hi")
    made, agent, _ = once(failing_first(9, EndpointError("status 401")), test)
    assert (made.trouble, len(agent.conversations)) == ("status 401", 1)
    failed, agent, _ = once(lambda turn: Reply(error="no stock"), test)
    assert (failed.failure, failed.trouble, len(agent.conversations)) == ("no stock", None, 1)


@pytest.mark.parametrize(
    "crash", [ZeroDivisionError("of all things"), asyncio.CancelledError("of all things"), SystemExit("of all things")]
)
def test_crash_of_ours_is_trouble_of_that_attempt_alone(crash: BaseException) -> None:
    """It is no failure of the agent, and the others go on, also where it is one that ends tasks or programs."""

    def answer(turn: Turn) -> Reply:
        if turn.test == "bad":
            raise crash
        return DONE

    agent = FakeEndpoint(answer)
    run, _ = driven(agent, Test(id="bad", prompt="x"), Test(id="good", prompt="x"), concurrency=1)
    made = recorded(run, iter([Planned("bad", 1), Planned("good", 1)]))
    told = {planned.test: trajectory.trouble for planned, trajectory in made.items()}
    assert told["good"] is None
    assert f"{type(crash).__name__}: of all things" in str(told["bad"])
    assert agent.is_closed


def test_trajectories_have_the_names_of_their_attempts() -> None:
    """One attempt is called as its test, several are numbered; no two share a conversation."""
    agent = FakeEndpoint(lambda turn: Reply(output="x", metadata={"rightcall": "mine", "k": 1}))
    run, _ = driven(agent, Test(id="t", prompt="hi", metadata={"m": 1}), repeat=2)
    made = recorded(run, iter([Planned("t", 1), Planned("t", 2)]))
    assert [(one.id, one.test_id, one.metadata) for one in made.values()] == [
        (f"t#{number}", "t", {"k": 1, "rightcall": {"attempt": number, "tries": 1}}) for number in (1, 2)
    ]
    assert [one.conversation_id for one in made.values()] == [attempt_id("run-1", planned, 1) for planned in made]
    assert [turns[0].metadata for turns in agent.conversations] == [{"m": 1}] * 2


def test_ids_of_attempts_differ_in_everything() -> None:
    """By run, test, number and try, and are the same wherever they are made."""
    ids = [
        attempt_id(run, Planned(test, number), tries)
        for run in ("r", "s")
        for test in ("t", "u", "t\0", "\ud800")
        for number in (1, 2, 11)
        for tries in (1, 2)
    ]
    assert len(set(ids)) == len(ids)
    assert attempt_id("r", Planned("t", 1), 1) == "00a9ddc1-7f28-59f8-9ce0-8567e82020b9"


def test_attempts_are_begun_as_others_end() -> None:
    """No more conversations are open than asked for, and no attempt is looked for before there is room for it."""
    asked, most = 0, [0]

    def attempts() -> Iterator[Planned]:
        nonlocal asked
        for number in range(1, 41):
            asked += 1
            yield Planned("t", number)

    async def answer(turn: Turn) -> Reply:
        most[0] = max(most[0], agent.open)
        assert asked - len(ended) <= 4
        await asyncio.sleep(0)
        ended.append(turn)
        return DONE

    ended: list[Turn] = []
    agent = FakeEndpoint(answer)
    run, _ = driven(agent, Test(id="t", prompt="hi"), repeat=40, concurrency=4)
    assert len(recorded(run, attempts())) == 40
    assert most == [4]


def test_stopping_begins_nothing_more() -> None:
    """What has ended stays; nothing is begun after it."""
    stop = Stop()

    def answer(turn: Turn) -> Reply:
        if len(agent.conversations) == 3:
            stop.ask()
        return DONE

    agent = FakeEndpoint(answer)
    run, _ = driven(agent, Test(id="t", prompt="hi"), repeat=9, concurrency=1)
    made = recorded(run, (Planned("t", number) for number in range(1, 10)), stop)
    assert [planned.number for planned in made] == [1, 2, 3]


def test_what_the_work_raises_ends_it_all() -> None:
    """A journal that cannot be written ends the run, and the others are cancelled."""
    cancelled = []

    async def work(number: int) -> None:
        if number == 2:
            raise OSError("disk full")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(number)
            raise

    with pytest.raises(OSError, match="disk full"):
        asyncio.run(each([0, 1, 2, 3], work, 4, Stop()))
    assert sorted(cancelled) == [0, 1, 3]


def test_things_come_out_of_the_event_loop_until_nobody_asks() -> None:
    """Whoever stops asking ends what makes them."""
    ended = []

    async def main(give: Any) -> None:
        try:
            for number in range(1_000_000):
                await give(number)
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            ended.append(True)
            raise

    made = outside(main)
    assert [next(made), next(made)] == [0, 1]
    made.close()
    assert ended == [True]


def test_what_is_raised_in_the_event_loop_is_raised_outside() -> None:
    """After what came before it."""

    async def main(give: Any) -> None:
        await give(1)
        raise ValueError("inside")

    made = outside(main)
    assert next(made) == 1
    with pytest.raises(ValueError, match="inside"):
        next(made)


def test_end_does_not_wait_for_what_hangs_while_the_event_loop_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was made is there; a task that cannot be cancelled keeps only itself waiting."""
    monkeypatch.setattr(driving, "GRACE", 0.01)
    gate = threading.Event()

    async def stubborn() -> None:
        while not gate.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0)

    async def main(give: Any) -> None:
        kept.append(asyncio.ensure_future(stubborn()))
        await give(1)

    kept: list[asyncio.Future[None]] = []
    made = outside(main)
    try:
        assert list(made) == [1]
    finally:
        gate.set()
