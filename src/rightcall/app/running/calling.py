"""What Python programs call to run an agent: a function, or whatever a test set says, on tests of a file or of data."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from rightcall.agents import endpoints
from rightcall.agents.exchange import Endpoint
from rightcall.agents.pace import Pace
from rightcall.app import judging, suites
from rightcall.app.judging import JudgeOptions
from rightcall.app.running import keeping, live, preparing
from rightcall.app.running.driving import Stop
from rightcall.app.running.live import Begun, Watch
from rightcall.app.running.planning import Selection
from rightcall.app.running.preparing import Plan, RunRequest, Suite
from rightcall.app.sinks import Sink
from rightcall.core.results import Result
from rightcall.core.summary import RunEnd
from rightcall.errors import UsageError

DATA = "<tests>"
"""How messages name tests that are in no file."""


class Run(msgspec.Struct, frozen=True):
    """What a run came to: every result by the id of its test, and the decision. `directory` is where it is kept."""

    results: Mapping[str, Result]
    end: RunEnd
    directory: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the gate lets it pass."""
        return self.end.decision.passed


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a program asks for; as the options of `rightcall run`."""

    judge: JudgeOptions = JudgeOptions()
    filters: tuple[str, ...] = ()
    repeat: int | None = None
    early_stop: bool = False
    pace: Pace = Pace()
    directory: str | None = None


def asked(
    filters: Sequence[str],
    repeat: int | None,
    early_stop: bool,
    concurrency: int,
    rate: float | None,
    timeout: float | None,
    retries: int,
    directory: str | None,
    judge: Any,
) -> Asked:
    """What the arguments of `rightcall.run` ask for; `UsageError` for a number that cannot be."""
    numbers = {"repeat": repeat, "concurrency": concurrency, "rate": rate, "timeout": timeout}
    for name, number in numbers.items():
        if number is not None and not number > 0:
            raise UsageError(f"{name}: expected a number above 0, found {number!r}")
    if retries < 0:
        raise UsageError(f"retries: expected 0 or more, found {retries!r}")
    pace = Pace(concurrency=concurrency, rate=rate, timeout=timeout, retries=retries)
    return Asked(
        filters=tuple(filters),
        repeat=repeat,
        early_stop=early_stop,
        pace=pace,
        directory=directory,
        judge=judging.options_of(judge),
    )


class _Run(msgspec.Struct, frozen=True):
    """A run that is about to go, and where its results go."""

    plan: Plan
    request: RunRequest
    begun: Begun
    sinks: Sequence[Sink]
    finish: Callable[[RunEnd], suites.Suite]
    directory: str | None

    def end(self, ran: live.Ran) -> Run:
        """What it came to."""
        kept = self.finish(ran.end)
        return Run(kept.results, kept.end, self.directory)


def run(tests: Any, agent: Any, asked: Asked) -> Run:
    """Run an agent in an event loop of its own: see `rightcall.run`."""
    with _opened(tests, agent, asked) as going:
        return going.end(live.run(going.plan, going.request, going.begun, going.sinks, Watch(), Stop()))


async def run_async(tests: Any, agent: Any, asked: Asked) -> Run:
    """Run an agent in the event loop that is running: see `rightcall.run_async`."""
    with _opened(tests, agent, asked) as going:
        return going.end(await live.run_here(going.plan, going.request, going.begun, going.sinks))


@contextlib.contextmanager
def _opened(tests: Any, agent: Any, asked: Asked) -> Iterator[_Run]:
    suite = _suite(tests, asked.judge)
    request = RunRequest(
        tests=(suite.file,),
        endpoint=agent if isinstance(agent, str) else None,
        selection=Selection(filters=asked.filters, repeat=asked.repeat),
        pace=asked.pace,
        early_stop=asked.early_stop,
        judge=asked.judge,
    )
    plan = preparing.plan(request, [suite], agent=_endpoint(agent))
    crew = preparing.crew(plan, request)
    now = datetime.now(UTC)
    identity = keeping.new_identity(now, secrets.token_bytes(3))
    sink, finish = suites.keeper(request.redaction)
    if asked.directory is None:
        yield _Run(plan, request, live.begin(plan, request, crew, identity), [sink], finish, None)
        return
    directory = keeping.begin(plan, request, asked.directory, identity, now)
    with keeping.opened(directory, [sink]) as (journal, sinks):
        yield _Run(plan, request, live.begin(plan, request, crew, identity, journal), sinks, finish, directory)


def _suite(tests: Any, judge: JudgeOptions) -> Suite:
    """The test set that a path names, or that data says: a mapping with `tests`, or a list of tests."""
    if isinstance(tests, str | os.PathLike):
        return preparing.read_suites(RunRequest(tests=(os.fspath(tests),), judge=judge))[0]
    data = {"version": 1, "tests": tests} if isinstance(tests, list | tuple) else tests
    if not isinstance(data, Mapping):
        kind = type(tests).__name__
        raise UsageError(f"expected tests: a path, a mapping with `tests`, or a list of tests; found {kind}")
    try:
        return preparing.read_suite(DATA, msgspec.json.encode(data), None, None, judge)
    except TypeError as error:
        raise UsageError(f"tests that are run are JSON data, or a path: {error}") from None


def _endpoint(agent: Any) -> Endpoint | None:
    """The agent that a program gives: a function, or an endpoint of its own making. Text says how it is reached."""
    if agent is None or isinstance(agent, str):
        return None
    if hasattr(agent, "conversation") and hasattr(agent, "close"):
        endpoint: Endpoint = agent
        return endpoint
    if not callable(agent):
        raise UsageError(f"expected an agent: a function, or text such as `python:agent.py:answer`; found {agent!r}")
    return endpoints.of(agent)
