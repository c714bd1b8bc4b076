"""The use case of running an agent: drive it, record what it does, grade and report."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence

import msgspec

from rightcall.app import driving, planning, preparing, redaction, reporting, runner, running
from rightcall.app.driving import Give, Stop
from rightcall.app.journal import Journal
from rightcall.app.matching import Notes
from rightcall.app.planning import Planned
from rightcall.app.preparing import Plan, RunRequest, Suite
from rightcall.app.reporting import Graded
from rightcall.app.running import Driven, World
from rightcall.app.service import GradeRequest
from rightcall.app.sinks import Sink
from rightcall.app.tallying import Tally
from rightcall.core.calls import Trajectory
from rightcall.core.results import Gate, Outcome, Result

UNSAVED = "this run"
"""How messages name where attempts were recorded that nothing is kept of."""


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
        endpoints=preparing.opened(plan.agents, os.environ),
        planned=plan.planned,
        pace=request.pace,
        world=world or World(),
    )
    tally = Tally(plan.tests, plan.planned, UNSAVED if journal is None else journal.path)
    course = Course(plan, driven, tally, early_stop=request.early_stop, journal=journal)
    results = _results(course, tally, journal, known_watch, known_stop, notes)
    graded = report(plan.suites, plan.gate, request, tally, results, sinks, notes)
    return Ran(graded.end, graded.unwritten, attempts=tally.made, planned=tally.planned)


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
    notes.counts.update(compiled.test.count for compiled in tally.tests)
    head = reporting.head_of([suite.test_set for suite in suites], [suite.file for suite in suites], gate)
    redactors = reporting.redactors_of(request.redaction, sinks)
    tally.grade_one = runner.transcribed if any(sink.shows_transcripts for sink in sinks) else runner.attempt
    if redactors:
        tally.grade_one = redaction.noting(tally.grade_one, redactors)
    with tally, reporting.beside(request.baseline, head, request.gate.fail_on, redactors) as baseline:
        return reporting.report(head, results, sinks, notes, baseline)


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
