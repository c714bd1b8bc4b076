"""The use case of running an agent: drive it, record what it does, grade and report."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from rightcall.app import ahead, reporting
from rightcall.app.matching import Notes
from rightcall.app.reporting import Graded
from rightcall.app.running import attempting, driving, planning
from rightcall.app.running.attempting import Driven, World
from rightcall.app.running.driving import Give, Stop
from rightcall.app.running.journal import Journal
from rightcall.app.running.planning import Planned
from rightcall.app.running.preparing import Crew, Plan, RunRequest, Suite
from rightcall.app.running.tallying import Tally
from rightcall.app.service import GradeRequest
from rightcall.app.sinks import Sink
from rightcall.core.calls import Trajectory
from rightcall.core.results import Outcome, Result
from rightcall.core.summary import Gate

if TYPE_CHECKING:
    from rightcall.core.redaction.redactor import Redactor

UNSAVED = "this run"
"""How messages name where attempts were recorded that nothing is kept of."""

BETWEEN_LOOKS: Final = 0.002
"""Seconds between two looks whether an attempt was graded, where that decides what is done next."""


class Ran(Graded, frozen=True):
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


class Course:
    """One run on its way: attempts that are still to be made, and what became of the others."""

    def __init__(self, plan: Plan, driven: Driven, tally: Tally, *, early_stop: bool, journal: Journal | None) -> None:
        self._driven = driven
        self._tally = tally
        self._early_stop = early_stop
        self._journal = journal
        self._made = frozenset(() if journal is None else journal.entries)
        self._plan = plan
        self._tests = {compiled.test.id: compiled for compiled in plan.tests}

    def take_kept(self) -> None:
        """Grade the attempts that are in the journal."""
        for planned, item in () if self._journal is None else self._tally.begun(self._journal.finished()):
            self._tally.take(planned, item)

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
            ahead.begin(kept, self._tests[planned.test])
            await give(Finished(planned, kept))
            while self._early_stop and not self._tally.has(planned):
                await asyncio.sleep(BETWEEN_LOOKS)  # what is graded elsewhere decides whether there is a next one

        await attempting.drive(self._driven, self.todo(), record, stop)


class Finished(msgspec.Struct, frozen=True):
    """An attempt that has ended, and what was recorded of it."""

    planned: Planned
    trajectory: Trajectory


class Begun(msgspec.Struct, frozen=True):
    """A run that is about to go: what its reports will say, its attempts, and what is done to make them."""

    notes: Notes
    tally: Tally
    course: Course
    made: int

    def end(self, graded: Graded) -> Ran:
        """What it came to."""
        return Ran(graded.end, graded.unwritten, attempts=self.tally.made, planned=self.tally.planned)


def begin(
    plan: Plan,
    request: RunRequest,
    crew: Crew,
    identity: str,
    journal: Journal | None = None,
    world: World | None = None,
) -> Begun:
    """Make a run ready to go; `identity` is its own."""
    driven = Driven(
        run=identity,
        tests={compiled.test.id: compiled.test for compiled in plan.tests},
        endpoints=crew.agents,
        planned=plan.planned,
        pace=request.pace,
        world=world or World(),
        simulators=crew.simulators,
    )
    tally = Tally(plan.tests, plan.planned, UNSAVED if journal is None else journal.path)
    course = Course(plan, driven, tally, early_stop=request.early_stop, journal=journal)
    made = 0 if journal is None else len(journal.entries)
    return Begun(Notes(warnings=list(plan.warnings)), tally, course, made)


def run(plan: Plan, request: RunRequest, begun: Begun, sinks: Sequence[Sink], watch: Watch, stop: Stop) -> Ran:
    """Make the attempts that are planned and not in the journal, grade all, and report.

    Raises `StoreError` if the journal cannot be written.
    """
    results = _results(begun, watch, stop)
    return begun.end(report(plan.suites, plan.gate, request, begun.tally, results, sinks, begun.notes))


async def run_here(plan: Plan, request: RunRequest, begun: Begun, sinks: Sequence[Sink]) -> Ran:
    """Do the same in the event loop that is running; grading is done in threads."""
    tally, lock = begun.tally, asyncio.Lock()
    ready(request, tally, sinks, begun.notes)

    async def take(finished: Finished) -> None:
        async with lock:
            await asyncio.to_thread(tally.take, finished.planned, finished.trajectory)

    with tally:
        begun.course.take_kept()
        await begun.course.drive(take, Stop())
        results = map(tally.result, tally.tests)
        return begun.end(report(plan.suites, plan.gate, request, tally, results, sinks, begun.notes))


def ready(request: RunRequest | GradeRequest, tally: Tally, sinks: Sequence[Sink], notes: Notes) -> list[Redactor]:
    """Have a tally grade as these reports need it; return what is taken out of them."""
    notes.counts.update(compiled.test.count for compiled in tally.tests)
    tally.grade_one, redactors = reporting.grading(request.redaction, sinks)
    return redactors


def report(
    suites: Sequence[Suite],
    gate: Gate,
    request: RunRequest | GradeRequest,
    tally: Tally,
    results: Iterator[Result],
    sinks: Sequence[Sink],
    notes: Notes,
) -> Graded:
    """Report results that a tally gives, graded, hidden and compared as the request says."""
    redactors = ready(request, tally, sinks, notes)
    head = reporting.head_of([suite.test_set for suite in suites], [suite.file for suite in suites], gate)
    with tally, reporting.beside(request.baseline, head, request.gate.fail_on, redactors) as baseline:
        return reporting.report(head, results, sinks, notes, baseline)


def _results(begun: Begun, watch: Watch, stop: Stop) -> Iterator[Result]:
    """The result of each test in its order, as soon as all attempts at it and at those before it were made."""
    tally, course = begun.tally, begun.course
    watch.begin(tally.planned, begun.made)
    course.take_kept()

    async def main(give: Give[Finished]) -> None:
        await course.drive(give, stop)

    with contextlib.closing(driving.outside(main)) as live:
        for compiled in tally.tests:
            while not tally.is_complete(compiled.test.id) and (finished := next(live, None)) is not None:
                # Whoever stops a run does not wait for judges; what is in the journal can be judged later.
                take = tally.leave if stop.asked and tally.asks(finished.planned) else tally.take
                watch.step(take(finished.planned, finished.trajectory))
            watch.pause()
            yield tally.result(compiled)
    if stop.asked and tally.made < tally.planned:
        begun.notes.warnings.append(f"stopped after {tally.made} of {tally.planned} attempts")
