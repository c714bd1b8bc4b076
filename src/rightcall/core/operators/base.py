"""What an operator is, and how expected values that hold operators are compiled (G14).

An expected value is a tree of JSON in which any value may be an `Operator`, or, in Python, an object that decides by
its own `__eq__`. `bind` makes each of these ready once; `compile_value` gives the one function that decides on an
actual value. A plain JSON value needs neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, Literal

import msgspec

from rightcall.core.assertion import CannotJudge, RegexEngine, SchemaEngine
from rightcall.core.values import MISSING, comparer, cut, display, equal, is_json, member
from rightcall.errors import TestSetError, Where

Accepts = Callable[[Any], bool]
"""Decides on an actual JSON value. Raises `CannotJudge` at a limit."""

MAX_NESTED: Final = 32
"""Operators inside one another, at most."""

_SHOWN: Final = 60


Objects = Literal["whole", "listed", "listed_throughout"]
"""Whether objects may have more keys than the expected ones: none may, those right here may, all may."""


class Making(msgspec.Struct, frozen=True, kw_only=True):
    """What compiling needs: the engines, how objects are compared here, and how many operators stand around.

    Without an engine, as where an operator is compared by `==`, those that need one use their own.
    """

    regex: RegexEngine | None = None
    schema: SchemaEngine | None = None
    objects: Objects = "whole"
    depth: int = 0

    def below(self) -> Making:
        """The same for the values inside an object or array that stands here."""
        return msgspec.structs.replace(self, objects="whole") if self.objects == "listed" else self

    def opened(self) -> Making:
        """The same with an object right here that may have more keys."""
        return msgspec.structs.replace(self, objects="listed") if self.objects == "whole" else self

    def inside(self) -> Making:
        """The same for the values inside an operator that stands here."""
        if self.depth >= MAX_NESTED:
            raise TestSetError(f"operators stand deeper inside one another than the limit of {MAX_NESTED}")
        return msgspec.structs.replace(self, depth=self.depth + 1)


class Operator(msgspec.Struct, frozen=True, kw_only=True, eq=False, forbid_unknown_fields=True):
    """One value operator: `{name: argument}` in a file, a function of `rightcall.match` in Python.

    `holds` names the fields that are expected values themselves. An operator whose argument is a mapping of its
    fields is a `record`; any other has its argument in its first field. `alone` operators stand with no other in
    one mapping, `may_be_absent` ones accept that the key they are the value of is not there, and one that
    `accepts_all` says nothing of the value at all.
    """

    name: ClassVar[str] = ""
    holds: ClassVar[tuple[str, ...]] = ()
    record: ClassVar[bool] = False
    alone: ClassVar[bool] = False
    may_be_absent: ClassVar[bool] = False
    accepts_all: ClassVar[bool] = False

    @classmethod
    def fields_of(cls, argument: Any) -> dict[str, Any] | None:
        """The fields that the argument in a file gives; `None` if it has not the shape for that."""
        if cls.record:
            return argument if isinstance(argument, dict) else None
        return {cls.__struct_fields__[0]: argument}

    def compile(self, making: Making) -> Accepts:
        """Make it ready to decide on values; `TestSetError` with a path inside the operator if it cannot be."""
        raise NotImplementedError

    def argument(self) -> Any:
        """What is written beside the name in a file: the first field, unless an operator says otherwise."""
        return written(getattr(self, self.__struct_fields__[0]))

    def words(self) -> str:
        """What it expects, as it follows a path in a sentence: `at least 50`."""
        raise NotImplementedError

    def note(self, actual: Any, making: Making) -> str:
        """Why a value that is not accepted is not, where the value alone does not show it; or the empty string."""
        return ""

    def in_place(self, change: Callable[[Any], Any]) -> Operator:
        """The operator with the values changed that stand for its own place, not for a part of it."""
        return self

    def form(self) -> dict[str, Any]:
        """The operator as a file writes it."""
        return {self.name: self.argument()}

    def __eq__(self, other: object) -> bool:
        """Two operators are equal if they are written alike; any other value if it is accepted (G14)."""
        if isinstance(other, Operator):
            return type(self) is type(other) and equal(self.form(), other.form())
        return self.compile(Making())(other)

    def __hash__(self) -> int:
        return hash(display(self.form()))

    def __repr__(self) -> str:
        return display(self.form(), 1000)


class Bound:
    """An operator, or an object with an `__eq__` of its own, ready to decide: what patterns hold in its place.

    Equal to what it accepts; `form` is how it is written, `words` and `note` how it is said.
    """

    __slots__ = ("accepts", "form", "is_absent", "may_be_absent", "note", "words")

    def __init__(
        self,
        accepts: Accepts,
        form: Any,
        words: str,
        note: Callable[[Any], str] = lambda actual: "",
        may_be_absent: bool = False,
        is_absent: bool = False,
    ) -> None:
        self.accepts = accepts
        self.form = form
        self.words = words
        self.note = note
        self.may_be_absent = may_be_absent
        self.is_absent = is_absent

    def __eq__(self, other: object) -> bool:
        return self.may_be_absent if other is MISSING else self.accepts(other)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return self.words


def bind(value: Any, making: Making, *, is_member: bool = False) -> Any:
    """The expected value with every operator and every foreign object in it made ready.

    `TestSetError` with a path inside the value for what can never be decided. `is_member` says that the value is
    that of a key of an object, which may be absent.
    """
    if isinstance(value, Operator):
        return _bind_operator(value, making, is_member)
    if isinstance(value, dict):
        below = making.below()
        return {key: _at(member("", str(key)), bind, item, below, is_member=True) for key, item in value.items()}
    if isinstance(value, list | tuple):
        below = making.below()
        return [_at(f"[{index}]", bind, item, below) for index, item in enumerate(value)]
    return value if is_json(value) or isinstance(value, Bound) else foreign(value)


def _at(path: str, make: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What `make` gives; an error of it has its place at the path."""
    try:
        return make(*arguments, **options)
    except TestSetError as error:
        raise error.within(path=path) from None


