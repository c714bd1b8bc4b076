"""The use cases that the faces call. A face only translates: it parses, calls one of these and renders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby

import msgspec

from rightcall import testsets, traces
from rightcall.app import files, gates, kit, matching, starter
from rightcall.app.gates import GateOptions
from rightcall.app.judging import JudgeOptions, judge_for
from rightcall.app.loading import Config as Config
from rightcall.app.loading import check_ids, compiled, warnings_of
from rightcall.app.loading import named as named
from rightcall.app.loading import read_config as read_config
from rightcall.app.loading import read_tests as read_tests
from rightcall.app.matching import Notes, Reading
from rightcall.app.reading import How as How
from rightcall.app.reading import Pairing, readings, trace_reader
from rightcall.app.reading import Source as Source
from rightcall.app.reading import read_sources as read_sources
from rightcall.app.reading import read_traces as read_traces
from rightcall.app.redaction import Redaction
from rightcall.app.regex import compile_regex
from rightcall.app.reporting import Graded as Graded
from rightcall.app.reporting import beside, grading, head_of, report
from rightcall.app.schemas import compile_schema
from rightcall.app.sinks import Sink, check_apart
from rightcall.app.spool import Spools
from rightcall.assertions import KINDS
from rightcall.core.asking import Asker
from rightcall.core.calls import Trajectory
from rightcall.core.results import Result
from rightcall.errors import TestSetError, TraceError, UsageError, Where
from rightcall.testsets import CompiledTest, TestSet, compile_test, embedded
from rightcall.traces import spilling


class GradeRequest(Pairing, frozen=True, kw_only=True):
    """What to grade and how. `traces` and `tests` are names of files, `baseline` that of the run to compare with."""

    traces: tuple[str, ...]
    tests: tuple[str, ...] = ()
    gate: GateOptions = GateOptions()
    redaction: Redaction = Redaction()
    judge: JudgeOptions = JudgeOptions()
    baseline: str | None = None


def grade(request: GradeRequest, sinks: Sequence[Sink], watch: Watch | None = None) -> Graded:
    """Grade what was recorded and report it.

    `watch` is told of each trajectory that was read. Raises `UsageError`, `TestSetError` and `TraceError` for
    what cannot be graded at all; nothing is then left of a report.
    """
    _check_tests_named(request)
    gates.check_baseline(request.gate, request.baseline)
    read = trace_reader(request)
    request = msgspec.structs.replace(request, traces=tuple(files.expand(request.traces)))
    _check_files((*request.traces, *request.tests, *named(request.config), *named(request.baseline)), sinks)
    notes = Notes()
    config = read_config(request.config)
    sets = [read_tests(name, request.dialect, config) for name in request.tests]
    check_ids(sets)
    notes.warnings.extend(warnings_of(sets))
    files_and_sets = zip(request.tests, sets, strict=True)
    tests = [test for name, test_set in files_and_sets for test in compiled(name, test_set, request.judge)]
    gate = gates.of(sets, request.gate)
    found = watched(readings(request.traces, read), watch)
    grade_one, redactors = grading(request.redaction, sinks)
    results = _results(request, found, tests, notes, grade_one)
    head = head_of(sets, request.tests, gate)
    with beside(request.baseline, head, request.gate.fail_on, redactors) as baseline:
        return report(head, results, sinks, notes, baseline)


def _check_tests_named(request: GradeRequest) -> None:
    asked = {"--apply-all": request.apply_all, "--config": request.config is not None}
    for option, is_given in asked.items():
        if is_given and not request.tests:
            raise UsageError(f"{option} needs a test set: name it with --tests")


def _check_files(reading: Sequence[str], sinks: Sequence[Sink]) -> None:
    files.check_standard_input(reading)
    check_apart(reading, sinks)


class Watch:
    """Is told how far the reading has come. This one does nothing."""

    def step(self) -> None:
        """One more trajectory was read."""


def watched(readings: Iterable[Reading], watch: Watch | None) -> Iterator[Reading]:
    """The same readings, each told to who watches."""
    for reading in readings:
        if watch is not None:
            watch.step()
        yield reading


def _results(
    request: GradeRequest,
    readings: Iterable[Reading],
    tests: Sequence[CompiledTest],
    notes: Notes,
    grade_one: matching.Grade,
) -> Iterator[Result]:
    if not request.tests:
        compile_one, repeats = _compile_own(request.dialect, judge_for(request.judge)), _repeats(request)
        return matching.by_own_expectations(readings, compile_one, notes, repeats, grade_one)
    if request.apply_all:
        return matching.each_for_all(readings, tests, notes, grade_one)
    return matching.by_test(readings, tests, request.id_key, notes, grade_one)


def _repeats(request: GradeRequest) -> dict[str, int] | None:
    """How often each id occurs that occurs more than once, by a first look at the files.

    `None` where a first look is not possible: the standard input cannot be read twice, and only records of the
    native format, one a line, tell their id without being read whole, and only if they stand as they are.
    """
    if request.group_by is not None:
        return None
    try:
        found = [_identities(name, request.format) for name in request.traces]
        known = [identities for identities in found if identities is not None]
        if len(known) < len(found):
            return None
        with Spools() as keep:
            # Sorted rather than remembered: of a large file, not even the ids should be in memory.
            ids = spilling.in_order(((identity,) for identity in chain(*known)), keep(list[tuple[str]]))
            counts = ((identity, sum(1 for _ in same)) for (identity,), same in groupby(ids))
            return {identity: count for identity, count in counts if count > 1}
    except TraceError:
        return None  # the reader will say it, with its place


def _identities(name: str, trace_format: str | None) -> Iterator[str] | None:
    return traces.identities(files.chunks(name), format=trace_format) if files.is_regular(name) else None


def _compile_own(dialect: str | None, judge: Asker) -> matching.CompileOne:
    def compile_one(trajectory: Trajectory, identity: str, file: str) -> CompiledTest:
        kinds = kit.all_kinds() if "assertions" in trajectory.expectations else KINDS
        where = Where(file=files.shown(file))
        try:
            test = embedded(trajectory.expectations, kinds, identity=identity, where=where, dialect=dialect)
            is_place = not trajectory.id and test.id == identity
            known = msgspec.structs.replace(test, positional=True) if is_place else test
            return compile_test(known, compile_regex, compile_schema, judge=judge)
        except TestSetError as error:
            at = error.within(file=where.file)
            raise TestSetError(f"in the record `{identity}`: {at.message}", at.where) from None

    return compile_one


def validate(name: str, dialect: str | None = None, config: Config | None = None) -> tuple[TestSet, list[str]]:
    """Read and compile a test set; return it with what is worth knowing about it. `TestSetError` if it is bad."""
    from rightcall.app.running import reaching

    test_set = read_tests(name, dialect, config)
    compiled(name, test_set)
    reaching.check(test_set)
    return test_set, list(warnings_of([test_set]))


def schema_text() -> bytes:
    """Return the JSON Schema of test set files, with every kind installed, as indented JSON."""
    from rightcall.app.running import reaching

    schema = reaching.with_endpoint(testsets.schema(kit.all_kinds()))
    return msgspec.json.format(msgspec.json.encode(schema), indent=2) + b"\n"


def init(directory: str) -> list[str]:
    """Write the files of an example and return their names; `UsageError`, with nothing written, if one exists."""
    contents = {
        starter.TEST_SET_FILE: testsets.template().encode(),
        starter.TRACE_FILE: starter.TRACES.encode(),
        testsets.SCHEMA_FILE: schema_text(),
    }
    paths = {os.path.join(directory, name): data for name, data in contents.items()}
    for path in paths:
        if os.path.lexists(path):
            raise UsageError("exists already; nothing was written", Where(file=path))
    _make_directory(directory)
    for path, data in paths.items():
        files.write(path, data)
    return list(paths)


def _make_directory(directory: str) -> None:
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot be made: {files.cause(error)}", Where(file=directory)) from None
