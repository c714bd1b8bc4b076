"""Reading test set files: bytes to a `TestSet`, or a `TestSetError` with file, line, column and path."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import UnsetType
from msgspec.structs import replace

from rightcall.core.models import ModelConfig, problem
from rightcall.core.results import ONE
from rightcall.core.summary import Gate
from rightcall.errors import TestSetError, UsageError
from rightcall.testsets import dialects
from rightcall.testsets.decoding import MAY_BE_UNKNOWN, Kinds, Reader, build, common, convert
from rightcall.testsets.dialects import Dialect
from rightcall.testsets.explain import FOREIGN, Problem, found, shorten
from rightcall.testsets.keys import FileKeys, GateKeys
from rightcall.testsets.marks import child
from rightcall.testsets.model import Test, TestSet
from rightcall.testsets.preparing import Ignored, null_key, without_extra, without_record_fields
from rightcall.testsets.source import Source, load
from rightcall.testsets.sugar import given
from rightcall.testsets.tools import known_names, named_tools, unknown_tool

if TYPE_CHECKING:
    from rightcall.testsets.foreign import At, Note, Opened


def read(
    data: bytes,
    kinds: Kinds,
    *,
    file: str = "-",
    dialect: str | None = None,
    defaults: Mapping[str, Any] | None = None,
    config: Source | None = None,
) -> TestSet:
    """The test set that a file holds.

    `kinds` are the kinds of assertion by name. `dialect` says whose words the tests are in, if not the file
    itself. `defaults` are test-set-wide keys for a file that does not have them, as JSON Lines cannot;
    `config` is where they were read, and then none of them may stand in the file too.
    Raises `TestSetError` with the place, `UsageError` for a dialect that is not known.
    """
    value, source = load(data, file)
    own = _keys(value)
    whole = {**(defaults or {}), **own}
    _check_once(own, defaults or {}, config)
    source = replace(source.marked(), beside=dict.fromkeys(whole.keys() - own.keys(), config or Source()))
    spoken = _dialect(whole, dialect, source)
    if not isinstance(value, dict) and (spoken.open is None or not isinstance(value, list)):
        advice = f"; {FOREIGN}" if isinstance(value, list) and value else ""
        message = f"expected a mapping with `tests`, found {found(value)}{advice}"
        raise TestSetError(message, source.value(""))
    reader = Reader(kinds=kinds, dialect=spoken, source=source)
    if spoken.open is None:
        return _test_set(*_translate(whole, reader))
    return _opened(value, whole, spoken.open, reader)


def _check_once(own: Mapping[str, Any], others: Mapping[str, Any], config: Source | None) -> None:
    """Refuse a key that both the file and the one beside it have."""
    twice = [key for key in others if key in own]
    if config is not None and twice:
        message = f"`{shorten(twice[0])}` stands in the test set too; leave it out of one of them"
        raise TestSetError(message, config.key(child("", twice[0])))


def _keys(value: Any) -> dict[str, Any]:
    """The keys of a file; one that is a list holds its tests."""
    if isinstance(value, list):
        return {"tests": value}
    return value if isinstance(value, dict) else {}


def _opened(value: Any, whole: dict[str, Any], open_file: Callable[[At], Opened], reader: Reader) -> TestSet:
    """The test set of a file that a dialect opens, places and notes where they stand in that file."""
    from rightcall.testsets.foreign import At

    prefix = "tests" if isinstance(value, list) else ""
    try:
        opened = open_file(At({key: item for key, item in whole.items() if key != "dialect"}))
    except TestSetError as error:
        reader.refuse(Problem(error.where.path.removeprefix(prefix), error.message))
    paths = [path.removeprefix(prefix) for path in opened.paths]
    test_set = _test_set(opened.keys, replace(reader, paths=tuple(paths)))
    return replace(test_set, warnings=(*test_set.warnings, *_told(opened.notes, prefix, reader)))


def _told(notes: Sequence[Note], prefix: str, reader: Reader) -> Iterator[str]:
    from rightcall.testsets.foreign import told

    for note, more in told(notes):
        place = reader.key(note.path.removeprefix(prefix))
        yield f"{place}{f' and {more} more' if more else ''}: {note.message}"


def _dialect(value: dict[str, Any], asked: str | None, source: Source) -> Dialect:
    """The dialect that the caller or the file names; they may not contradict each other."""
    written = value.get("dialect")
    if isinstance(written, str) and written not in dialects.DIALECTS:
        try:
            dialects.named(written)
        except UsageError as error:
            raise TestSetError(error.message, source.value("dialect")) from None
    if asked is not None and isinstance(written, str) and asked != written:
        raise UsageError(f"the dialect `{asked}` was asked for, but the file says `{written}`", source.value("dialect"))
    name = asked if asked is not None else written
    return dialects.named(name if isinstance(name, str) else "native")


def _translate(value: dict[str, Any], reader: Reader) -> tuple[dict[str, Any], Reader]:
    """The file in native words, and a reader that knows the words it was written in."""
    dialect, renames = reader.dialect, dict(reader.dialect.renames)
    for holder in dialect.holders:
        if holder in value and "tests" not in value:
            value = {"tests" if key == holder else key: item for key, item in value.items()}
            renames["tests"] = holder
    if isinstance(value.get("tests"), list):
        value = {**value, "tests": [dialect.translate(test) for test in value["tests"]]}
    return value, replace(reader, renames=renames)


def _test_set(value: dict[str, Any], reader: Reader) -> TestSet:
    ignored = Ignored()
    head, extra = without_extra(without_record_fields(value, "", ignored))
    tests = _prepared(head.get("tests"), ignored)
    if tests is not None:
        head = {**head, "tests": [test for test, _ in tests]}
    _check_nulls(head, reader)
    keys = convert(head, FileKeys, "", reader)
    shared = common(keys, reader)
    built = [
        build(test, shared, child("tests", index), index + 1, reader, kept)
        for index, (test, (_, kept)) in enumerate(zip(keys.tests, tests or (), strict=True))
    ]
    _check_ids(built, reader)
    return TestSet(
        name=keys.name or "",
        tests=tuple(built),
        gate=_gate(keys.gate),
        endpoint=keys.endpoint,
        judge=_model("judge", keys.judge, reader),
        simulator=_model("simulator", keys.simulator, reader),
        metadata=keys.metadata,
        extra=extra,
        warnings=(*ignored.warnings(reader.key), *_unknown(built)),
        hash=_hash([reader.dialect.name, value]),
        source=reader.source,
    )


def _prepared(tests: Any, ignored: Ignored) -> list[tuple[Any, dict[str, Any]]] | None:
    """Each test made ready to decode, with its `x-…` keys beside it."""
    if not isinstance(tests, list):
        return None
    return [
        without_extra(without_record_fields(test, child("tests", index), ignored)) for index, test in enumerate(tests)
    ]


def _check_nulls(head: dict[str, Any], reader: Reader) -> None:
    tests = head.get("tests")
    if not isinstance(tests, list):
        return
    for path, keys in [("", head), *((child("tests", index), test) for index, test in enumerate(tests))]:
        if problem := null_key(keys, path):
            reader.refuse(problem)


def _check_ids(tests: list[Test], reader: Reader) -> None:
    """Refuse an id that two tests share, be it written or a position."""
    first: dict[str, Test] = {}
    for index, test in enumerate(tests):
        other = first.setdefault(test.id, test)
        if other is not test:
            place = f"line {other.where.line}, as {other.where.path}"
            advice = "; give every test an `id`" if test.positional or other.positional else ""
            path = child(child("tests", index), "id")
            reader.refuse(Problem(path, f"the id `{shorten(test.id)}` is repeated; it stands first in {place}{advice}"))


def _model(key: str, written: str | ModelConfig | UnsetType, reader: Reader) -> ModelConfig | None:
    if isinstance(written, UnsetType):
        return None
    config = ModelConfig(model=written) if isinstance(written, str) else written
    if wrong := problem(config):
        field, message = wrong
        reader.refuse(Problem(key if isinstance(written, str) else child(key, field), message))
    if key == "simulator" and config.cache is not None:
        reader.refuse(Problem(child(key, "cache"), "what a simulated user says is never kept; leave it out", "key"))
    return config


def _gate(keys: GateKeys) -> Gate:
    return Gate(
        min_pass_rate=given(keys.min_pass_rate, ONE),
        min_graded=keys.min_graded,
        allow_errors=keys.allow_errors,
        thresholds=keys.thresholds,
    )


def _unknown(tests: list[Test]) -> Iterator[str]:
    """Names in policies that no tool has: perhaps meant for other agents, perhaps misspelt."""
    said = set()
    for test in tests:
        known = known_names(test.tool_schemas, test.tool_aliases)
        for assertion, place in zip(test.assertions, test.places, strict=True) if known else ():
            for _, name in named_tools(assertion) if assertion.__struct_config__.tag in MAY_BE_UNKNOWN else ():
                if name not in known and name not in said:
                    said.add(name)
                    yield f"{place.where}: {unknown_tool(name, known)}"


def _hash(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
