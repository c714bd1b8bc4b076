"""The use case of running an agent: plan, drive, record, grade, report."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.agents import endpoints
from rightcall.agents.configuring import EndpointConfig
from rightcall.agents.exchange import Endpoint
from rightcall.agents.pace import Pace
from rightcall.app import driving, files, gates, loading, planning, redaction, reporting, runner, running
from rightcall.app.driving import Give, Stop
from rightcall.app.gates import GateOptions
from rightcall.app.journal import Journal
from rightcall.app.loading import Config
from rightcall.app.matching import Grade, Notes
from rightcall.app.planning import Planned, Selection
from rightcall.app.redaction import Redaction
from rightcall.app.running import Driven, World
from rightcall.app.sinks import Sink
from rightcall.app.tallying import Tally
from rightcall.core.calls import Trajectory
from rightcall.core.results import Gate, Outcome, Result
from rightcall.errors import UsageError, Where
from rightcall.testsets import CompiledTest, TestSet

if TYPE_CHECKING:
    from rightcall.core.redaction.redactor import Redactor

UNSAVED = "this run"
"""How messages name where attempts were recorded that nothing is kept of."""


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to run and how. `tests` are names of files, `endpoint` the agent if the test sets do not say it.

    `config` is the name of a file with keys for whole test sets. With `early_stop`, no further attempt is made at a
    test that is settled.
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


class Ran(reporting.Graded, frozen=True):
    """What a run came to. `attempts` of `planned` ones were made."""

    attempts: int = 0
    planned: int = 0


class Watch:
    """Is told how far a run has come. This one does nothing."""

    def begin(self, planned: int, made: int) -> None:
        """So many attempts are planned, and so many of them were made before."""

    def step(self, outcome: Outcome) -> None:
        """One more attempt was made, and came to this."""

    def pause(self) -> None:
        """Something else is about to be shown."""


def read_suite(name: str, data: bytes, dialect: str | None, config: Config | None) -> Suite:
    """Read a test set and compile its tests; `TestSetError` if it is bad."""
    test_set = loading.parse_tests(data, name, dialect, config)
    return Suite(name, data, test_set, loading.compiled(name, test_set))


def read_suites(request: RunRequest) -> tuple[Suite, ...]:
    """Read the test sets that are named; `UsageError` and `TestSetError` for what cannot be used."""
    files.check_standard_input((*request.tests, *loading.named(request.config)))
    config = loading.read_config(request.config)
    return tuple([read_suite(name, files.read(name), request.dialect, config) for name in request.tests])


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
        running.speaker(compiled.test)
    return Plan(
        suites=tuple(suites),
        tests=tuple(chosen),
        planned=planning.repeats(chosen, asked.repeat),
        agents=_agents(request, suites, {compiled.test.id for compiled in chosen}, agent),
        gate=gates.with_options(gates.strictest(test_set.gate for test_set in sets), request.gate),
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
    test_set, file = suite.test_set, files.shown(suite.file)
    if test_set.endpoint is None:
        message = "has no `endpoint`: say there how the agent is reached, or with --endpoint"
        raise UsageError(message, Where(file=file))
    where = test_set.source.value("endpoint")
    config = endpoints.read(test_set.endpoint, msgspec.structs.replace(where, path=where.path or "endpoint"))
    return Agent(config, os.path.dirname(suite.file))


def described(agent: Agent) -> dict[str, Any]:
    """How an agent is reached, as a test set would say it; of a secret, its name."""
    config = agent.config
    names = (name for name, kind in endpoints.ENDPOINTS.items() if isinstance(config, kind))
    return {next(names, "python"): msgspec.to_builtins(config) if isinstance(config, EndpointConfig) else "an object"}


def opened(agents: Mapping[str, Agent], environment: Mapping[str, str]) -> dict[str, Endpoint]:
    """The agent of each test, ready to be driven; `UsageError` or `EndpointError` for one that cannot be."""
    made = {id(agent): _opened(agent, environment) for agent in {id(one): one for one in agents.values()}.values()}
    return {test: made[id(agent)] for test, agent in agents.items()}


def _opened(agent: Agent, environment: Mapping[str, str]) -> Endpoint:
    if isinstance(agent.config, EndpointConfig):
        return endpoints.open(agent.config, environment, agent.directory)
    return agent.config


class Course:
    """One run on its way: attempts that are still to be made, and what became of the others."""

    def __init__(self, plan: Plan, driven: Driven, tally: Tally, *, early_stop: bool, journal: Journal | None) -> None:
        self._driven = driven
        self._tally = tally
        self._early_stop = early_stop
        self._journal = journal
        self._made = frozenset(() if journal is None else journal.entries)
        self._plan = plan

    def todo(self) -> Iterator[Planned]:
        """The attempts that were not made yet, each told when it is time to make it."""
        for planned in planning.attempts(self._plan.planned, test_by_test=not self._early_stop):
            if planned not in self._made and not (self._early_stop and self._tally.is_settled(planned.test)):
                yield planned

    async def drive(self, give: Give[Finished], stop: Stop) -> None:
        """Make them. Each is in the journal before anything else is done with it."""

        async def record(planned: Planned, trajectory: Trajectory) -> None:
            kept = trajectory
            if self._journal is not None:
                kept = self._journal.add(planned, trajectory, self._driven.world.clock.now())
            await give(Finished(planned, kept))

        await running.drive(self._driven, self.todo(), record, stop)


class Finished(msgspec.Struct, frozen=True):
    """An attempt that has ended, and what was recorded of it."""

    planned: Planned
    trajectory: Trajectory


def run(
    plan: Plan,
    request: RunRequest,
    sinks: Sequence[Sink],
    *,
    identity: str,
    journal: Journal | None = None,
    watch: Watch | None = None,
    stop: Stop | None = None,
    world: World | None = None,
) -> Ran:
    """Make the attempts that are planned and not in the journal, grade all, and report.

    `identity` is the run's. Raises `UsageError` and `EndpointError` for an agent that cannot be driven at all, and
    `StoreError` if the journal cannot be written.
    """
    known_watch, known_stop = watch or Watch(), stop or Stop()
    notes = Notes(warnings=list(plan.warnings))
    driven = Driven(
        run=identity,
        tests={compiled.test.id: compiled.test for compiled in plan.tests},
        endpoints=opened(plan.agents, os.environ),
        planned=plan.planned,
        pace=request.pace,
        world=world or World(),
    )
    file = UNSAVED if journal is None else journal.path
    head = reporting.head_of([suite.test_set for suite in plan.suites], [s.file for s in plan.suites], plan.gate)
    grade_one, redactors = grading(request.redaction, sinks)
    with (
        reporting.beside(request.baseline, head, request.gate.fail_on, redactors) as baseline,
        Tally(plan.tests, plan.planned, file, grade_one, notes) as tally,
    ):
        course = Course(plan, driven, tally, early_stop=request.early_stop, journal=journal)
        results = _results(course, tally, journal, known_watch, known_stop, notes)
        graded = reporting.report(head, results, sinks, notes, baseline)
    return Ran(graded.end, graded.unwritten, attempts=tally.made, planned=sum(plan.planned.values()))


def grading(asked: Redaction, sinks: Sequence[Sink]) -> tuple[Grade, list[Redactor]]:
    """How attempts are graded for these reports, which are given what takes out of them what must not leave."""
    grade_one: Grade = runner.transcribed if any(sink.shows_transcripts for sink in sinks) else runner.attempt
    redactors = reporting.redactors_of(asked, sinks)
    return redaction.noting(grade_one, redactors) if redactors else grade_one, redactors


def _results(
    course: Course, tally: Tally, journal: Journal | None, watch: Watch, stop: Stop, notes: Notes
) -> Iterator[Result]:
    """The result of each test in its order, as soon as all attempts at it and at those before it were made."""
    watch.begin(tally.planned, 0 if journal is None else len(journal.entries))
    if journal is not None:
        for planned, item in journal.finished():
            tally.take(planned, item)

    async def main(give: Give[Finished]) -> None:
        await course.drive(give, stop)

    with contextlib.closing(driving.outside(main)) as live:
        for compiled in tally.tests:
            while not tally.is_complete(compiled.test.id) and (finished := next(live, None)) is not None:
                watch.step(tally.take(finished.planned, finished.trajectory))
            watch.pause()
            yield tally.result(compiled)
    if stop.asked and tally.made < tally.planned:
        notes.warnings.append(f"stopped after {tally.made} of {tally.planned} attempts")