def _bind_operator(operator: Operator, making: Making, is_member: bool) -> Bound:
    if operator.may_be_absent and not is_member:
        message = f"`{operator.name}` says that a key may be absent, so it can only be the whole value of a key"
        raise TestSetError(message, Where(path=operator.name))
    return Bound(
        operator.compile(making),
        operator.form(),
        operator.words(),
        lambda actual: operator.note(actual, making),
        may_be_absent=operator.may_be_absent,
        is_absent=operator.name == "$absent",
    )


def foreign(value: Any) -> Bound:
    """An object of no JSON type, which decides by its own `__eq__`. What that raises is an error with a reason."""
    shown = cut(_represented(value), _SHOWN)

    def accepts(actual: Any) -> bool:
        try:
            return bool(value == actual)
        except Exception as error:
            reason = f"The expected value {shown} cannot be compared with {display(actual)}"
            raise CannotJudge("expected_value", f"{reason}: {type(error).__name__}: {error}") from error

    return Bound(accepts, shown, f"= {shown}")


def _represented(value: Any) -> str:
    try:
        return repr(value)
    except Exception:
        return f"an object of type {type(value).__name__}"


def compile_value(value: Any, making: Making) -> Accepts:
    """What decides on the actual value in the place of an expected one; `TestSetError` as of `bind`."""
    return compile_bound(bind(value, making), making.objects)


def compile_at(path: str, value: Any, making: Making) -> Accepts:
    """The same for a value at a path inside an operator."""
    accepts: Accepts = _at(path, compile_value, value, making)
    return accepts


def compile_bound(value: Any, objects: Objects) -> Accepts:
    """The same for a value in which everything is ready."""
    if isinstance(value, Bound):
        return value.accepts
    if objects == "whole" and is_json(value):
        return comparer(value)
    below: Objects = "listed_throughout" if objects == "listed_throughout" else "whole"
    if isinstance(value, dict):
        members = {key: compile_bound(item, below) for key, item in value.items()}
        absent = frozenset(key for key, item in value.items() if isinstance(item, Bound) and item.may_be_absent)
        return _open_object(members, absent) if objects != "whole" else _whole_object(members, absent)
    if isinstance(value, list):
        return _array([compile_bound(item, below) for item in value])
    return comparer(value)


def _open_object(members: Mapping[str, Accepts], may_be_absent: frozenset[str]) -> Accepts:
    def accepts(actual: Any) -> bool:
        if not isinstance(actual, dict):
            return False
        for key, is_accepted in members.items():
            if key not in actual:
                if key not in may_be_absent:
                    return False
            elif not is_accepted(actual[key]):
                return False
        return True

    return accepts


def _whole_object(members: Mapping[str, Accepts], may_be_absent: frozenset[str]) -> Accepts:
    has_members = _open_object(members, may_be_absent)
    return lambda actual: isinstance(actual, dict) and actual.keys() <= members.keys() and has_members(actual)


def _array(items: Sequence[Accepts]) -> Accepts:
    def accepts(actual: Any) -> bool:
        if not isinstance(actual, list | tuple) or len(actual) != len(items):
            return False
        return all(is_accepted(item) for is_accepted, item in zip(items, actual, strict=True))

    return accepts


def written(value: Any) -> Any:
    """An expected value as a file writes it: operators by name, data that has `$` keys in `$literal`."""
    if isinstance(value, Operator):
        return value.form()
    if isinstance(value, Bound):
        return value.form
    if isinstance(value, dict):
        form = {str(key): written(item) for key, item in value.items()}
        return {"$literal": form} if any(key.startswith("$") for key in form) else form
    if isinstance(value, list | tuple):
        return [written(item) for item in value]
    return value if is_json(value) or value is MISSING else cut(_represented(value), _SHOWN)


def phrase(value: Any) -> str:
    """What an expected value expects, as it follows a word such as `not` or `containing`."""
    if isinstance(value, Operator):
        return value.words()
    form = written(value)
    return form if isinstance(form, str) and not isinstance(value, str) else display(form, _SHOWN)


def number_named(field: str, value: Any) -> None:
    """Refuse what is no finite number; booleans are none (G7)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TestSetError(f"expected a number, found {display(written(value), _SHOWN)}", Where(path=field))
    if value != value or value in (float("inf"), float("-inf")):
        raise TestSetError(f"expected a finite number, found {value}", Where(path=field))


def text_named(field: str, value: Any) -> None:
    """Refuse what is no string."""
    if not isinstance(value, str):
        raise TestSetError(f"expected a string, found {display(written(value), _SHOWN)}", Where(path=field))
