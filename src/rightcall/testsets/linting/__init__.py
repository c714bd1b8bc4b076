"""Expectations that prove they can fail: what is wrong with tests, without any trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from rightcall.core.assertion import CodeLoader, RegexEngine, SchemaEngine
from rightcall.testsets.compiling import compile_tests, setting_of
from rightcall.testsets.linting import deciding, gating, naming
from rightcall.testsets.linting.remarks import CODES, Level, Remark
from rightcall.testsets.linting.subject import Subject
from rightcall.testsets.model import TestSet

__all__ = ["CODES", "Level", "Remark", "Subject", "lint", "lint_together", "subjects"]

CHECKS: Final[tuple[Callable[[Subject], Iterator[Remark]], ...]] = (
    gating.test_itself,
    gating.rates,
    naming.contradictions,
    naming.impossible_values,
    naming.loose_arguments,
    naming.tools,
    naming.arguments,
    gating.repeated_expectations,
    deciding.proven,
)
"""What is looked at in one test; a new check is one function and one line."""

_BREAKING: Final = frozenset({"contradiction", "impossible-value"})


def subjects(test_set: TestSet, regex: RegexEngine, schema: SchemaEngine, code: CodeLoader) -> list[Subject]:
    """The tests of a test set, compiled; `TestSetError` as of `compile_tests`."""
    return [
        Subject(test=compiled, setting=setting_of(compiled.test, regex, schema, code), source=test_set.source)
        for compiled in compile_tests(test_set, regex, schema, code)
    ]


def lint(test_set: TestSet, tests: Sequence[Subject]) -> Iterator[Remark]:
    """Everything that is wrong with the tests of one test set, test by test, then with the gate."""
    for subject in tests:
        yield from _lint_test(subject)
    yield from gating.gate(test_set, tests)


def _lint_test(subject: Subject) -> Iterator[Remark]:
    found = [remark for check in CHECKS for remark in check(subject)]
    yield from found
    if not any(remark.code in _BREAKING and remark.level is Level.ERROR for remark in found):
        yield from deciding.decide(subject)


def lint_together(tests: Sequence[Subject]) -> Iterator[Remark]:
    """What is wrong between the tests of all files."""
    yield from gating.repeated_ids(tests)
    yield from gating.repeated_tests(tests)
