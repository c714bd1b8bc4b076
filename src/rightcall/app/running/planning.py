"""Which tests an agent is driven on, how often, and in which order."""

from __future__ import annotations

import fnmatch
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from rightcall.core.wording import first
from rightcall.errors import TestSetError, UsageError, did_you_mean
from rightcall.testsets import CompiledTest, Test

Order = Literal["as_written", "failed_first", "failed_only"]

FIELDS: Final = ("id", "name", "tag", "requirement", "category", "topic")
"""What a filter may ask for; without one it asks for the id."""

_SHOWN: Final = 5


class Planned(msgspec.Struct, frozen=True):
    """One attempt that is to be made: the test's id and the number of the attempt, from 1."""

    test: str
    number: int


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """Which tests, how often, in which order.

    `filters` are `FIELD:PATTERN`, or a pattern of ids: those of one field are alternatives, all fields must hold.
    `ids` are those of the tests themselves, `None` for all. `repeat` replaces what tests say themselves.
    """

    ids: frozenset[str] | None = None
    filters: tuple[str, ...] = ()
    order: Order = "as_written"
    repeat: int | None = None


def selected(
    tests: Sequence[CompiledTest], selection: Selection, failed: Collection[str] | None = None
) -> list[CompiledTest]:
    """The tests that are to be run, in their order. `failed` are the ids of those that did not pass the last time.

    `UsageError` if there are none, or the last time is asked for and there was none.
    """
    wanted = [_wanted(text) for text in selection.filters]
    patterns: dict[str, list[str]] = defaultdict(list)
    for field, pattern in wanted:
        patterns[field].append(pattern)
    known = [compiled for compiled in tests if selection.ids is None or compiled.test.id in selection.ids]
    found = [compiled for compiled in known if _matches(compiled.test, patterns)]
    if not found:
        told = " ".join(f"--filter {text}" for text in selection.filters)
        there = f"the tests are {first([one.test.id for one in known], _SHOWN)}"
        raise UsageError(f"{told}: no test matches; {there}" if told and known else "there is no test to run")
    return _ordered(found, selection.order, failed)


def _wanted(text: str) -> tuple[str, str]:
    """The field and the pattern of a filter. An id may hold a colon: what stands before it must be a field."""
    field, colon, pattern = text.partition(":")
    if not colon:
        return "id", text
    if field not in FIELDS:
        known = ", ".join(FIELDS)
        raise UsageError(
            f"--filter {text}: there is no field `{field}`{did_you_mean(field, FIELDS)}; the fields are {known}"
        )
    return field, pattern


def _matches(test: Test, patterns: Mapping[str, Iterable[str]]) -> bool:
    return all(
        any(fnmatch.fnmatchcase(value, pattern) for value in _values(test, field) for pattern in alternatives)
        for field, alternatives in patterns.items()
    )


def _values(test: Test, field: str) -> Iterable[str]:
    if field == "tag":
        return test.tags
    value = getattr(test, field)
    return () if value is None else (value,)


def _ordered(tests: list[CompiledTest], order: Order, failed: Collection[str] | None) -> list[CompiledTest]:
    if order == "as_written":
        return tests
    if failed is None:
        if order == "failed_first":
            return tests
        raise UsageError("--failed: no run of these tests has ended yet; leave it out")
    first = [compiled for compiled in tests if compiled.test.id in failed]
    if order == "failed_first":
        return first + [compiled for compiled in tests if compiled.test.id not in failed]
    if not first:
        raise UsageError("--failed: every test passed when it was last run; leave it out")
    return first


def repeats(tests: Iterable[CompiledTest], repeat: int | None) -> dict[str, int]:
    """How many attempts are to be made at each test, by its id."""
    return {compiled.test.id: repeat or compiled.test.repeat for compiled in tests}


def attempts(planned: Mapping[str, int], *, test_by_test: bool = True) -> Iterator[Planned]:
    """The attempts in their order: all those at one test, then at the next; or the first at every test, and so on."""
    if test_by_test:
        yield from (Planned(test, number) for test, count in planned.items() for number in range(1, count + 1))
        return
    for number in range(1, max(planned.values(), default=0) + 1):
        yield from (Planned(test, number) for test, count in planned.items() if number <= count)


def lines(test: Test) -> tuple[Any, ...]:
    """What the user says in a test, turn by turn; `TestSetError` if that is nothing, or not said of a turn.

    The test's own prompt is that of its first turn, where that has none.
    """
    said = test.turns or (None,)
    if test.prompt is not None:
        if said[0] is not None:
            message = f"the test `{test.id}` has a `prompt`, and its first turn has one too; leave one of them out"
            raise TestSetError(message, test.where)
        said = (test.prompt, *said[1:])
    if said == (None,):
        raise TestSetError(f"the test `{test.id}` has no `prompt` and no `turns`: nothing can be sent", test.where)
    silent = [number for number, line in enumerate(said, 1) if line is None]
    if silent:
        raise TestSetError(f"turn {silent[0]} of the test `{test.id}` has no `prompt`: nothing can be sent", test.where)
    return said
