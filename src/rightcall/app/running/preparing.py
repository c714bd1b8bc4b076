"""What a run is made with: test sets, which of their tests are run and how often, and how their agents are reached."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from rightcall.agents import endpoints
from rightcall.agents.configuring import EndpointConfig
from rightcall.agents.exchange import Endpoint
from rightcall.agents.pace import Pace
from rightcall.app import files, gates, judging, loading
from rightcall.app.gates import GateOptions
from rightcall.app.judging import JudgeOptions, SimulatorOptions
from rightcall.app.loading import Config
from rightcall.app.redaction import Redaction
from rightcall.app.running import attempting, planning, reaching
from rightcall.app.running.planning import Selection
from rightcall.app.sinks import Sink, check_apart
from rightcall.core.asking import Asker
from rightcall.core.summary import Gate
from rightcall.errors import UsageError
from rightcall.testsets import CompiledTest, TestSet


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to run and how. `tests` are names of files, `endpoint` the agent if the test sets do not say it.

    `config` is the name of a file with keys for whole test sets. With `early_stop`, no further attempt is made at a
    test that is settled. Without `judge` nothing is judged by a model.
    """

    tests: tuple[str, ...]
    dialect: str | None = None
    config: str | None = None
    endpoint: str | None = None
    selection: Selection = Selection()
    pace: Pace = Pace()
    early_stop: bool = False
    gate: GateOptions = GateOptions()
    redaction: Redaction = Redaction()
    judge: JudgeOptions | None = JudgeOptions()
    simulator: SimulatorOptions = SimulatorOptions()
    baseline: str | None = None


class Suite(msgspec.Struct, frozen=True):
    """A test set that is run: the name of its file, its bytes, what they say, and its tests, ready to check."""

    file: str
    data: bytes
    test_set: TestSet
    tests: tuple[CompiledTest, ...]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be run: everything is read, and nothing has been sent.

    `tests` are those that were selected, in their order, `planned` how many attempts are made at each of them, and
    `agents` says how the agent of each is reached.
    """

    suites: tuple[Suite, ...]
    tests: tuple[CompiledTest, ...]
    planned: Mapping[str, int]
    agents: Mapping[str, Agent]
    gate: Gate
    warnings: tuple[str, ...] = ()


class Agent(msgspec.Struct, frozen=True):
    """How an agent is reached: as it is described, and the directory that paths in it are relative to."""

    config: EndpointConfig | Endpoint
    directory: str = ""


def read_suite(
    name: str, data: bytes, dialect: str | None, config: Config | None, judge: JudgeOptions | None = None
) -> Suite:
    """Read a test set and compile its tests; `TestSetError` if it is bad. `judge` is what is said of one outside."""
    test_set = loading.parse_tests(data, name, dialect, config)
    return Suite(name, data, test_set, loading.compiled(name, test_set, judge))


def read_suites(request: RunRequest) -> tuple[Suite, ...]:
    """Read the test sets that are named; `UsageError` and `TestSetError` for what cannot be used."""
    files.check_standard_input((*request.tests, *loading.named(request.config)))
    config = loading.read_config(request.config)
    return tuple([read_suite(name, files.read(name), request.dialect, config, request.judge) for name in request.tests])


def check_reports(request: RunRequest, sinks: Sequence[Sink]) -> None:
    """Refuse reports that would take the place of what is read; `UsageError`."""
    gates.check_baseline(request.gate, request.baseline)
    reading = (*request.tests, *loading.named(request.config), *loading.named(request.baseline))
    check_apart(reading, sinks)


def plan(
    request: RunRequest,
    suites: Sequence[Suite],
    failed: Callable[[], frozenset[str] | None] = lambda: None,
    agent: Endpoint | None = None,
) -> Plan:
    """Decide what is run. `failed` gives the ids of the tests that did not pass the last time, `None` for no last time.

    `UsageError` and `TestSetError` for what cannot be run; secrets are not looked up, and nothing is sent.
    """
    sets = [suite.test_set for suite in suites]
    loading.check_ids(sets)
    tests = [test for suite in suites for test in suite.tests]
    asked = request.selection
    chosen = planning.selected(tests, asked, failed() if asked.order != "as_written" else None)
    for compiled in chosen:
        attempting.speaker(compiled.test)  # a test that says nothing is refused now
    return Plan(
        suites=tuple(suites),
        tests=tuple(chosen),
        planned=planning.repeats(chosen, asked.repeat),
        agents=_agents(request, suites, {compiled.test.id for compiled in chosen}, agent),
        gate=gates.of(sets, request.gate),
        warnings=tuple(loading.warnings_of(sets)),
    )


def _agents(request: RunRequest, suites: Sequence[Suite], chosen: set[str], agent: Endpoint | None) -> dict[str, Agent]:
    """How the agent of each test is reached: as it is given, as the command line says, or as its test set does."""
    given = None if agent is None else Agent(agent)
    if given is None and request.endpoint is not None:
        given = Agent(endpoints.read(request.endpoint))
    found: dict[str, Agent] = {}
    for suite in suites:
        wanted = [compiled.test.id for compiled in suite.tests if compiled.test.id in chosen]
        if wanted:
            found |= dict.fromkeys(wanted, given or _own_agent(suite))
    return found


def _own_agent(suite: Suite) -> Agent:
    return Agent(*reaching.of_test_set(suite.test_set, suite.file))


def simulators(plan: Plan, request: RunRequest) -> dict[str, Asker]:
    """The model that plays the user of each test with a persona; `UsageError` if there is none that can be used."""
    found: dict[str, Asker] = {}
    chosen = {compiled.test.id for compiled in plan.tests}
    for suite in plan.suites:
        personas = [one.test for one in suite.tests if one.test.persona is not None and one.test.id in chosen]
        if personas:
            folder = os.path.dirname(suite.file)
            model = judging.simulator_for(request.simulator, request.judge or JudgeOptions(), suite.test_set, folder)
            if model is None:
                raise UsageError(
                    f"no model plays the user of the test `{personas[0].id}`: name one with --simulator, --judge, or "
                    "`simulator` in the test set",
                    personas[0].where,
                )
            found |= dict.fromkeys((test.id for test in personas), model.open())
    return found


def described(agent: Agent) -> dict[str, Any]:
    """How an agent is reached, as a test set would say it; of a secret, its name."""
    config = agent.config
    names = (name for name, kind in endpoints.ENDPOINTS.items() if isinstance(config, kind))
    return {next(names, "python"): msgspec.to_builtins(config) if isinstance(config, EndpointConfig) else "an object"}


class Crew(msgspec.Struct, frozen=True):
    """Who takes part in a run, by the id of the test: the agents, and the models that play users."""

    agents: Mapping[str, Endpoint]
    simulators: Mapping[str, Asker] = {}


def crew(plan: Plan, request: RunRequest) -> Crew:
    """Open them, with secrets of the environment; `UsageError` or `EndpointError` for one that cannot be driven."""
    return Crew(opened(plan.agents, os.environ), simulators(plan, request))


def opened(agents: Mapping[str, Agent], environment: Mapping[str, str]) -> dict[str, Endpoint]:
    """The agent of each test, ready to be driven; `UsageError` or `EndpointError` for one that cannot be."""
    made = {id(agent): _opened(agent, environment) for agent in {id(one): one for one in agents.values()}.values()}
    return {test: made[id(agent)] for test, agent in agents.items()}


def _opened(agent: Agent, environment: Mapping[str, str]) -> Endpoint:
    if isinstance(agent.config, EndpointConfig):
        return endpoints.open(agent.config, environment, agent.directory)
    return agent.config
