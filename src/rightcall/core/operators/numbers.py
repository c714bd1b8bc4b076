"""Numbers against a bound, exactly: `$gt`, `$gte`, `$lt`, `$lte`, `$approx` (G7)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar, Final

from rightcall.core.operators.base import Accepts, Making, Operator, number_named
from rightcall.core.operators.presence import type_note
from rightcall.core.values import display
from rightcall.errors import TestSetError, Where

Number = float
"""An integer of any size, or a float."""

DEFAULT_REL: Final = 1e-6
"""The relative tolerance of `$approx` where none is given."""


def is_number(value: Any) -> bool:
    """Whether the value is a JSON number: booleans are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _not_a_number(actual: Any) -> str:
    return "" if is_number(actual) else type_note(actual)


class _Comparison(Operator, frozen=True, kw_only=True, eq=False):
    says: ClassVar[str]
    holds_for: ClassVar[Callable[[Any, Any], bool]]
    value: Number

    def __post_init__(self) -> None:
        number_named("value", self.value)

    def compile(self, making: Making) -> Accepts:
        """Accept numbers on the right side of the bound. Python compares integers and floats exactly."""
        value, holds_for = self.value, type(self).holds_for
        return lambda actual: is_number(actual) and holds_for(actual, value)

    def words(self) -> str:
        """`at least 50`."""
        return f"{self.says} {display(self.value)}"

    def note(self, actual: Any, making: Making) -> str:
        """The type of what is no number."""
        return _not_a_number(actual)


class Gt(_Comparison, frozen=True, kw_only=True, eq=False):
    """A number greater than this one."""

    name: ClassVar[str] = "$gt"
    says: ClassVar[str] = "greater than"
    holds_for: ClassVar[Callable[[Any, Any], bool]] = operator.gt


class Gte(_Comparison, frozen=True, kw_only=True, eq=False):
    """A number equal to this one or greater."""

    name: ClassVar[str] = "$gte"
    says: ClassVar[str] = "at least"
    holds_for: ClassVar[Callable[[Any, Any], bool]] = operator.ge


class Lt(_Comparison, frozen=True, kw_only=True, eq=False):
    """A number less than this one."""

    name: ClassVar[str] = "$lt"
    says: ClassVar[str] = "less than"
    holds_for: ClassVar[Callable[[Any, Any], bool]] = operator.lt


class Lte(_Comparison, frozen=True, kw_only=True, eq=False):
    """A number equal to this one or less."""

    name: ClassVar[str] = "$lte"
    says: ClassVar[str] = "at most"
    holds_for: ClassVar[Callable[[Any, Any], bool]] = operator.le


class Approx(Operator, frozen=True, kw_only=True, eq=False):
    """A number near `value`: at most `abs` away, or at most `rel` times the size of `value` away.

    Either tolerance is enough; without any, `rel` is 0.000001. Numbers are taken as they are written in decimal,
    so 0.4 is within 0.1 of 0.3.
    """

    name: ClassVar[str] = "$approx"
    record: ClassVar[bool] = True
    value: Number
    abs: Number | None = None
    rel: Number | None = None

    def __post_init__(self) -> None:
        number_named("value", self.value)
        for field, tolerance in (("abs", self.abs), ("rel", self.rel)):
            if tolerance is not None:
                number_named(field, tolerance)
                if tolerance < 0:
                    raise TestSetError(f"a tolerance is not negative, found {tolerance}", Where(path=field))

    @property
    def tolerance(self) -> Fraction:
        """How far away a number may be."""
        value = exact(self.value)
        if self.abs is None and self.rel is None:
            return exact(DEFAULT_REL) * abs_of(value)
        return max(exact(self.abs or 0), exact(self.rel or 0) * abs_of(value))

    def compile(self, making: Making) -> Accepts:
        """Accept numbers within the tolerance."""
        value, tolerance = exact(self.value), self.tolerance
        return lambda actual: is_number(actual) and abs_of(exact(actual) - value) <= tolerance

    def argument(self) -> Any:
        """The value with its tolerances."""
        given = {"value": self.value, "abs": self.abs, "rel": self.rel}
        return {key: value for key, value in given.items() if value is not None}

    def words(self) -> str:
        """`about 19.5 (abs 0.01)`."""
        given = {key: value for key, value in self.argument().items() if key != "value"} or {"rel": DEFAULT_REL}
        return f"about {display(self.value)} ({', '.join(f'{key} {display(value)}' for key, value in given.items())})"

    def note(self, actual: Any, making: Making) -> str:
        """The type of what is no number."""
        return _not_a_number(actual)


def exact(number: Number) -> Fraction:
    """A number as it is written in decimal."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def abs_of(number: Fraction) -> Fraction:
    """The size of a number."""
    return -number if number < 0 else number
