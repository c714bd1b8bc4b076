"""Which words a pattern of steps stands for, listed one by one: the definitions of the rules, read literally."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

from rightcall.assertions.sequence import Repeat, Step

Word = tuple[str, ...]
"""Tools, one a call."""


def words(step: Step, longest: int) -> frozenset[Word]:
    """Every word of a step of at most so many calls."""
    return frozenset(word for word in _words(step, longest) if len(word) <= longest)


def sequence_words(steps: Iterable[Step], longest: int) -> frozenset[Word]:
    """Every word of steps one after another, of at most so many calls."""
    return _joined([words(step, longest) for step in steps], longest, lambda one, other: [one + other])


def _words(step: Step, longest: int) -> Iterable[Word]:
    if isinstance(step.tool, str):
        return [(step.tool,)]
    if isinstance(step.optional, Step):
        return [(), *words(step.optional, longest)]
    if isinstance(step.repeat, Repeat):
        return _repeated(step.repeat, longest)
    if isinstance(step.one_of, tuple):
        return [word for part in step.one_of for word in words(part, longest)]
    if isinstance(step.in_order, tuple):
        return sequence_words(step.in_order, longest)
    assert isinstance(step.any_order, tuple)
    return _joined([words(part, longest) for part in step.any_order], longest, interleavings)


def _joined(
    languages: list[frozenset[Word]], longest: int, join: Callable[[Word, Word], Iterable[Word]]
) -> frozenset[Word]:
    joined: frozenset[Word] = frozenset({()})
    for language in languages:
        pairs = [(one, other) for one in joined for other in language if len(one) + len(other) <= longest]
        joined = frozenset(word for one, other in pairs for word in join(one, other))
    return joined


def _repeated(repeat: Repeat, longest: int) -> Iterable[Word]:
    most = repeat.max if isinstance(repeat.max, int) else repeat.min + longest + 1
    once = words(repeat.step, longest)
    for number in range(repeat.min, min(most, repeat.min + longest + 1) + 1):
        yield from _joined([once] * number, longest, lambda one, other: [one + other])


def interleavings(one: Word, other: Word) -> Iterable[Word]:
    """Every way to merge two words that keeps the order of each."""
    length = len(one) + len(other)
    for places in itertools.combinations(range(length), len(one)):
        first, second = iter(one), iter(other)
        yield tuple(next(first) if at in places else next(second) for at in range(length))


def is_subsequence(word: Word, made: Word) -> bool:
    """Whether some choice of the calls, in order, is the word."""
    left = iter(made)
    return all(tool in left for tool in word)
