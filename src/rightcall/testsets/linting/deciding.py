"""What the search says of a test: that nothing passes, or that nothing fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from rightcall.core.values import visible
from rightcall.core.verdicts import Status
from rightcall.core.wording import listed
from rightcall.testsets.linting import demands
from rightcall.testsets.linting.calls import Vocabulary
from rightcall.testsets.linting.remarks import Level, Remark
from rightcall.testsets.linting.searching import SEARCHED, Outlook, can_pass, look
from rightcall.testsets.linting.subject import Expectation, Subject

MOST_PAIRS = 15
"""Pairs of expectations that are tried to find the two that contradict each other."""


def decide(subject: Subject) -> Iterator[Remark]:
    """Remarks of the search, for a test of which nothing is known yet that could not pass."""
    searched = [one for one in subject.expectations if one.kind in SEARCHED and not one.asks]
    undecided = list(_undecided(subject, searched))
    yield from (remark for _, remark in undecided)
    known = [one for one in searched if one.compiled.id not in {name for name, _ in undecided}]
    if known:
        outlook = look(subject, known)
        yield from _never_passing(subject, known, outlook)
        yield from _never_failing(subject, known, outlook)


def proven(subject: Subject) -> Iterator[Remark]:
    """Expectations that can never fail by what they say."""
    for expectation in subject.expectations:
        if why := demands.cannot_fail(expectation):
            message = f"`{expectation.compiled.id}` can never fail: {why}"
            yield subject.remark("never-fails", Level.ERROR, subject.at(expectation), message, _EXPECT)


_EXPECT = "expect something that could go wrong, or remove it"


def _undecided(subject: Subject, expectations: Sequence[Expectation]) -> Iterator[tuple[str, Remark]]:
    """Expectations for whose arguments no value was found, once each."""
    words = Vocabulary(subject=subject, expectations=tuple(expectations))
    for expectation in expectations:
        unmet = (mention for mention in expectation.mentions if not words.matching(mention))
        mention = next(unmet, None)
        if mention is not None:
            tool = visible(mention.tool)
            message = f"`{expectation.compiled.id}` was not tried: no arguments of `{tool}` were found that it accepts"
            where = subject.at(expectation, mention.args_path)
            advice = "nothing, if there are such arguments: with --traces it is tried on what was recorded"
            yield expectation.compiled.id, subject.remark("undecided", Level.NOTE, where, message, advice)


def _never_passing(subject: Subject, known: Sequence[Expectation], outlook: Outlook) -> Iterator[Remark]:
    blocking = [one for one in known if one.blocks]
    is_partial = len(known) < len(subject.expectations) and subject.test.test.min_assertion_rate < 1
    if outlook.passes or not blocking or is_partial:
        return
    culprits, found = _culprits(subject, blocking, outlook)
    level = Level.ERROR if found.whole else Level.WARNING
    names = listed([f"`{one.compiled.id}`" for one in culprits])
    both = f"{names} together" if len(culprits) > 1 else names
    message = f"no trajectory passes {both}: {found.words}"
    if level is Level.WARNING:
        message = f"no trajectory was found that passes {both}: {found.words}"
    yield subject.remark("never-passes", level, subject.at(culprits[-1]), message, "change one of them, or remove it")


def _culprits(
    subject: Subject, blocking: Sequence[Expectation], outlook: Outlook
) -> tuple[Sequence[Expectation], Outlook]:
    """One expectation, or two, with which nothing passes; all of them if no two are enough."""
    alone = [one for one in blocking if Status.PASS not in outlook.statuses[one.compiled.id]]
    smaller = [*((one,) for one in alone), *combinations(blocking, 2)][:MOST_PAIRS]
    for group in smaller if subject.test.test.min_assertion_rate == 1 else ():
        found = can_pass(subject, group)
        if not found.passes:
            return group, found
    return blocking, outlook


def _never_failing(subject: Subject, known: Sequence[Expectation], outlook: Outlook) -> Iterator[Remark]:
    for expectation in known:
        statuses = outlook.statuses[expectation.compiled.id]
        if Status.PASS in statuses and Status.FAIL not in statuses and not demands.cannot_fail(expectation):
            found = look(subject, [expectation])
            if Status.FAIL not in found.statuses[expectation.compiled.id]:
                message = f"no trajectory was found that fails `{expectation.compiled.id}`: {found.words}"
                yield subject.remark("never-fails", Level.WARNING, subject.at(expectation), message, _EXPECT)
