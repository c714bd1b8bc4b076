"""An agent driven on tests: every attempt a conversation, recorded as soon as it has ended, then graded."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
import traceback
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from rightcall.agents.conversing import Held, Script, Speaker, converse
from rightcall.agents.exchange import Endpoint, Turn
from rightcall.agents.pace import Clock, Pace, Paced, wait_before
from rightcall.agents.personas import PersonaSpeaker
from rightcall.app.running import driving, planning
from rightcall.app.running.driving import Stop
from rightcall.app.running.planning import Planned
from rightcall.core.asking import Asker, no_judge
from rightcall.core.calls import Trajectory
from rightcall.core.failing import CRASH, OURS
from rightcall.core.judging import told
from rightcall.core.wording import times
from rightcall.errors import EndpointError
from rightcall.testsets import Test

SIMULATOR: Final = "simulator"
"""The key of a trajectory's metadata under which stands what its simulated user came from and cost."""

CLOSING: Final = 5.0
"""Seconds that an agent may take to let go of what it holds."""

Record = Callable[[Planned, Trajectory], Awaitable[None]]
"""Keeps a finished attempt."""


class RealClock:
    """The time of this machine."""

    def now(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class World(msgspec.Struct, frozen=True, kw_only=True):
    """Time and chance, as they are handed in. `random` gives numbers from 0 to 1."""

    clock: Clock = RealClock()
    random: Callable[[], float] = random.random


class Driven(msgspec.Struct, frozen=True, kw_only=True):
    """What attempts are made with: the run's id, its tests, the agent of each test, and how fast it is driven.

    `simulators` are the models that play the users of tests with a persona.
    """

    run: str
    tests: Mapping[str, Test]
    endpoints: Mapping[str, Endpoint]
    planned: Mapping[str, int]
    pace: Pace
    world: World
    simulators: Mapping[str, Asker] = {}


def speaker(test: Test, ask: Asker = no_judge) -> Speaker:
    """Who speaks to the agent in one attempt at a test. `ask` reaches the model that plays a persona."""
    return Script(planning.lines(test)) if test.persona is None else PersonaSpeaker(test.persona, ask)


async def drive(driven: Driven, attempts: Iterator[Planned], record: Record, stop: Stop) -> None:
    """Make attempts, several at once, and have each recorded as soon as it has ended. At the end, close the agents."""
    paced = paced_endpoints(driven)

    async def work(planned: Planned) -> None:
        await record(planned, await attempted(planned, paced[id(driven.endpoints[planned.test])], driven))

    try:
        await driving.each(attempts, work, driven.pace.concurrency, stop)
    finally:
        for endpoint in paced.values():
            with contextlib.suppress(TimeoutError):  # what does not close in time is left to the end of the program
                async with asyncio.timeout(CLOSING):
                    await endpoint.close()


def paced_endpoints(driven: Driven) -> dict[int, Paced]:
    """Each agent by its identity, with a throttle of its own."""
    return {id(agent): Paced(agent, driven.pace, driven.world.clock) for agent in driven.endpoints.values()}


async def attempted(planned: Planned, endpoint: Endpoint, driven: Driven) -> Trajectory:
    """One attempt: a conversation, begun anew after trouble that passes, as often as the pace allows."""
    warnings: list[str] = []
    tries = 1
    while True:
        held = await _held(planned, tries, endpoint, driven)
        wait = None if held.trouble is None else wait_before(tries, held.trouble, driven.pace, driven.world.random)
        if held.trouble is None or wait is None:
            return _named(planned, held, tries, warnings, driven)
        warnings.append(f"begun anew, and what the agent had done by then may have had effects: {held.trouble}")
        tries += 1
        await driven.world.clock.sleep(wait)


async def _held(planned: Planned, tries: int, endpoint: Endpoint, driven: Driven) -> Held:
    test = driven.tests[planned.test]
    identity = attempt_id(driven.run, planned, tries)
    opening = Turn(input=None, attempt=identity, test=test.id, metadata=test.metadata)
    held: Held | None = None
    user = speaker(test, driven.simulators.get(test.id, no_judge))
    try:
        async with endpoint.conversation() as conversation:
            held = await converse(conversation, user, opening)
    except EndpointError as error:
        # That a conversation cannot be ended does not take back what was answered in it.
        held = Held(Trajectory(), error) if held is None else held
    except BaseException as error:
        if _is_ending(error):
            raise
        held = Held(Trajectory(), _Crashed(error))
    known = held.trajectory.conversation_id or identity
    metadata = {**held.trajectory.metadata, **_spent(user)}
    return Held(replace(held.trajectory, conversation_id=known, metadata=metadata), held.trouble)


def _is_ending(error: BaseException) -> bool:
    """Whether an attempt is ended from outside. A cancellation that nobody asked for is a mistake on the way."""
    task = asyncio.current_task()
    is_asked = task is not None and task.cancelling() > 0
    return isinstance(error, GeneratorExit) or (isinstance(error, asyncio.CancelledError) and is_asked)


class _Crashed(EndpointError):
    """A mistake of ours, as the trouble that ended a conversation. `way` is where in the code it was made."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"rightcall itself failed ({told(error)}); please report it")
        self.way = "".join(traceback.format_tb(error.__traceback__))


def _spent(user: Speaker) -> dict[str, Any]:
    """What a simulated user cost, for whoever asks the record."""
    spent = user.spent() if isinstance(user, PersonaSpeaker) else {}
    return {SIMULATOR: spent} if spent else {}


def attempt_id(run: str, planned: Planned, tries: int) -> str:
    """An id that no other try of any attempt of any run has, the same wherever it is made."""
    name = "\0".join((run, planned.test, str(planned.number), str(tries)))
    # An id of a test may hold what is no Unicode: its bytes are taken as they are.
    return str(uuid.uuid5(_SPACE, name.encode("utf-8", "surrogatepass").decode("latin-1")))


_SPACE: Final = uuid.UUID("6f1c8a52-7d0b-4a3e-9d5f-2b60c1f0a7e4")


def _named(planned: Planned, held: Held, tries: int, warnings: Sequence[str], driven: Driven) -> Trajectory:
    """The trajectory with the names of its test and attempt, and with what became of it on the way."""
    made = held.trajectory
    trouble = None if held.trouble is None else str(held.trouble)
    if trouble is not None and tries > 1:
        trouble = f"{trouble}; tried {times(tries)}"
    is_only = driven.planned[planned.test] == 1
    return replace(
        made,
        id=planned.test if is_only else f"{planned.test}#{planned.number}",
        test_id=planned.test,
        trouble=trouble or made.trouble,
        warnings=(*made.warnings, *warnings),
        metadata={**made.metadata, OURS: {"attempt": planned.number, "tries": tries, **_crash(held)}},
    )


def _crash(held: Held) -> dict[str, str]:
    return {CRASH: held.trouble.way} if isinstance(held.trouble, _Crashed) else {}
