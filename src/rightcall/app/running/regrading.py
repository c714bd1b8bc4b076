"""Runs of agents graded again, without the agent: with the test sets that were kept, or with others."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from rightcall.app import files, gates, loading
from rightcall.app.matching import Notes
from rightcall.app.reporting import Graded
from rightcall.app.running import journal, keeping, live, preparing
from rightcall.app.running.journal import Entry
from rightcall.app.running.planning import Planned
from rightcall.app.running.preparing import Suite
from rightcall.app.running.tallying import Tally
from rightcall.app.service import GradeRequest, Watch
from rightcall.app.sinks import Sink, check_apart
from rightcall.core.results import Result
from rightcall.errors import UsageError, Where


def grade(request: GradeRequest, sinks: Sequence[Sink], watch: Watch | None = None) -> Graded:
    """Grade the run that is the only one of the traces. What was planned and not made could not be judged."""
    directory = _only_run(request)
    head = journal.read_head(directory)
    suites = keeping.kept_suites(directory, head, request.judge) if not request.tests else _given_suites(request)
    sets = [suite.test_set for suite in suites]
    loading.check_ids(sets)
    gates.check_baseline(request.gate, request.baseline)
    path = os.path.join(directory, journal.ATTEMPTS)
    reading = [path, *request.tests, *loading.named(request.config), *loading.named(request.baseline)]
    check_apart(reading, sinks)
    known = {compiled.test.id: compiled for suite in suites for compiled in suite.tests}
    wanted = known if request.tests else {identity: known[identity] for identity in head.planned}
    notes = Notes(warnings=list(loading.warnings_of(sets)))
    tally = Tally(list(wanted.values()), head.planned, path)
    results = _results(tally, path, watch or Watch(), notes)
    return live.report(suites, gates.of(sets, request.gate), request, tally, results, sinks, notes)


def _only_run(request: GradeRequest) -> str:
    """The directory of the run; `UsageError` for what cannot be asked of one."""
    directory = next(filter(files.is_run, request.traces))
    if len(request.traces) > 1:
        raise UsageError("is a run, which is graded by itself; name nothing beside it", Where(file=directory))
    options = {
        "--apply-all": request.apply_all,
        "--test-id-key": request.id_key is not None,
        "--format": request.format is not None,
        "--group-by": request.group_by is not None,
    }
    for option, is_given in options.items():
        if is_given:
            raise UsageError(f"is a run, whose attempts know their tests; leave {option} out", Where(file=directory))
    return directory


def _given_suites(request: GradeRequest) -> tuple[Suite, ...]:
    config = loading.read_config(request.config)
    return tuple(
        preparing.read_suite(name, files.read(name), request.dialect, config, request.judge) for name in request.tests
    )


def _results(tally: Tally, path: str, watch: Watch, notes: Notes) -> Iterator[Result]:
    """The results of all tests in their order; attempts at tests that are not among them are noted."""
    found = journal.entries(path)
    known = {compiled.test.id for compiled in tally.tests}
    for planned, item in tally.begun(journal.read(path, _of(found, known))):
        watch.step()
        tally.take(planned, item)
    notes.unused.extend(dict.fromkeys(planned.test for planned in found if planned.test not in known))
    yield from map(tally.result, tally.tests)


def _of(found: Mapping[Planned, Entry], known: set[str]) -> dict[Planned, Entry]:
    return {planned: entry for planned, entry in found.items() if planned.test in known}
