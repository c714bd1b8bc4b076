"""Linting: what is wrong with test sets, and which changes to passing trajectories they would let pass."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.app import code, files, service
from rightcall.app.matching import Notes, Reading, pairs
from rightcall.app.mutating import MOST_MUTANTS, Mutation, Score, Tally
from rightcall.app.reading import Pairing, readings, trace_reader
from rightcall.app.redaction import Redaction, Seen, shown
from rightcall.app.regex import compile_regex
from rightcall.app.schemas import compile_schema
from rightcall.core.rates import show_rate
from rightcall.errors import RightcallError, TraceError, UsageError
from rightcall.testsets import CompiledTest, TestSet
from rightcall.testsets.linting import Level, Remark, Subject, lint_together, subjects
from rightcall.testsets.linting import lint as lint_tests
from rightcall.testsets.linting.naming import unknown_tools

if TYPE_CHECKING:
    from rightcall.core.redaction.redactor import Redactor


class LintRequest(Pairing, frozen=True, kw_only=True):
    """What to look at and how. `files` are test sets, `traces` as for grading.

    `level` is the least bad remark that makes the exit code 1.
    `max_mutants` is the most of one trajectory, `MOST_MUTANTS` where it is not said.
    """

    files: tuple[str, ...]
    traces: tuple[str, ...] = ()
    level: Level = Level.ERROR
    min_mutation_score: Fraction | None = None
    max_mutants: int | None = None
    redaction: Redaction = Redaction()


class Linted(msgspec.Struct, frozen=True, kw_only=True):
    """What was found. `refused` are the files that are no test sets; `tests` counts those of the others."""

    request: LintRequest
    tests: int
    remarks: tuple[Remark, ...]
    refused: tuple[RightcallError, ...] = ()
    mutation: Mutation | None = None
    warnings: tuple[str, ...] = ()

    @property
    def is_below(self) -> bool:
        """Whether the mutation score is less than it must be."""
        least, mutation = self.request.min_mutation_score, self.mutation
        rate = mutation.score.rate if mutation is not None else None
        return least is not None and rate is not None and rate < least

    @property
    def exit_code(self) -> int:
        """2 for a file that is no test set, else 1 for what was found, else 3 if nothing could be mutated (G39)."""
        if self.refused:
            return 2
        if self.is_below or any(remark.level.rank <= self.request.level.rank for remark in self.remarks):
            return 1
        mutation = self.mutation
        is_incomplete = mutation is not None and (mutation.rejected or mutation.score.rate is None)
        return 3 if is_incomplete else 0

    def record(self) -> dict[str, Any]:
        """What was found as JSON has it."""
        return {
            "tests": self.tests,
            "exit_code": self.exit_code,
            "remarks": [remark.record() for remark in self.remarks],
            "refused": [str(error) for error in self.refused],
            "warnings": list(self.warnings),
            "mutation": None if self.mutation is None else _mutation(self.mutation),
        }


def _mutation(mutation: Mutation) -> dict[str, Any]:
    return {
        **_score(mutation.score),
        "not_passing": mutation.not_passing,
        "without": mutation.without,
        "unused": mutation.unused,
        "rejected": mutation.rejected,
        "tests": [
            {
                "test": test.test,
                "place": test.place,
                "trajectories": test.trajectories,
                **_score(test.score),
                "possible": test.possible,
                "is_sample": test.is_sample,
                "assertions": {name: _score(score) for name, score in test.assertions.items()},
                "survivors": test.survivors,
            }
            for test in mutation.tests
        ],
    }


def _score(score: Score) -> dict[str, Any]:
    rate = None if score.rate is None else f"{score.killed}/{score.mutants}"
    return {"score": rate, "mutants": score.mutants, **msgspec.structs.asdict(score)}


def shown_score(score: Score) -> str:
    """`17/20 = 0.8500`."""
    return "none" if score.rate is None else f"{score.killed}/{score.mutants} = {show_rate(score.rate)}"


def lint(request: LintRequest, watch: service.Watch | None = None) -> Linted:
    """Look at test sets, and with traces at mutants. Raises `UsageError` and `TraceError` for what cannot be read.

    What the request hides is taken out of what was found.
    """
    seen = Seen(request.redaction)
    return _without_secrets(_lint(request, watch, seen), seen.redactor)


def _without_secrets(linted: Linted, redactor: Redactor | None) -> Linted:
    if redactor is None:
        return linted
    return msgspec.structs.replace(
        linted,
        remarks=tuple(shown(remark, redactor) for remark in linted.remarks),
        refused=tuple(RightcallError(redactor.text(str(error))) for error in linted.refused),
        mutation=None if linted.mutation is None else shown(linted.mutation, redactor),
        warnings=tuple(map(redactor.text, linted.warnings)),
    )


def _lint(request: LintRequest, watch: service.Watch | None, seen: Seen) -> Linted:
    _check_traces_named(request)
    read = trace_reader(request)
    names = tuple(files.expand(request.traces))
    files.check_standard_input((*request.files, *service.named(request.config), *names))
    sets, refused = _read(request)
    tests = [subject for _, own in sets for subject in own]
    seen.tests(subject.test.test for subject in tests)
    remarks = [remark for test_set, own in sets for remark in lint_tests(test_set, own)]
    remarks += lint_together(tests)
    mutation, notes = None, Notes()
    if names and not refused:
        trajectories = seen.readings(service.watched(readings(names, read), watch))
        mutation, known = _mutate(request, tests, trajectories, notes)
        remarks += [remark for subject in tests for remark in _unavailable(subject, known[subject.test.test.id])]
    return Linted(
        request=request,
        tests=len(tests),
        remarks=tuple(sorted(remarks, key=_place)),
        refused=tuple(refused),
        mutation=mutation,
        warnings=tuple(notes.warnings),
    )


def _check_traces_named(request: LintRequest) -> None:
    """Refuse what speaks of traces where none are named: it would have no effect."""
    asked = {
        "--min-mutation-score": request.min_mutation_score is not None,
        "--max-mutants": request.max_mutants is not None,
        "--apply-all": request.apply_all,
        "--test-id-key": request.id_key is not None,
        "--format": request.format is not None,
        "--group-by": request.group_by is not None,
        "--tool-name-at": request.tool_name_at is not None,
        "--tool-arguments-at": request.tool_arguments_at is not None,
    }
    for option, is_given in asked.items():
        if is_given and not request.traces:
            raise UsageError(f"{option} needs recorded traces: name them with --traces")


def _place(remark: Remark) -> tuple[str, int, int, int]:
    where = remark.where
    return where.file or "", where.line or 0, where.column or 0, remark.level.rank


def _read(request: LintRequest) -> tuple[list[tuple[TestSet, list[Subject]]], list[RightcallError]]:
    """Every test set that can be used, compiled, and why the others cannot."""
    sets, refused = [], []
    config = service.read_config(request.config)
    for name in request.files:
        try:
            test_set = service.read_tests(name, request.dialect, config)
            sets.append((test_set, subjects(test_set, compile_regex, compile_schema, code.loader(name))))
        except RightcallError as error:
            refused.append(error)
    return sets, refused


def _mutate(
    request: LintRequest, tests: Sequence[Subject], trajectories: Any, notes: Notes
) -> tuple[Mutation, dict[str, set[str]]]:
    """Try the mutants of every trajectory for its test; and the tools that trajectories say there were, by test."""
    compiled = {subject.test.test.id: _without_judged(subject) for subject in tests}
    tallies = {name: Tally(test, request.max_mutants or MOST_MUTANTS) for name, test in compiled.items()}
    known: dict[str, set[str]] = {name: set() for name in compiled}
    rejected: list[str] = []
    for pair in pairs(trajectories, compiled, request, notes):
        if isinstance(pair, TraceError):
            rejected.append(str(pair))
            continue
        test, reading = pair
        trajectory = reading.trajectory
        tallies[test.test.id].add(trajectory, _shown(reading))
        if trajectory.available_tools:
            known[test.test.id] |= {tool.name for tool in trajectory.available_tools}
            known[test.test.id] |= {call.name for call in trajectory.tool_calls or ()}
    return Mutation.of(tallies, notes.unused, rejected), known


def _without_judged(subject: Subject) -> CompiledTest:
    """The test without what only a judge can decide: nobody is asked about mutants."""
    kept = [one.compiled for one in subject.expectations if not one.asks]
    return msgspec.structs.replace(subject.test, assertions=tuple(kept))


def _shown(reading: Reading) -> str:
    identity = reading.trajectory.id
    return f"{identity} in {reading.file}" if identity else reading.file


def _unavailable(subject: Subject, known: set[str]) -> list[Remark]:
    """Names of tools that none of the test's trajectories had."""
    if not known or subject.setting.tool_schemas:
        return []
    holder = "that its traces say there were"
    return [remark for one in subject.expectations for remark in unknown_tools(subject, one, known, holder)]
