"""Operators that stand together and leave no value: decided, not guessed.

Three things are decided exactly: operators beside a literal, or beside `$one_of` literals, by asking them all; types
of which none is common; and bounds of numbers and lengths between which nothing lies. All else is taken as possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import msgspec

from rightcall.core.assertion import CannotJudge
from rightcall.core.operators import Making, Operator, compile_value, written
from rightcall.core.operators.dates import Date
from rightcall.core.operators.logic import All, Not, OneOf
from rightcall.core.operators.numbers import Approx, Gt, Gte, Lt, Lte, exact
from rightcall.core.operators.parts import Contains, Length, Unordered
from rightcall.core.operators.presence import AnyValue, OfType
from rightcall.core.operators.strings import EndsWith, Regex, StartsWith, Text
from rightcall.core.values import display, is_json, member
from rightcall.core.wording import listed
from rightcall.errors import TestSetError

_NUMBER: Final = frozenset({"number"})
_STRING: Final = frozenset({"string"})
_TYPES: Final[dict[type[Operator], frozenset[str]]] = {
    **dict.fromkeys((Gt, Gte, Lt, Lte, Approx), _NUMBER),
    **dict.fromkeys((Regex, StartsWith, EndsWith, Text, Date), _STRING),
    Contains: frozenset({"string", "array", "object"}),
    Length: frozenset({"string", "array", "object"}),
    Unordered: frozenset({"array"}),
}
"""The JSON types that an operator accepts; those that are not here may accept any."""


class Impossible(msgspec.Struct, frozen=True):
    """A place inside an expected value where no value is possible, and why."""

    path: str
    why: str


class _Bounds(msgspec.Struct):
    """Numbers that are possible; a bound that is `open` is not itself among them."""

    least: Fraction | None = None
    most: Fraction | None = None
    least_open: bool = False
    most_open: bool = False

    def above(self, value: Fraction, is_open: bool) -> None:
        """Nothing less is possible."""
        if self.least is None or (value, is_open) > (self.least, self.least_open):
            self.least, self.least_open = value, is_open

    def below(self, value: Fraction, is_open: bool) -> None:
        """Nothing more is possible."""
        if self.most is None or (-value, is_open) > (-self.most, self.most_open):
            self.most, self.most_open = value, is_open

    def is_empty(self, *, whole: bool) -> bool:
        """Whether no number, or no whole one, is left."""
        if self.least is None or self.most is None:
            return False
        if whole:
            return self._last_whole(self.most) < self._first_whole(self.least)
        return self.least > self.most or (self.least == self.most and (self.least_open or self.most_open))

    def _first_whole(self, least: Fraction) -> int:
        up = -(-least.numerator // least.denominator)
        return up + (self.least_open and up == least)

    def _last_whole(self, most: Fraction) -> int:
        down = most.numerator // most.denominator
        return down - (self.most_open and down == most)


def impossible(expected: Any, making: Making, path: str = "") -> Iterator[Impossible]:
    """Every place in an expected value where nothing is possible."""
    stack = [(path, expected)]
    while stack:
        here, value = stack.pop()
        if isinstance(value, Operator):
            if why := reason(value, making):
                yield Impossible(here, why)
        elif isinstance(value, dict):
            stack.extend((member(here, str(key)), item) for key, item in reversed(value.items()))
        elif isinstance(value, list | tuple):
            stack.extend((f"{here}[{index}]", item) for index, item in enumerate(value))


def reason(operator: Operator, making: Making) -> str:
    """Why no value meets an operator; empty if one may."""
    if isinstance(operator, OneOf):
        whys = [next((inner.why for inner in impossible(value, making)), "") for value in operator.values]
        return "none of the values of `$one_of` is possible" if all(whys) else ""
    if isinstance(operator, Not):
        return "`$not` of any value leaves none" if isinstance(operator.value, AnyValue) else ""
    parts = list(_together(operator))
    if inner := next((found.why for part in parts for found in _inside(part, operator, making)), ""):
        return inner
    return _beside_literals(parts, making) or _types(parts) or _numbers(parts) or _sizes(parts)


def _inside(part: Any, operator: Operator, making: Making) -> Iterator[Impossible]:
    if part is not operator:
        yield from impossible(part, making)


def _together(value: Any) -> Iterator[Any]:
    """What must hold at once."""
    if isinstance(value, All):
        for part in value.values:
            yield from _together(part)
    else:
        yield value


def _beside_literals(parts: Sequence[Any], making: Making) -> str:
    """With a literal, or a choice of literals, among what must hold, only these are possible: ask them all."""
    for part in parts:
        literals = [part] if is_json(part) else list(part.values) if isinstance(part, OneOf) else []
        if literals and all(map(is_json, literals)) and len(parts) > 1:
            try:
                others = [compile_value(other, making) for other in parts if other is not part]
                if not any(all(accepts(literal) for accepts in others) for literal in literals):
                    return f"{_shown(parts)}: {display(written(part), 60)} does not meet the rest"
            except (CannotJudge, TestSetError):
                return ""
    return ""


def _types(parts: Sequence[Any]) -> str:
    left: frozenset[str] | None = None
    for part in parts:
        types = _types_of(part)
        if types is not None:
            left = types if left is None else left & types
    return f"{_shown(parts)}: no type of value meets all of them" if left is not None and not left else ""


def _types_of(part: Any) -> frozenset[str] | None:
    if isinstance(part, OfType):
        return frozenset({"number" if part.value == "integer" else part.value})
    return _TYPES.get(type(part))


def _numbers(parts: Sequence[Any]) -> str:
    bounds = _Bounds()
    for part in parts:
        if isinstance(part, Gt | Gte):
            bounds.above(exact(part.value), isinstance(part, Gt))
        elif isinstance(part, Lt | Lte):
            bounds.below(exact(part.value), isinstance(part, Lt))
        elif isinstance(part, Approx):
            bounds.above(exact(part.value) - part.tolerance, False)
            bounds.below(exact(part.value) + part.tolerance, False)
    whole = any(isinstance(part, OfType) and part.value == "integer" for part in parts)
    noun = "no whole number" if whole and not bounds.is_empty(whole=False) else "no number"
    return f"{_shown(parts)}: {noun} meets both" if bounds.is_empty(whole=whole) else ""


def _sizes(parts: Sequence[Any]) -> str:
    least = max((part.min for part in parts if isinstance(part, Length)), default=0)
    most = min((part.max for part in parts if isinstance(part, Length) and part.max is not None), default=least)
    return f"{_shown(parts)}: no length meets both" if most < least else ""


def _shown(parts: Sequence[Any]) -> str:
    return listed([f"`{display(written(part), 60)}`" for part in parts])
