"""Tests ready to check: every assertion compiled, every mistake in one placed in its file."""

from __future__ import annotations

from typing import NoReturn

import msgspec
from msgspec.structs import replace

from rightcall.core.asking import Asker, no_judge
from rightcall.core.assertion import (
    CodeLoader,
    Compiled,
    RegexEngine,
    SchemaEngine,
    Setting,
    compile_all,
    compile_one,
    no_code,
    no_schemas,
)
from rightcall.errors import TestSetError
from rightcall.testsets.model import Test, TestSet
from rightcall.testsets.source import Source


class CompiledTest(msgspec.Struct, frozen=True):
    """A test and its assertions, ready to check many trajectories."""

    __test__ = False

    test: Test
    assertions: tuple[Compiled, ...]


def compile_tests(
    test_set: TestSet,
    regex: RegexEngine,
    schema: SchemaEngine = no_schemas,
    code: CodeLoader = no_code,
    judge: Asker = no_judge,
) -> tuple[CompiledTest, ...]:
    """Every test of a test set, compiled. `TestSetError` with file, line, column and path."""
    return tuple([compile_test(test, regex, schema, test_set.source, code, judge) for test in test_set.tests])


def compile_test(
    test: Test,
    regex: RegexEngine,
    schema: SchemaEngine = no_schemas,
    source: Source | None = None,
    code: CodeLoader = no_code,
    judge: Asker = no_judge,
) -> CompiledTest:
    """One test, compiled. `source` finds the line and column of a path."""
    setting = setting_of(test, regex, schema, code, judge)
    try:
        return CompiledTest(test, compile_all(test.assertions, setting))
    except TestSetError as error:
        _refuse(test, setting, source or Source(), error)


def setting_of(
    test: Test,
    regex: RegexEngine,
    schema: SchemaEngine = no_schemas,
    code: CodeLoader = no_code,
    judge: Asker = no_judge,
) -> Setting:
    """What stands around the assertions of a test."""
    return Setting(
        regex=regex,
        schema=schema,
        code=code,
        judge=judge,
        tool_schemas=test.tool_schemas,
        tool_aliases=test.tool_aliases,
        ignore_arguments=test.ignore_arguments,
        count=test.count,
        parallel_unordered=test.parallel == "unordered",
    )


def _refuse(test: Test, setting: Setting, source: Source, first: TestSetError) -> NoReturn:
    """Raise the error again with the place of the assertion that it comes from."""
    for assertion, place in zip(test.assertions, test.places, strict=True):
        try:
            compile_one(assertion, setting)
        except TestSetError as error:
            found = source.value(place.path(error.where.path))
            where = replace(found, file=found.file or place.where.file, line=found.line or place.where.line)
            raise TestSetError(error.message, where) from None
    raise first
