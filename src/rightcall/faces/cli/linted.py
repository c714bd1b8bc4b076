"""What linting found, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from rightcall.app.lint import Linted, shown_score
from rightcall.app.mutating import Mutation, Survivors, TestScore
from rightcall.core.rates import show_comparison
from rightcall.core.wording import amount, listed
from rightcall.testsets.linting import Level, Remark


def told(linted: Linted) -> Iterator[str]:
    """Each remark with its place, then each test's mutants, then what it comes to."""
    for remark in linted.remarks:
        yield from _remark(remark)
    if linted.mutation is not None:
        yield from _mutation(linted.mutation)
    yield _sum(linted)
    if linted.mutation is not None:
        yield from _scored(linted)


def _remark(remark: Remark) -> Iterator[str]:
    test = f" in test `{remark.test}`" if remark.test else ""
    yield f"{remark.where}: {remark.level}[{remark.code}]{test}"
    yield f"    {remark.message}"
    yield f"    to do: {remark.advice}"


def _sum(linted: Linted) -> str:
    levels = [remark.level for remark in linted.remarks]
    counts = listed([amount(levels.count(level), level.value) for level in Level])
    refused = f"; {amount(len(linted.refused), 'file')} could not be used" if linted.refused else ""
    return f"{amount(linted.tests, 'test')}: {counts}{refused}"


def _mutation(mutation: Mutation) -> Iterator[str]:
    for test in mutation.tests:
        yield from _test(test)
    for name in mutation.without:
        yield f"{name}  no mutants: no trajectory passes it"
    for name in mutation.unused:
        yield f"for no test: {name}"
    for reason in mutation.rejected:
        yield f"not read: {reason}"


def _test(test: TestScore) -> Iterator[str]:
    score = test.score
    yield f"{test.test}  {shown_score(score)} of the mutants killed  {test.place}"
    tried = f"    {amount(score.mutants + score.equivalent, 'mutant')} of {_trajectories(test.trajectories)} tried"
    sampled = f", {test.possible:,} or more were possible" if test.is_sample else ""
    errors = f", {score.errors} killed because they could not be judged" if score.errors else ""
    equivalent = f", {score.equivalent} that the test declares to be no different" if score.equivalent else ""
    yield f"{tried}{sampled}{errors}{equivalent}"
    for name, one in test.assertions.items():
        yield f"    {name}: {shown_score(one)}"
    for survivors in test.survivors:
        yield from _survivors(survivors)


def _survivors(survivors: Survivors) -> Iterator[str]:
    yield f"  ! {survivors.operator}: {survivors.count} survived, {survivors.why}"
    yield f"      such as {survivors.example} ({survivors.trajectory})"
    yield f"      to notice it: {survivors.advice}"


def _trajectories(number: int) -> str:
    return amount(number, "passing trajectory", "passing trajectories")


def _scored(linted: Linted) -> Iterator[str]:
    mutation, least = linted.mutation, linted.request.min_mutation_score
    assert mutation is not None
    rate = mutation.score.rate
    number = mutation.not_passing
    words = amount(number, "trajectory", "trajectories")
    passing = f"; {words} without mutants, since {'it does' if number == 1 else 'they do'} not pass" if number else ""
    if rate is None:
        yield f"mutation score: none, no trajectory passes its test{passing}"
    elif least is not None:
        counts = f"{mutation.score.killed}/{mutation.score.mutants}"
        yield f"mutation score {counts}: {show_comparison(rate, least)}{passing}"
    else:
        yield f"mutation score {shown_score(mutation.score)}{passing}"
