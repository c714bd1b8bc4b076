"""What several recorded values have in common, as one expected value that accepts all of them.

It claims no more than was seen: a constant is itself, what varied keeps its type. Nothing is read into values, such as
a range, a prefix or a regular expression: runs show only what was, never what may not be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from rightcall.core.masking import is_masked
from rightcall.core.values import equal, freeze, member
from rightcall.core.wording import amount
from rightcall.testsets.foreign import literal

MOST_CHOICES: Final = 4
"""Different values that `$one_of` lists at most."""

LEAST_SEEN: Final = 3
"""How often each of the values was seen before they are taken for all that there are."""

_DEEPEST: Final = 8
"""Below so many objects and arrays only types are told."""


class Common(msgspec.Struct, frozen=True):
    """An expected value as a native file writes it, and why it is not one literal: a sentence for each place."""

    form: Any
    reasons: tuple[str, ...] = ()


def common(values: Sequence[Any], path: str = "", depth: int = 0) -> Common:
    """What accepts each of the values, of which there is at least one."""
    first = values[0]
    if all(equal(first, value) for value in values):
        return Common(literal(first))
    if depth < _DEEPEST and all(isinstance(value, dict) for value in values):
        return _object(values, path, depth)
    if depth < _DEEPEST and _have_one_length(values):
        return _array(values, path, depth)
    return _varying(values, path)


def _have_one_length(values: Sequence[Any]) -> bool:
    return all(isinstance(value, list) for value in values) and len({len(value) for value in values}) == 1


def _object(values: Sequence[dict[str, Any]], path: str, depth: int) -> Common:
    """Each key by itself; one that some of the objects lack is optional."""
    keys = dict.fromkeys(key for value in values for key in value)
    if any(key.startswith("$") for key in keys):
        return Common({"$type": "object"}, (f"{_at(path)} varied, and has keys that begin with `$`: any object",))
    form: dict[str, Any] = {}
    reasons: list[str] = []
    for key in keys:
        at = member(path, key)
        having = [value[key] for value in values if key in value]
        inner = common(having, at, depth + 1)
        is_constant = len(having) == len(values)
        form[key] = inner.form if is_constant else {"$optional": inner.form}
        reasons += [] if is_constant else [f"{_at(at)} was there {len(having)} of {amount(len(values), 'time')}"]
        reasons += inner.reasons
    return Common(form, tuple(reasons))


def _array(values: Sequence[list[Any]], path: str, depth: int) -> Common:
    """Each item by itself."""
    items = [common(at_once, f"{path}[{index}]", depth + 1) for index, at_once in enumerate(zip(*values, strict=True))]
    return Common([item.form for item in items], tuple(reason for item in items for reason in item.reasons))


def _varying(values: Sequence[Any], path: str) -> Common:
    """The values themselves if they are few and each was seen often enough, else their types."""
    counts = Counter(map(freeze, values))
    told = f"{_at(path)} had {amount(len(counts), 'value')} in {amount(len(values), 'call')}"
    if len(counts) <= MOST_CHOICES and min(counts.values()) >= LEAST_SEEN:
        different = {freeze(value): value for value in reversed(values)}
        choices = [literal(different[key]) for key in counts]
        return Common({"$one_of": choices}, (f"{told}, each at least {LEAST_SEEN} times: one of them",))
    types = list(dict.fromkeys(_types(values)))
    form = {"$type": types[0]} if len(types) == 1 else {"$one_of": [_of_type(name) for name in types]}
    return Common(form, (f"{told}: {' or '.join(types)}",))


def _of_type(name: str) -> Any:
    return None if name == "null" else {"$type": name}


def _types(values: Sequence[Any]) -> Iterator[str]:
    """The JSON type of each value; numbers are all integers or all just numbers."""
    names = [type_name(value) for value in values]
    yield from ("number" if name == "integer" and "number" in names else name for name in names)


def type_name(value: Any) -> str:
    """The narrowest JSON type of a value."""
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    return _NAMES[type(value)]


_NAMES: Final = {str: "string", bool: "boolean", int: "integer", dict: "object", list: "array", type(None): "null"}


def _at(path: str) -> str:
    return path or "the arguments"


def opened(form: Any) -> Any:
    """A form in which values that were masked before they were recorded may be anything."""
    if is_masked(form):
        return {"$any": True}
    if isinstance(form, list):
        return [opened(item) for item in form]
    if isinstance(form, dict):
        if "$literal" in form and _holds_mask(form["$literal"]):
            return {"$any": True}
        return form if "$literal" in form else {key: opened(item) for key, item in form.items()}
    return form


def _holds_mask(value: Any) -> bool:
    waiting = [value]
    for item in waiting:
        if is_masked(item):
            return True
        if isinstance(item, dict | list):
            waiting += item.values() if isinstance(item, dict) else item
    return False
