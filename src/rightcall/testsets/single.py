"""One test out of expectation keys that do not stand in a test set file: in a record, or in Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from rightcall.errors import TestSetError, UsageError, Where, join_path
from rightcall.testsets import dialects
from rightcall.testsets.decoding import Common, Kinds, Reader, build, convert
from rightcall.testsets.explain import found, listed
from rightcall.testsets.keys import EXPECTATION_KEYS, EXPECTATIONS, TestKeys
from rightcall.testsets.model import Place, Test
from rightcall.testsets.preparing import (
    Ignored,
    accepting_null_arguments,
    null_key,
    without_extra,
    without_record_fields,
)
from rightcall.testsets.simple import simple


def from_keys(expectations: Mapping[str, Any], kinds: Kinds, *, dialect: str | None = None) -> Test:
    """The test that the keys of a mapping state, such as `{"allowed_tools": ["lookup_order"]}`.

    Its `assertions` are what to check, the rest of it their setting. Expected values may be any Python objects.
    Raises `TestSetError` with the path, also when no key states an expectation (G27).
    """
    if not isinstance(expectations, Mapping):
        raise TestSetError(f"expected a mapping such as {{'allowed_tools': […]}}, found {found(expectations)}")
    spoken = dialects.named(dialect or "native")
    if spoken.open is not None:
        raise UsageError(f"the dialect `{spoken.name}` is that of a file of tests, not of single expectations")
    return _single(
        spoken.translate(dict(expectations)), Reader(kinds=kinds, dialect=spoken, renames=dict(spoken.renames))
    )


def embedded(
    expectations: Mapping[str, Any],
    kinds: Kinds,
    *,
    identity: str = "1",
    where: Where | None = None,
    dialect: str | None = None,
) -> Test:
    """The test that a native record carries beside its calls.

    `identity` is the test's id when the keys have none, `where` the record's place. In a record
    `arguments: null` on an expected call accepts any arguments.
    """
    at = where or Where()
    if dialect is None and (short := simple(expectations, identity, at)) is not None:
        return short
    try:
        test = from_keys(accepting_null_arguments(dict(expectations)), kinds, dialect=dialect)
    except TestSetError as error:
        raise error.within(file=at.file, line=at.line, column=at.column, path=at.path) from None
    places = tuple(Place(_moved(place.where, at), _inside(place.fields, at)) for place in test.places)
    known = identity if test.positional else test.id
    return replace(test, id=known, positional=False, places=places, where=at)


def _moved(where: Where, at: Where) -> Where:
    return replace(at, path=join_path(at.path, where.path))


def _inside(fields: Mapping[str, str], at: Where) -> dict[str, str]:
    return {name: join_path(at.path, path) for name, path in fields.items()}


def _single(raw: dict[str, Any], reader: Reader) -> Test:
    ignored = Ignored()
    value, extra = without_extra(without_record_fields(raw, "", ignored))
    if problem := null_key(value, ""):
        reader.refuse(problem)
    keys = convert(value, TestKeys, "", reader)
    if EXPECTATION_KEYS.isdisjoint(raw):
        words = listed(list(dict.fromkeys(map(reader.written, EXPECTATIONS))), "or")
        raise TestSetError(f"nothing is expected: give {words}, or `assertions`")
    test = build(keys, Common(), "", 1, reader, extra)
    return replace(test, warnings=tuple(ignored.warnings(str)))
