"""Test sets in: files read and compiled, with what is worth knowing about them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall import testsets
from rightcall.app import code, files, judging, kit, lazy_judge
from rightcall.app.judging import JudgeOptions
from rightcall.app.regex import compile_regex
from rightcall.app.schemas import compile_schema
from rightcall.core.asking import no_judge
from rightcall.core.wording import amount, first
from rightcall.errors import TestSetError, TraceError, Where
from rightcall.testsets import CompiledTest, TestSet, compile_tests
from rightcall.testsets import read as read_test_set

SHOWN_POSITIONAL: Final = 3
_HEAD: Final = 1 << 16
_EXPECTING: Final = re.compile(rb'"(expected_\w+|\w+_tools|tests|rules|turns)"\s*:')
_NAMED_SO: Final = "a trace is named without an option, as in `rightcall grade TRACES --tests FILE`"


class Config(msgspec.Struct, frozen=True):
    """Keys for whole test sets that stand in a file of their own, and where."""

    keys: dict[str, Any]
    source: testsets.Source


def read_config(name: str | None) -> Config | None:
    """Read the keys for whole test sets, if a file with them is named; `TestSetError` if it is none."""
    return None if name is None else parse_config(files.read(name), name)


def parse_config(data: bytes, name: str) -> Config:
    """Read the keys that these bytes of a file of that name hold, as `read_config` does."""
    return Config(*testsets.load_config(data, files.shown(name)))


def named(config: str | None) -> tuple[str, ...]:
    """Return the files that are read for it: the one that is named, or none."""
    return () if config is None else (config,)


def read_tests(name: str, dialect: str | None, config: Config | None = None) -> TestSet:
    """Read one test set, or the standard input for `-`; `TestSetError` if it is bad.

    `config` has keys for the whole test set, none of which it may have itself.
    """
    return parse_tests(files.read(name), name, dialect, config)


def parse_tests(data: bytes, name: str, dialect: str | None, config: Config | None = None) -> TestSet:
    """Read the test set that these bytes of a file of that name are, as `read_tests` does."""
    keys, source = ({}, None) if config is None else (config.keys, config.source)
    kinds = kit.all_kinds() if "assertions" in keys else kit.kinds(data)
    try:
        return read_test_set(data, kinds, file=files.shown(name), dialect=dialect, defaults=keys, config=source)
    except TestSetError:
        if dialect is None and (format_ := _recorded_as(data)):
            message = f"this looks like a trace of the format `{format_}`, not a test set; {_NAMED_SO}"
            raise TestSetError(message, Where(file=files.shown(name))) from None
        raise


def _recorded_as(data: bytes) -> str:
    """The format that a file is in which was to be a test set; empty unless it is a recording that expects nothing."""
    from rightcall import traces

    try:
        return "" if _EXPECTING.search(data[:_HEAD]) else traces.detect(data[:_HEAD])
    except TraceError:
        return ""


def compiled(name: str, test_set: TestSet, judge: JudgeOptions | None = None) -> tuple[CompiledTest, ...]:
    """Compile the tests of a file; `TestSetError` for one that can never be checked.

    With `judge`, what is said of it outside the file, they are ready to be graded: `UsageError` if one of them asks a
    judge that cannot be used. Without, whoever would ask gets an error.
    """
    ask = no_judge if judge is None else judging.judge_for(judge, test_set.judge, os.path.dirname(name))
    tests = compile_tests(test_set, compile_regex, compile_schema, code.loader(name), ask)
    lazy_judge.ready(tests)
    return tests


def warnings_of(sets: Iterable[TestSet]) -> Iterator[str]:
    """Say what is worth knowing about test sets."""
    for test_set in sets:
        yield from test_set.warnings
        nameless = [test.id for test in test_set.tests if test.positional]
        if nameless:
            noun = amount(len(nameless), "test has", "tests have")
            yield f"{noun} no `id`; the position stands for it: {first(nameless, SHOWN_POSITIONAL)}"


def check_ids(sets: Iterable[TestSet]) -> None:
    """Refuse an id that two tests of all sets share; `TestSetError`."""
    seen: dict[str, Where] = {}
    for test in (test for test_set in sets for test in test_set.tests):
        if test.id in seen:
            first = f"; the first is at {seen[test.id]}"
            raise TestSetError(f"the test id `{test.id}` is used twice{first}", test.where)
        seen[test.id] = test.where
