"""What an operator is, as data, and ready to decide (G14)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, Literal

import msgspec

from rightcall.core.assertion import RegexEngine, SchemaEngine
from rightcall.core.provenance import Earlier, Undecided, uses_results
from rightcall.core.values import MISSING, anywhere, cut, display, equal, is_json
from rightcall.errors import TestSetError, Where

Accepts = Callable[[Any], bool]
"""Decides on an actual JSON value. Raises `CannotJudge` at a limit."""

MAX_NESTED: Final = 32
"""Operators inside one another, at most."""

SHOWN: Final = 60
"""Characters of an expected value that a message shows."""

Objects = Literal["whole", "listed", "listed_throughout"]
"""Whether objects may have more keys than the expected ones: none may, those right here may, all may."""


class Making(msgspec.Struct, frozen=True, kw_only=True):
    """What compiling needs: the engines, how objects are compared here, and how many operators stand around.

    Without an engine, as where an operator is compared by `==`, those that need one use their own. `earlier` has the
    results that one call could know, where it is for this call that an operator is compiled; `aliases` maps recorded
    names of tools to those that expectations use.
    """

    regex: RegexEngine | None = None
    schema: SchemaEngine | None = None
    earlier: Earlier | None = None
    aliases: Mapping[str, str] = {}
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
    one mapping, `may_be_absent` ones accept that the key they are the value of is not there, one that
    `accepts_all` says nothing of the value at all, and one that `uses_results` asks for results of earlier calls.
    """

    name: ClassVar[str] = ""
    holds: ClassVar[tuple[str, ...]] = ()
    record: ClassVar[bool] = False
    alone: ClassVar[bool] = False
    may_be_absent: ClassVar[bool] = False
    accepts_all: ClassVar[bool] = False
    uses_results: ClassVar[bool] = False

    @classmethod
    def fields_of(cls, argument: Any) -> dict[str, Any] | None:
        """The fields that the argument in a file gives; `None` if it has not the shape for that.

        `TestSetError` where more can be said of what is wrong with it.
        """
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
        if other is MISSING:
            return self.may_be_absent
        if uses_results(self):
            raise TestSetError(f"{cut(repr(self), SHOWN)} asks for earlier calls, which a comparison by `==` has not")
        return self.compile(Making())(other)

    def __hash__(self) -> int:
        return hash(display(self.form()))

    def __repr__(self) -> str:
        return display(self.form(), 1000)


class Bound:
    """An operator, or an object with an `__eq__` of its own, ready to decide: what patterns hold in its place.

    Equal to what it is known to accept; `form` is how it is written, `words` and `note` how it is said.
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
        if other is MISSING:
            return self.may_be_absent
        try:
            return self.accepts(other)
        except Undecided:
            return False

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return self.words


def represented(value: Any) -> str:
    """An object of no JSON type as Python writes it, if it does."""
    try:
        return anywhere(repr(value))
    except Exception:
        return f"an object of type {type(value).__name__}"


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
    return value if is_json(value) or value is MISSING else cut(represented(value), SHOWN)


def phrase(value: Any) -> str:
    """What an expected value expects, as it follows a word such as `not` or `containing`."""
    if isinstance(value, Operator):
        return value.words()
    form = written(value)
    return form if isinstance(form, str) and not isinstance(value, str) else display(form, SHOWN)


def number_named(field: str, value: Any) -> None:
    """Refuse what is no finite number; booleans are none (G7)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TestSetError(f"expected a number, found {display(written(value), SHOWN)}", Where(path=field))
    if value != value or value in (float("inf"), float("-inf")):
        raise TestSetError(f"expected a finite number, found {value}", Where(path=field))


def text_named(field: str, value: Any) -> None:
    """Refuse what is no string."""
    if not isinstance(value, str):
        raise TestSetError(f"expected a string, found {display(written(value), SHOWN)}", Where(path=field))
