"""Runs that are kept: begun in a directory of their own, gone on with, and found again."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Container, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from rightcall import __version__
from rightcall.app import files, loading
from rightcall.app.judging import JudgeOptions
from rightcall.app.running import journal, preparing, programs
from rightcall.app.running.journal import Head, Journal, Kept
from rightcall.app.running.planning import Selection
from rightcall.app.running.preparing import Plan, RunRequest, Suite
from rightcall.app.sinks import Sink, to_file
from rightcall.core.results import Outcome
from rightcall.core.wording import amount, first
from rightcall.errors import UsageError, Where
from rightcall.reports.json import JSONLinesReport
from rightcall.testsets import Test, TestSet

RUNS: Final = os.path.join(".rightcall", "runs")
"""Where runs are kept unless another directory is named."""

_SHOWN: Final = 3
_IGNORE: Final = b"# Runs are kept here; none of it belongs into version control.\n*\n"


def begin(plan: Plan, request: RunRequest, base: str, identity: str, now: datetime) -> str:
    """Make the directory of a run that is about to begin, below `base`, and return it; `StoreError` if that fails."""
    directory = os.path.join(base, identity)
    kept = {name: suite.data for name, suite in _names(plan.suites)}
    config = None
    if request.config is not None:
        config = Kept(file=request.config, kept=f"tests/config-{os.path.basename(request.config)}")
        kept[config.kept] = files.read(request.config)
    head = Head(
        product=__version__,
        id=identity,
        started_at=now.isoformat(timespec="microseconds"),
        test_sets=tuple(Kept(file=s.file, kept=name, hash=s.test_set.hash) for name, s in _names(plan.suites)),
        config=config,
        dialect=request.dialect,
        endpoint=request.endpoint,
        endpoints=tuple(suite.test_set.endpoint for suite in plan.suites),
        planned=dict(plan.planned),
        repeat=request.selection.repeat,
        filters=request.selection.filters,
        early_stop=request.early_stop,
        pace=request.pace,
        programs=programs.hashes(plan, request),
    )
    _ignore(base)
    journal.create(directory, head, kept)
    return directory


def new_identity(now: datetime, random: bytes) -> str:
    """The name of a run: when it began, so that names are in the order of time, and a little chance."""
    return f"{now.astimezone(UTC):%Y%m%d-%H%M%S}-{random.hex()}"


def _names(suites: Sequence[Suite]) -> Iterator[tuple[str, Suite]]:
    for number, suite in enumerate(suites, 1):
        yield f"tests/{number}-{os.path.basename(files.shown(suite.file)).strip('<>')}", suite


def _ignore(directory: str) -> None:
    """Keep runs out of version control, as other tools do with what they keep in a project."""
    with files.storing(directory, journal.UNKEPT):
        os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, ".gitignore")
    if os.path.normpath(directory).endswith(RUNS) and not os.path.lexists(path):
        files.write(path, _IGNORE)


def kept_suites(directory: str, head: Head, judge: JudgeOptions | None = None) -> tuple[Suite, ...]:
    """The test sets as they were when the run began; paths in them are still relative to where they lay.

    `UsageError` if they are not those that it began with.
    """
    config = None
    if head.config is not None:
        data = files.read(os.path.join(directory, head.config.kept))
        config = loading.parse_config(data, head.config.file)
    suites = tuple(
        preparing.read_suite(kept.file, files.read(os.path.join(directory, kept.kept)), head.dialect, config, judge)
        for kept in head.test_sets
    )
    for kept, suite in zip(head.test_sets, suites, strict=True):
        if suite.test_set.hash != kept.hash:
            where = Where(file=os.path.join(directory, kept.kept))
            raise UsageError("is not what the run began with. Begin a new run", where)
    known = {compiled.test.id for suite in suites for compiled in suite.tests}
    _check_known(head.planned, known, os.path.join(directory, journal.HEAD))
    return suites


def _check_known(named: Iterable[str], known: Container[str], file: str) -> None:
    """Refuse tests that are none of the run: somebody changed its files."""
    strange = next((identity for identity in named if identity not in known), None)
    if strange is not None:
        raise UsageError(f"names the test `{strange}`, which is none of this run. Begin a new run", Where(file=file))


def resumed(directory: str, request: RunRequest) -> tuple[Head, RunRequest, Plan]:
    """What is to be done to go on with a run; `UsageError` if its tests are not what they were.

    `request` says how fast it is run, and how it is gated and reported; all else is as it was when the run began.
    """
    head = journal.read_head(directory)
    suites = kept_suites(directory, head, request.judge)
    if request.tests and [*request.tests] != [kept.file for kept in head.test_sets]:
        names = ", ".join(kept.file for kept in head.test_sets)
        raise UsageError(f"was made with other files: {names}; name these or none", Where(file=directory))
    for suite in suites:
        _check_unchanged(suite, head)
    going_on = replace(
        request,
        tests=tuple(kept.file for kept in head.test_sets),
        dialect=head.dialect,
        endpoint=head.endpoint if request.endpoint is None else request.endpoint,
        selection=Selection(ids=frozenset(head.planned)),
        early_stop=head.early_stop,
    )
    made = preparing.plan(going_on, suites)
    known = {compiled.test.id: compiled for compiled in made.tests}
    tests = tuple(known[identity] for identity in head.planned)
    warnings = (*made.warnings, *programs.changes(head.programs))
    return head, going_on, replace(made, tests=tests, planned=head.planned, warnings=warnings)


@contextlib.contextmanager
def opened(
    directory: str, sinks: Sequence[Sink], *, retry_errors: bool = False
) -> Iterator[tuple[Journal, list[Sink]]]:
    """The journal of a run, locked, and the sinks with one more: the report that is kept beside it."""
    known = Journal(directory)
    try:
        planned = journal.read_head(directory).planned
        _check_known((made.test for made in known.entries), planned, known.path)
        if retry_errors:
            known.forget_trouble()
        yield known, [*sinks, to_file(JSONLinesReport(), os.path.join(directory, journal.RESULTS))]
    finally:
        known.close()


def _check_unchanged(suite: Suite, head: Head) -> None:
    """Refuse to go on where the file says something else now. One that is gone, or was no file, is as it was."""
    if suite.file == files.STDIN or not os.path.lexists(suite.file):
        return
    config = loading.read_config(None if head.config is None else head.config.file)
    now = loading.parse_tests(files.read(suite.file), suite.file, head.dialect, config)
    if now.hash != suite.test_set.hash:
        what = "; ".join(_changes(suite.test_set, now))
        raise UsageError(f"has changed since the run began: {what}. Begin a new run", Where(file=suite.file))


def _changes(before: TestSet, now: TestSet) -> Iterator[str]:
    old, new = ({test.id: _content(test) for test in test_set.tests} for test_set in (before, now))
    changed = [name for name in old if name in new and old[name] != new[name]]
    kinds = {
        "changed": changed,
        "added": [name for name in new if name not in old],
        "removed": [name for name in old if name not in new],
    }
    for word, names in kinds.items():
        if names:
            shown = first([f"`{name}`" for name in names], _SHOWN)
            yield f"{amount(len(names), 'test')} {word} ({shown})"
    if not any(kinds.values()):
        yield "what it says for all tests"


def _content(test: Test) -> Any:
    """A test without where it stands."""
    return replace(test, where=Where(), places=())


def failed_last(names: Sequence[str], base: str) -> frozenset[str] | None:
    """The tests of these files that did not pass when they were last run, `None` if no run of them has ended."""
    wanted = {os.path.realpath(name) for name in names}
    last: dict[str, Outcome] = {}
    for directory, head in _newest_first(base):
        if wanted & {os.path.realpath(kept.file) for kept in head.test_sets}:
            for told in _told(os.path.join(directory, journal.RESULTS)):
                last.setdefault(told.id, told.outcome)
    return frozenset(test for test, outcome in last.items() if outcome is not Outcome.PASS) if last else None


def _newest_first(base: str) -> list[tuple[str, Head]]:
    """The directories of runs that have ended, and what they were made with."""
    found = [os.path.join(base, name) for name in os.listdir(base)] if os.path.isdir(base) else []
    ended = [one for one in found if files.is_run(one) and os.path.isfile(os.path.join(one, journal.RESULTS))]
    return sorted(_heads(ended), key=lambda pair: pair[1].started_at, reverse=True)


def _heads(directories: Iterable[str]) -> Iterator[tuple[str, Head]]:
    """What the runs were made with; those of other versions of the journal tell nothing here."""
    for directory in directories:
        with contextlib.suppress(UsageError):
            yield directory, journal.read_head(directory)


class _Told(msgspec.Struct):
    """What one line of results says of its test."""

    id: str
    outcome: Outcome


def _told(path: str) -> Iterator[_Told]:
    with open(path, "rb") as file:
        for line in file:
            yield msgspec.json.decode(line, type=_Told)
