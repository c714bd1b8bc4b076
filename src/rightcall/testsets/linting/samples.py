"""Values to try in the place of an expected one: some that it accepts, found by asking it.

Nothing is concluded from a value that is not found here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final

from rightcall.core.assertion import CannotJudge
from rightcall.core.operators import Bound, Operator
from rightcall.core.operators.base import Making
from rightcall.core.operators.binding import compile_value
from rightcall.core.operators.dates import Date
from rightcall.core.operators.logic import All, Not, OneOf
from rightcall.core.operators.numbers import Approx, Gt, Gte, Lt, Lte
from rightcall.core.operators.parts import Contains, Length, Unordered
from rightcall.core.operators.presence import Absent, OptionalValue
from rightcall.core.operators.strings import EndsWith, Regex, StartsWith, Text
from rightcall.core.values import MISSING, is_json
from rightcall.errors import TestSetError

MOST: Final = 24
"""Values that one expected value gives at most."""

COMMON: Final[tuple[Any, ...]] = (
    *(0, 1, -1, 2, 10, 100, 0.5, "", "a", "A", "abc", "1", "42", "a b", "A-1", "EUR", "https://example.org/a"),
    *("kim@example.org", "2026-11-30", "2026-11-30T12:00:00Z", "12:00:00Z", "192.0.2.1", True, False, None, [], {}),
    *([0], ["a"], {"a": 1}, "3f2504e0-4f89-11d3-9a0c-0305e82c3301"),
)

EXACT: Final = 2**52
"""Below it, floats tell halves apart."""

LONGEST: Final = 10_000
"""The longest text that is tried."""


def accepted(expected: Any, making: Making) -> list[Any]:
    """Values that an expected one accepts, `MISSING` among them where the key may be absent."""
    if isinstance(expected, Bound):
        return [expected.form]
    if isinstance(expected, Operator):
        return _accepted(expected, making)
    if isinstance(expected, dict):
        return _objects(expected, making)
    if isinstance(expected, list | tuple) and not is_json(expected):
        items = [accepted(item, making) for item in expected]
        return [[values[0] for values in items]] if all(items) else []
    return [expected]


def refused(expected: Any, making: Making) -> Iterator[Any]:
    """Values that an expected one speaks of only to refuse them: what stands in `$not`."""
    if isinstance(expected, Not):
        yield from accepted(expected.value, making)
        yield from refused(expected.value, making)
    elif isinstance(expected, OneOf | All):
        for value in expected.values:
            yield from refused(value, making)
    elif isinstance(expected, dict):
        first: dict[str, Any] = next(iter(_objects(expected, making)), {})
        for key, value in expected.items():
            yield from ({**first, key: other} for other in refused(value, making) if other is not MISSING)


def _objects(expected: dict[str, Any], making: Making) -> list[Any]:
    """One object of the first values, and one more for each further value of a key."""
    members = {key: accepted(value, making) for key, value in expected.items()}
    if not all(members.values()):
        return []
    first = {key: values[0] for key, values in members.items()}
    others = [{**first, key: value} for key, values in members.items() for value in values[1:]]
    return [_present(item) for item in islice([first, *others], MOST)]


def _present(item: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if value is not MISSING}


def _accepted(operator: Operator, making: Making) -> list[Any]:
    if isinstance(operator, Absent):
        return [MISSING]
    if isinstance(operator, OptionalValue):
        return [*accepted(operator.value, making), MISSING]
    try:
        accepts = compile_value(operator, making)
    except TestSetError:
        return []  # it depends on the calls before, which are not known here
    return list(islice((value for value in candidates(operator, making) if _takes(accepts, value)), MOST))


def _takes(accepts: Callable[[Any], bool], value: Any) -> bool:
    try:
        return accepts(value)
    except CannotJudge:
        return False


def candidates(operator: Operator, making: Making) -> Iterator[Any]:
    """Values that the operator may accept: what it mentions first, then what is common."""
    make = next((make for kind, make in _CANDIDATES.items() if isinstance(operator, kind)), None)
    yield from make(operator, making) if make else ()
    yield from COMMON


def _numbers(operator: Any, _: Making) -> Iterator[Any]:
    yield from (operator.value, operator.value + 1, operator.value - 1)
    if abs(operator.value) < EXACT:
        yield from (operator.value + 0.5, operator.value - 0.5)


def _texts(operator: Any, _: Making) -> Iterator[Any]:
    yield from (operator.value, f"{operator.value}a", f"a{operator.value}")


def _any_of(operator: Any, making: Making) -> Iterator[Any]:
    for value in operator.values:
        yield from candidates(value, making) if isinstance(value, Operator) else accepted(value, making)


def _parts(operator: Any, making: Making) -> Iterator[Any]:
    for value in accepted(operator.value, making):
        yield from (value, [value])


def _lengths(operator: Any, _: Making) -> Iterator[Any]:
    for size in (operator.min, operator.max):
        if size is not None and size <= LONGEST:
            yield from ("a" * size, [0] * size, {f"key{index}": 0 for index in range(size)})


def _items(operator: Any, making: Making) -> Iterator[Any]:
    yield from accepted(list(operator.values), making)


def _days(operator: Any, _: Making) -> Iterator[Any]:
    for bound in (operator.on, operator.after, operator.before):
        if bound is not None:
            year = bound[:4]
            others = (f"{int(year) + step:04}{bound[4:]}" for step in (1, -1)) if year.isdigit() else ()
            yield from (bound, *others)


def _not(operator: Any, making: Making) -> Iterator[Any]:
    yield from candidates(operator.value, making) if isinstance(operator.value, Operator) else ()


def _pattern(operator: Any, _: Making) -> Iterator[Any]:
    """A pattern may be plain text, anchored or with escapes before signs; a list of words in it may be choices."""
    text = operator.pattern.removeprefix("^").removesuffix("$").replace("\\", "")
    yield text
    yield from text.strip("()").removeprefix("?:").split("|")
    digits = text.replace("d+", "1").replace("d*", "1")
    yield digits
    yield from (text.split("[")[0] + filler for filler in ("1", "a", "A", "123", "1234", "abc"))


_CANDIDATES: Final[dict[type[Operator] | tuple[type[Operator], ...], Callable[[Any, Making], Iterator[Any]]]] = {
    (Gt, Gte, Lt, Lte, Approx): _numbers,
    (StartsWith, EndsWith, Text): _texts,
    (OneOf, All): _any_of,
    Not: _not,
    Contains: _parts,
    Length: _lengths,
    Unordered: _items,
    Date: _days,
    Regex: _pattern,
}
