"""Test sets from one tool's words into another's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from rightcall.app import code, service
from rightcall.app.regex import compile_regex
from rightcall.app.schemas import compile_schema
from rightcall.errors import UsageError, Where
from rightcall.testsets import TestSet, compile_tests, dialects, source
from rightcall.testsets.dumping import to_json, to_yaml
from rightcall.testsets.foreign import Note, told
from rightcall.testsets.saying import around, check_gate

NATIVE = "native"


class Converted(msgspec.Struct, frozen=True, kw_only=True):
    """The file in its new words, and what does not mean quite the same there."""

    data: bytes
    notes: tuple[str, ...]


def convert(name: str, dialect: str | None, target: str, config: str | None, output: str | None) -> Converted:
    """Read a file in `dialect`, or the one it names, and say it in the dialect `target`.

    `config` names a file with keys for the whole test set, such as the parameters of a metric. The ending of
    `output` decides whether it is YAML or JSON. `TestSetError` for what cannot be read, or not be said there;
    `UsageError` for a dialect that cannot be written.
    """
    wanted = dialects.named(target)
    if wanted.write is None:
        known = ", ".join(known for known in dialects.DIALECTS if dialects.named(known).write is not None)
        raise UsageError(f"the dialect `{target}` can be read but not written; these can be: {known}")
    dump = _dump(output, target)
    test_set = _read(name, dialect, config)
    if target != NATIVE:
        check_gate(test_set, target)
    written = wanted.write(test_set)
    notes = list(written.notes)
    if target != NATIVE and isinstance(written.data, dict):
        notes += around(test_set, target, written.data.keys())
    return Converted(
        data=dump(written.data),
        notes=(*test_set.warnings, *_empty(test_set), *[_told(note, more, test_set) for note, more in told(notes)]),
    )


def _read(name: str, dialect: str | None, config: str | None) -> TestSet:
    test_set = service.read_tests(name, dialect, service.read_config(config))
    compile_tests(test_set, compile_regex, compile_schema, code.loader(name))
    return test_set


def _empty(test_set: TestSet) -> Iterator[str]:
    """A note where no test expects anything: then it is most likely a file of something else."""
    if test_set.tests and not any(test.assertions for test in test_set.tests):
        yield f"{test_set.source.file}: no test expects anything; is the file in the words that were named?"


def _dump(output: str | None, target: str) -> Callable[[Any], bytes]:
    if output is None:
        return to_yaml if target == NATIVE else to_json
    form = source.named(output)
    if form not in ("yaml", "json"):
        raise UsageError("expected a name that ends in .yaml, .yml or .json", Where(file=output))
    return to_yaml if form == "yaml" else to_json


def _told(note: Note, more: int, test_set: TestSet) -> str:
    place = str(test_set.source.key(note.path)) if note.path else str(test_set.source.file)
    return f"{place}{f' and {more} more' if more else ''}: {note.message}"
