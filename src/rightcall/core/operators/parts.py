"""What strings, arrays and objects hold: `$contains`, `$length`, `$unordered`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

from rightcall.core.assertion import CannotJudge
from rightcall.core.flow import MAX_CHECKS, Flow
from rightcall.core.operators.base import Accepts, Making, Operator, phrase
from rightcall.core.operators.binding import compile_at
from rightcall.core.values import display, freeze, is_json
from rightcall.errors import TestSetError, Where


class Contains(Operator, frozen=True, kw_only=True, eq=False):
    """A string that contains this text, an array that contains this item, or an object that contains these keys.

    In an array one item is enough, and the item may be an operator. An object contains another if it has each key
    of it with its value; other keys are ignored.
    """

    name: ClassVar[str] = "$contains"
    holds: ClassVar[tuple[str, ...]] = ("value",)
    value: Any

    def compile(self, making: Making) -> Accepts:
        """Accept by the type of the actual value."""
        inside = making.inside()
        item = compile_at(self.name, self.value, inside.below())
        members = compile_at(self.name, self.value, inside.opened()) if isinstance(self.value, dict) else None

        def accepts(actual: Any) -> bool:
            if isinstance(actual, str):
                return isinstance(self.value, str) and self.value in actual
            if isinstance(actual, list | tuple):
                return any(item(one) for one in actual)
            return members is not None and members(actual)

        return accepts

    def words(self) -> str:
        """`containing "late"`."""
        return f"containing {phrase(self.value)}"


class Length(Operator, frozen=True, kw_only=True, eq=False):
    """A string of so many characters (code points), an array of so many items, or an object of so many keys.

    Written as a number, or as `{min, max}`, both included, of which one may be left out.
    """

    name: ClassVar[str] = "$length"
    record: ClassVar[bool] = True
    min: int = 0
    max: int | None = None

    @classmethod
    def fields_of(cls, argument: Any) -> dict[str, Any] | None:
        """A number is both bounds."""
        return argument if isinstance(argument, dict) else {"min": argument, "max": argument}

    def __post_init__(self) -> None:
        for field, value in (("min", self.min), ("max", self.max)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                raise TestSetError(f"expected a whole number from 0, found {display(value)}", Where(path=field))
        if self.max is None and self.min == 0:
            raise TestSetError("expected a number, or a mapping with `min` or `max`")
        if self.max is not None and self.max < self.min:
            raise TestSetError(f"no length is at least {self.min} and at most {self.max}", Where(path="max"))

    def compile(self, making: Making) -> Accepts:
        """Accept what has a length within the bounds."""
        least, most = self.min, float("inf") if self.max is None else self.max
        return lambda actual: isinstance(actual, str | list | tuple | dict) and least <= len(actual) <= most

    def argument(self) -> Any:
        """The length, or its bounds."""
        if self.min == self.max:
            return self.min
        return {key: value for key, value in (("min", self.min), ("max", self.max)) if value is not None and value}

    def words(self) -> str:
        """`of length 3`, `of length 1 to 5`."""
        if self.min == self.max:
            return f"of length {self.min}"
        if self.max is None:
            return f"of length {self.min} or more"
        return f"of length {self.min} to {self.max}"

    def note(self, actual: Any, making: Making) -> str:
        """The length that was found."""
        return f"length {len(actual)}" if isinstance(actual, str | list | tuple | dict) else "no length"


class Unordered(Operator, frozen=True, kw_only=True, eq=False):
    """An array of these items in any order, and no others. An item may be an operator.

    Items are paired one to one as well as possible, never greedily. Beyond 5 million comparisons the verdict is an
    error.
    """

    name: ClassVar[str] = "$unordered"
    holds: ClassVar[tuple[str, ...]] = ("values",)
    values: tuple[Any, ...]

    def compile(self, making: Making) -> Accepts:
        """Accept arrays whose items can be paired one to one with the expected ones."""
        below = making.inside().below()
        wanted = Counter(freeze(value) for value in self.values if _is_literal(value, below))
        others = [
            compile_at(f"{self.name}[{index}]", value, below)
            for index, value in enumerate(self.values)
            if not _is_literal(value, below)
        ]

        def accepts(actual: Any) -> bool:
            if not isinstance(actual, list | tuple) or len(actual) != len(self.values):
                return False
            rest = _without(wanted, actual)
            return rest is not None and _pairs_all(others, rest)

        return accepts

    def words(self) -> str:
        """`of 1 and 2 in any order`."""
        return f"of {display(self.argument())} in any order"


def _is_literal(value: Any, making: Making) -> bool:
    """Whether the value accepts exactly what equals it: objects that may have more keys do not."""
    return is_json(value) and (making.objects == "whole" or not isinstance(value, dict | list | tuple))


def _without(wanted: Counter[Any], actual: Sequence[Any]) -> Sequence[Any] | None:
    """What is left of the items after each literal has taken one that equals it; `None` if one finds none.

    Equal items are interchangeable, so taking any of them is exact.
    """
    if not wanted:
        return actual
    left, rest = wanted.copy(), []
    for item in actual:
        key = freeze(item)
        if left[key] > 0:
            left[key] -= 1
        else:
            rest.append(item)
    return None if any(left.values()) else rest


def _pairs_all(expected: Sequence[Accepts], items: Sequence[Any]) -> bool:
    """Whether a maximum matching pairs all: as many items as expected ones are left."""
    if len(expected) * len(items) > MAX_CHECKS:
        raise CannotJudge(
            "limit", f"Pairing the items of an array took more than {MAX_CHECKS:,} comparisons, the limit."
        )
    found = [tuple(at for at, item in enumerate(items) if accepts(item)) for accepts in expected]
    return all(Flow(found).cover()) if all(found) else False
