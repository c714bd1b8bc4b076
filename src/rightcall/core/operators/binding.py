"""How expected values that hold operators are compiled (G14).

An expected value is a tree of JSON in which any value may be an `Operator`, or, in Python, an object that decides by
its own `__eq__`. `bind` makes each of these ready once; `compile_value` gives the one function that decides on an
actual value. A plain JSON value needs neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rightcall.core.judging import CannotJudge, told
from rightcall.core.operators.base import SHOWN, Accepts, Bound, Making, Objects, Operator, represented
from rightcall.core.provenance import Undecided
from rightcall.core.values import comparer, cut, display, is_json, member
from rightcall.errors import TestSetError, Where


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
    shown = cut(represented(value), SHOWN)

    def accepts(actual: Any) -> bool:
        try:
            return bool(value == actual)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            reason = f"The expected value {shown} cannot be compared with {display(actual)}"
            raise CannotJudge("expected_value", f"{reason}: {told(error)}") from error

    return Bound(accepts, shown, f"= {shown}")


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
        if any(key not in actual and key not in may_be_absent for key in members):
            return False
        return every((is_accepted, actual[key]) for key, is_accepted in members.items() if key in actual)

    return accepts


def _whole_object(members: Mapping[str, Accepts], may_be_absent: frozenset[str]) -> Accepts:
    has_members = _open_object(members, may_be_absent)
    return lambda actual: isinstance(actual, dict) and actual.keys() <= members.keys() and has_members(actual)


def _array(items: Sequence[Accepts]) -> Accepts:
    def accepts(actual: Any) -> bool:
        if not isinstance(actual, list | tuple) or len(actual) != len(items):
            return False
        return every(zip(items, actual, strict=True))

    return accepts


def every(pairs: Iterable[tuple[Accepts, Any]]) -> bool:
    """Whether all accept their value. What one of them refuses is decided, whatever is undecided of another."""
    doubt = None
    for accepts, actual in pairs:
        try:
            if not accepts(actual):
                return False
        except Undecided as undecided:
            doubt = doubt or undecided
    if doubt is not None:
        raise doubt
    return True
