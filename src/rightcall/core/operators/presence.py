"""Whether there is a value at all, and of which type: `$any`, `$absent`, `$optional`, `$type`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final, Literal, get_args

from rightcall.core.operators.base import Accepts, Making, Operator, phrase, written
from rightcall.core.operators.binding import compile_at
from rightcall.core.values import display
from rightcall.errors import TestSetError, Where

TypeName = Literal["string", "number", "integer", "boolean", "object", "array", "null"]


class AnyValue(Operator, frozen=True, kw_only=True, eq=False):
    """Any value, null included; the key must be there."""

    name: ClassVar[str] = "$any"
    accepts_all: ClassVar[bool] = True
    value: bool = True

    def __post_init__(self) -> None:
        _only_true(self.name, self.value)

    def compile(self, making: Making) -> Accepts:
        """Accept everything."""
        return lambda actual: True

    def words(self) -> str:
        """`of any value`."""
        return "of any value"


class Absent(Operator, frozen=True, kw_only=True, eq=False):
    """The key is not there; null is a value, so a key that is null is there. Only as the value of a key."""

    name: ClassVar[str] = "$absent"
    alone: ClassVar[bool] = True
    may_be_absent: ClassVar[bool] = True
    value: bool = True

    def __post_init__(self) -> None:
        _only_true(self.name, self.value)

    def compile(self, making: Making) -> Accepts:
        """Accept no value that is there."""
        return lambda actual: False

    def words(self) -> str:
        """`absent`."""
        return "absent"


class OptionalValue(Operator, frozen=True, kw_only=True, eq=False):
    """The key is not there, or has this value, which may be an operator. Only as the value of a key."""

    name: ClassVar[str] = "$optional"
    holds: ClassVar[tuple[str, ...]] = ("value",)
    alone: ClassVar[bool] = True
    may_be_absent: ClassVar[bool] = True
    value: Any

    def compile(self, making: Making) -> Accepts:
        """Accept what the value accepts."""
        return compile_at(self.name, self.value, making.inside())

    def words(self) -> str:
        """`absent or 5`."""
        return f"absent or {phrase(self.value)}"


def _only_true(name: str, value: object) -> None:
    if value is not True:
        raise TestSetError(f"`{name}` is only ever true, found {display(written(value))}", Where(path="value"))


_TYPES: Final[dict[TypeName, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (isinstance(value, int) and not isinstance(value, bool)) or _is_integral(value),
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list | tuple),
    "null": lambda value: value is None,
}


def _is_integral(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()


def type_note(value: Any) -> str:
    """The JSON type of a value, for a note: `a string`. Null shows its type by itself."""
    name = next((name for name, is_of in _TYPES.items() if name != "integer" and is_of(value)), type(value).__name__)
    if name == "null":
        return ""
    return f"an {name}" if name[0] in "ao" else f"a {name}"


class OfType(Operator, frozen=True, kw_only=True, eq=False):
    """A value of this JSON type. `5.0` is an integer, since it equals `5`; `true` is no number."""

    name: ClassVar[str] = "$type"
    value: TypeName

    @classmethod
    def fields_of(cls, argument: Any) -> dict[str, Any] | None:
        """Null without quotes can only mean the type of that name."""
        return {"value": "null" if argument is None else argument}

    def __post_init__(self) -> None:
        if not isinstance(self.value, str) or self.value not in get_args(TypeName):
            words = ", ".join(f"`{word}`" for word in get_args(TypeName))
            raise TestSetError(f"expected one of {words}, found {display(written(self.value))}", Where(path="value"))

    def compile(self, making: Making) -> Accepts:
        """Accept values of the type."""
        return _TYPES[self.value]

    def words(self) -> str:
        """`of type string`."""
        return f"of type {self.value}"

    def note(self, actual: Any, making: Making) -> str:
        """The type that was found."""
        return type_note(actual)
