"""The use cases that the faces call. A face only translates: it parses, calls one of these and renders."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall import __version__, testsets, traces
from rightcall.app import code, files, gates, kit, matching, redaction, runner, starter
from rightcall.app.gates import GateOptions
from rightcall.app.matching import Notes, Reading
from rightcall.app.reading import How as How
from rightcall.app.reading import Source as Source
from rightcall.app.reading import read_sources as read_sources
from rightcall.app.reading import read_traces as read_traces
from rightcall.app.reading import readings, trace_reader
from rightcall.app.redaction import Redaction
from rightcall.app.regex import compile_regex
from rightcall.app.schemas import compile_schema
from rightcall.app.sinks import Sink
from rightcall.app.spool import Spools
from rightcall.assertions import KINDS
from rightcall.core.calls import Trajectory
from rightcall.core.results import Gate, Result, RunEnd, RunHead, Summary
from rightcall.errors import StoreError, TestSetError, TraceError, UsageError, Where
from rightcall.testsets import CompiledTest, TestSet, compile_test, compile_tests, embedded
from rightcall.testsets import read as read_test_set
from rightcall.traces import spilling

if TYPE_CHECKING:
    from rightcall.core.redaction.redactor import Redactor

SHOWN_POSITIONAL = 3

_PAIRING = (
    "no trajectory was for any test: it is for the test whose id it has, or its conversation; --test-id-key names the "
    "key that has a test's id, --apply-all grades each trajectory for every test"
)


class GradeRequest(How, frozen=True, kw_only=True):
    """What to grade and how. `traces` and `tests` are names of files, `id_key` the metadata that names a test.

    `config` is the name of a file with keys for whole test sets, for those that do not have them themselves.
    """

    traces: tuple[str, ...]
    tests: tuple[str, ...] = ()
    dialect: str | None = None
    config: str | None = None
    apply_all: bool = False
    id_key: str | None = None
    gate: GateOptions = GateOptions()
    redaction: Redaction = Redaction()


class Graded(msgspec.Struct, frozen=True):
    """What a run came to, and the reports that could not be written."""

    end: RunEnd
    unwritten: tuple[StoreError, ...] = ()

    def exit_code(self, *, exit_zero: bool = False) -> int:
        """Return 0, 1 or 3 (G39); `exit_zero` forgives failures and nothing else."""
        code = gates.forgiving(self.end.decision) if exit_zero else self.end.decision.exit_code
        return 3 if self.unwritten and code == 0 else code


def grade(request: GradeRequest, sinks: Sequence[Sink], watch: Watch | None = None) -> Graded:
    """Grade what was recorded and report it.

    `watch` is told of each trajectory that was read. Raises `UsageError`, `TestSetError` and `TraceError` for
    what cannot be graded at all; nothing is then left of a report.
    """
    _check_tests_named(request)
    read = trace_reader(request)
    request = msgspec.structs.replace(request, traces=tuple(files.expand(request.traces)))
    _check_files((*request.traces, *request.tests, *named(request.config)), sinks)
    notes = Notes()
    config = read_config(request.config)
    sets = [read_tests(name, request.dialect, config) for name in request.tests]
    _check_ids(sets)
    notes.warnings.extend(_warnings(sets))
    tests = [test for name, test_set in zip(request.tests, sets, strict=True) for test in _compiled(name, test_set)]
    gate = gates.with_options(gates.strictest(test_set.gate for test_set in sets), request.gate)
    found = watched(readings(request.traces, read), watch)
    grade_one: matching.Grade = runner.transcribed if any(sink.shows_transcripts for sink in sinks) else runner.attempt
    if redactors := _redactors(request.redaction, sinks):
        grade_one = redaction.noting(grade_one, redactors)
    results = _results(request, found, tests, notes, grade_one)
    return _report(_head(sets, request.tests, gate), results, sinks, notes)


def _redactors(asked: Redaction, sinks: Sequence[Sink]) -> list[Redactor]:
    """Give each sink what it is looked through with, and return these; `UsageError` for a rule that is none."""
    for sink in sinks:
        sink.redactor = asked.redactor(hides_secrets=sink.hides_secrets)
    by_name = {sink.redactor.name: sink.redactor for sink in sinks if sink.redactor is not None}
    return list(by_name.values())


def _check_tests_named(request: GradeRequest) -> None:
    asked = {"--apply-all": request.apply_all, "--config": request.config is not None}
    for option, is_given in asked.items():
        if is_given and not request.tests:
            raise UsageError(f"{option} needs a test set: name it with --tests")


def _check_files(reading: Sequence[str], sinks: Sequence[Sink]) -> None:
    files.check_standard_input(reading)
    files.check_apart(reading, [sink.path for sink in sinks if sink.path is not None])


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
        compile_one, repeats = _compile_own(request.dialect), _repeats(request)
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


def _compile_own(dialect: str | None) -> matching.CompileOne:
    def compile_one(trajectory: Trajectory, identity: str, file: str) -> CompiledTest:
        kinds = kit.all_kinds() if "assertions" in trajectory.expectations else KINDS
        where = Where(file=files.shown(file))
        try:
            test = embedded(trajectory.expectations, kinds, identity=identity, where=where, dialect=dialect)
            is_place = not trajectory.id and test.id == identity
            known = msgspec.structs.replace(test, positional=True) if is_place else test
            return compile_test(known, compile_regex, compile_schema)
        except TestSetError as error:
            at = error.within(file=where.file)
            raise TestSetError(f"in the record `{identity}`: {at.message}", at.where) from None

    return compile_one


def _report(head: RunHead, results: Iterator[Result], sinks: Sequence[Sink], notes: Notes) -> Graded:
    """Send every result to every sink, fold the summary on the way, decide once."""
    summary, crashes, attempts = Summary(), 0, 0
    # What is wrong with the input as a whole shows at the first result: then nothing has been written yet.
    first = list(islice(results, 1))
    try:
        for sink in sinks:
            sink.start(head)
        for result in chain(first, results):
            summary.add(result)
            crashes += runner.crashes(result)
            attempts += len(result.attempts)
            for sink in sinks:
                sink.add(result)
        decision = gates.with_crashes(summary.decide(head.gate), crashes)
        end = RunEnd(
            summary=summary,
            decision=decision,
            counted=gates.counted(notes.counts),
            unused=tuple(notes.unused),
            warnings=(*notes.warnings, *([_PAIRING] if notes.unused and not attempts else [])),
        )
        for sink in sinks:
            sink.end(end)
    finally:
        for sink in sinks:
            sink.discard()
    return Graded(end, tuple(sink.error for sink in sinks if sink.error is not None))


def _head(sets: Sequence[TestSet], names: Sequence[str], gate: Gate) -> RunHead:
    titles = [test_set.name or files.shown(name) for test_set, name in zip(sets, names, strict=True)]
    hashes = [test_set.hash for test_set in sets]
    whole = hashes[0] if len(hashes) == 1 else hashlib.sha256("\n".join(hashes).encode()).hexdigest()
    return RunHead(product=__version__, test_set=", ".join(titles), test_set_hash=whole if sets else "", gate=gate)


def _warnings(sets: Iterable[TestSet]) -> Iterator[str]:
    for test_set in sets:
        yield from test_set.warnings
        nameless = [test.id for test in test_set.tests if test.positional]
        if nameless:
            listed = ", ".join(nameless[:SHOWN_POSITIONAL])
            more = ", …" if len(nameless) > SHOWN_POSITIONAL else ""
            noun = "1 test has" if len(nameless) == 1 else f"{len(nameless)} tests have"
            yield f"{noun} no `id`; the position stands for it: {listed}{more}"


def _check_ids(sets: Iterable[TestSet]) -> None:
    seen: dict[str, Where] = {}
    for test in (test for test_set in sets for test in test_set.tests):
        if test.id in seen:
            first = f"; the first is at {seen[test.id]}"
            raise TestSetError(f"the test id `{test.id}` is used twice{first}", test.where)
        seen[test.id] = test.where


class Config(msgspec.Struct, frozen=True):
    """Keys for whole test sets that stand in a file of their own, and where."""

    keys: dict[str, Any]
    source: testsets.Source


def read_config(name: str | None) -> Config | None:
    """Read the keys for whole test sets, if a file with them is named; `TestSetError` if it is none."""
    return None if name is None else Config(*testsets.load_config(files.read(name), files.shown(name)))


def named(config: str | None) -> tuple[str, ...]:
    """Return the files that are read for it: the one that is named, or none."""
    return () if config is None else (config,)


def read_tests(name: str, dialect: str | None, config: Config | None = None) -> TestSet:
    """Read one test set, or the standard input for `-`; `TestSetError` if it is bad.

    `config` has keys for the whole test set, none of which it may have itself.
    """
    data = files.read(name)
    keys, source = ({}, None) if config is None else (config.keys, config.source)
    kinds = kit.all_kinds() if "assertions" in keys else kit.kinds(data)
    return read_test_set(data, kinds, file=files.shown(name), dialect=dialect, defaults=keys, config=source)


def _compiled(name: str, test_set: TestSet) -> tuple[CompiledTest, ...]:
    return compile_tests(test_set, compile_regex, compile_schema, code.loader(name))


def validate(name: str, dialect: str | None = None, config: Config | None = None) -> tuple[TestSet, list[str]]:
    """Read and compile a test set; return it with what is worth knowing about it. `TestSetError` if it is bad."""
    test_set = read_tests(name, dialect, config)
    _compiled(name, test_set)
    return test_set, list(_warnings([test_set]))


def schema_text() -> bytes:
    """Return the JSON Schema of test set files, with every kind installed, as indented JSON."""
    schema = testsets.schema(kit.all_kinds())
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
        raise UsageError(f"cannot be made: {error.strerror}", Where(file=directory)) from None
