"""What can never gate, or gates nothing: rates, severities, ids, and the same thing said twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from rightcall.core.values import cut, visible
from rightcall.core.wording import amount
from rightcall.errors import did_you_mean
from rightcall.testsets.linting.remarks import Level, Remark
from rightcall.testsets.linting.subject import Expectation, Subject
from rightcall.testsets.marks import child
from rightcall.testsets.model import Test, TestSet
from rightcall.testsets.source import Source


def test_itself(subject: Subject) -> Iterator[Remark]:
    """A test without an id, without an expectation, or without one that blocks."""
    test = subject.test.test
    if test.positional:
        message = f"the test has no `id`; its position, {test.id}, stands for it and changes when tests are added"
        yield subject.remark("no-id", Level.WARNING, test.where, message, "give it an `id`")
    if not subject.expectations:
        message = "the test expects nothing, so that it is inconclusive whatever the agent does"
        advice = "say what is expected; `expected_tool_calls: []` expects no calls"
        yield subject.remark("nothing-expected", Level.ERROR, test.where, message, advice)
    elif not any(expectation.blocks for expectation in subject.expectations):
        message = "no expectation of the test blocks, so that it is inconclusive whatever the agent does"
        advice = "leave `severity` out of one of them"
        yield subject.remark("nothing-gates", Level.NOTE, test.where, message, advice)


def rates(subject: Subject) -> Iterator[Remark]:
    """Rates of 0, which are always reached."""
    test = subject.test.test
    for key in ("min_pass_rate", "min_assertion_rate"):
        if getattr(test, key) == 0:
            message = f"`{key}: 0` is reached whatever fails"
            yield subject.remark("zero-rate", Level.ERROR, subject.key(key), message, "raise it, or leave it out: 1")


def repeated_expectations(subject: Subject) -> Iterator[Remark]:
    """An expectation that stands twice in a test."""
    seen: dict[str, Expectation] = {}
    for expectation in subject.expectations:
        first = seen.setdefault(repr(replace(expectation.assertion, name=None)), expectation)
        if first is not expectation:
            message = f"`{expectation.compiled.id}` expects the same as `{first.compiled.id}`"
            where = subject.at(expectation)
            yield subject.remark("duplicate-assertion", Level.WARNING, where, message, "remove one of them")


def repeated_tests(subjects: Sequence[Subject]) -> Iterator[Remark]:
    """Tests that ask the same and expect the same. Without a prompt it is not known what a test asks."""
    seen: dict[str, Test] = {}
    for subject in subjects:
        test = subject.test.test
        first = test if test.prompt is None else seen.setdefault(repr(_without_names(test)), test)
        if first is not test:
            message = f"the test asks and expects the same as `{cut(visible(first.id), 60)}`"
            yield subject.remark("duplicate-test", Level.WARNING, test.where, message, "remove one, or use `repeat`")


def _without_names(test: Test) -> Test:
    return replace(
        test,
        id="",
        name="",
        positional=False,
        requirement=None,
        category=None,
        topic=None,
        tags=(),
        metadata={},
        extra={},
        places=(),
        where=type(test.where)(),
    )


def repeated_ids(subjects: Sequence[Subject]) -> Iterator[Remark]:
    """Ids that tests of different files share; within one file they are refused."""
    seen: dict[str, Test] = {}
    for subject in subjects:
        test = subject.test.test
        first = seen.setdefault(test.id, test)
        if first is not test:
            message = f"the id `{cut(visible(test.id), 60)}` is used twice; the first is at {first.where}"
            advice = "give every test an `id` of its own, or grade the files apart"
            yield subject.remark("duplicate-id", Level.ERROR, test.where, message, advice)


def gate(test_set: TestSet, subjects: Sequence[Subject]) -> Iterator[Remark]:
    """What the gate of one test set asks for and never gets, or gets whatever happens."""
    source, asked = test_set.source, test_set.gate
    names = {expectation.compiled.name for subject in subjects for expectation in subject.expectations}
    yield from _zero(source, "gate.min_pass_rate") if asked.min_pass_rate == 0 else ()
    for name, rate in asked.thresholds.items():
        path = child("gate.thresholds", name)
        yield from _zero(source, path) if rate == 0 else ()
        if name not in names:
            message = f"no expectation has verdicts named `{visible(name)}`{did_you_mean(name, names)}"
            yield _unreachable(source, path, message, "correct the name: without such verdicts every run is incomplete")
    if asked.min_graded > len(subjects):
        message = f"the gate asks for {asked.min_graded} graded, and the test set has {amount(len(subjects), 'test')}"
        advice = "lower `min_graded`; only with `--apply-all` can more be graded"
        yield replace(_unreachable(source, "gate.min_graded", message, advice), level=Level.WARNING)


def _zero(source: Source, path: str) -> Iterator[Remark]:
    message = f"`{path.removeprefix('gate.')}: 0` is reached whatever fails"
    advice = "raise it, or leave it out"
    yield Remark(code="zero-rate", level=Level.ERROR, where=source.value(path), message=message, advice=advice)


def _unreachable(source: Source, path: str, message: str, advice: str) -> Remark:
    where = source.value(path)
    return Remark(code="gate-unreachable", level=Level.ERROR, where=where, message=message, advice=advice)
