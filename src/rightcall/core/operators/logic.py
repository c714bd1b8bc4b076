"""Expected values put together: `$one_of`, `$all`, `$not`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from rightcall.core.operators.base import Accepts, Making, Operator, phrase
from rightcall.core.operators.binding import bind, compile_at, every
from rightcall.errors import TestSetError, Where


class _Values(Operator, frozen=True, kw_only=True, eq=False):
    holds: ClassVar[tuple[str, ...]] = ("values",)
    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise TestSetError(f"`{self.name}` needs at least one value", Where(path="values"))

    def in_place(self, change: Callable[[Any], Any]) -> Operator:
        """Each value stands for the place of the operator."""
        return msgspec.structs.replace(self, values=tuple(change(value) for value in self.values))

    def places(self) -> list[str]:
        """Where each value stands inside the operator, as a path."""
        return [f"{self.name}[{index}]" for index in range(len(self.values))]

    def each(self, making: Making) -> list[Accepts]:
        """What decides for each value."""
        inside = making.inside()
        return [compile_at(path, value, inside) for path, value in zip(self.places(), self.values, strict=True)]


class OneOf(_Values, frozen=True, kw_only=True, eq=False):
    """Any of these values, each of which may be an operator."""

    name: ClassVar[str] = "$one_of"

    def compile(self, making: Making) -> Accepts:
        """Accept what one of the values accepts."""
        each = [_refusal(accepts) for accepts in self.each(making)]
        return lambda actual: not every((refuses, actual) for refuses in each)

    def words(self) -> str:
        """`one of 1, 2 or 3`."""
        return f"one of {_listed(self.values, 'or')}"


class All(_Values, frozen=True, kw_only=True, eq=False):
    """All of these at once, each normally an operator. Several operators in one mapping mean the same."""

    name: ClassVar[str] = "$all"

    def compile(self, making: Making) -> Accepts:
        """Accept what all of the values accept."""
        each = self.each(making)
        return lambda actual: every((accepts, actual) for accepts in each)

    def words(self) -> str:
        """`at least 1 and at most 5`."""
        return _listed(self.values, "and")

    def note(self, actual: Any, making: Making) -> str:
        """The first note of a value that does not accept."""
        for value in self.values:
            if isinstance(value, Operator) and bind(value, making) != actual:
                return value.note(actual, making)
        return ""


class Together(All, frozen=True, kw_only=True, eq=False):
    """Several operators written in one mapping: `{$gte: 1, $lte: 5}`."""

    def form(self) -> dict[str, Any]:
        """One mapping of them all."""
        return {name: argument for operator in self.values for name, argument in operator.form().items()}

    def places(self) -> list[str]:
        """They are named by themselves."""
        return [""] * len(self.values)


class Not(Operator, frozen=True, kw_only=True, eq=False):
    """Any value but this one, which may be an operator. The key must be there.

    It is the strict complement: `{$not: {$gt: 5}}` accepts the string `"7"`, which is no number above 5.
    """

    name: ClassVar[str] = "$not"
    holds: ClassVar[tuple[str, ...]] = ("value",)
    value: Any

    def compile(self, making: Making) -> Accepts:
        """Accept what the value does not accept."""
        accepts = compile_at(self.name, self.value, making.inside())
        return lambda actual: not accepts(actual)

    def words(self) -> str:
        """`not 5`, `not at least 50`."""
        return f"not {phrase(self.value)}"

    def in_place(self, change: Callable[[Any], Any]) -> Operator:
        """The value stands for the place of the operator."""
        return msgspec.structs.replace(self, value=change(self.value))


def _refusal(accepts: Accepts) -> Accepts:
    return lambda actual: not accepts(actual)


def _listed(values: tuple[Any, ...], word: str) -> str:
    parts = [phrase(value) for value in values]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {word} {parts[-1]}"
