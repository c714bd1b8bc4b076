"""Why a value does not have the shape it should have, in words for who wrote it.

Decoding itself is strict and fast, and only says no; this walks the same types and says where and why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, Final, Literal

import msgspec
from msgspec import inspect

from rightcall.core.rates import parse_rate
from rightcall.core.values import visible
from rightcall.errors import did_you_mean
from rightcall.testsets.marks import child

FOREIGN: Final = "if the file is in another tool's words, name its dialect"

_SAME: Final = {"tool": "name", "name": "tool"}
"""Keys that mean the same in places that know only one of them."""

_PLAIN = re.compile(r"[A-Za-z_][\w.-]*")


class Problem(msgspec.Struct, frozen=True):
    """What is wrong at a path; `at` says whether the key or the value is to be pointed at."""

    path: str
    message: str
    at: Literal["key", "value"] = "value"


def explain(value: Any, kind: inspect.Type, path: str) -> Problem | None:
    """The first problem of a value that should have the shape `kind`, `None` if it has."""
    return next(problems(value, kind, path), None)


def problems(value: Any, kind: inspect.Type, path: str) -> Iterator[Problem]:
    """All problems of a value, in reading order."""
    match kind:
        case inspect.Metadata():
            yield from problems(value, kind.type, path)
        case inspect.UnionType():
            yield from _union(value, kind, path)
        case inspect.StructType():
            yield from _struct(value, kind, path)
        case inspect.VarTupleType() | inspect.ListType():
            yield from _list(value, kind, path)
        case inspect.DictType():
            yield from _dict(value, kind, path)
        case inspect.CustomType(cls=cls) if cls is Fraction:
            yield from _rate(value, path)
        case _ if not _fits(value, kind):
            yield expected(kind, value, path)
        case _:
            pass


def expected(kind: inspect.Type, value: Any, path: str) -> Problem:
    """The problem that a value is something else altogether."""
    if isinstance(kind, inspect.LiteralType) and isinstance(value, str):
        near = did_you_mean(value, [word for word in kind.values if isinstance(word, str)])
        return Problem(path, f"expected {describe(kind)}, found `{shorten(value)}`{near}")
    return Problem(path, f"expected {describe(kind)}, found {found(value)}{_advice(kind, value)}")


def _advice(kind: inspect.Type, value: Any) -> str:
    if value is None:
        lists = isinstance(kind, inspect.VarTupleType | inspect.ListType)
        return "; leave the key out or write []" if lists else "; leave the key out"
    if isinstance(kind, inspect.StrType) and isinstance(value, int | float):
        return "; write it in quotes"
    return _wrapping(kind, value)


def _wrapping(kind: inspect.Type, value: Any) -> str:
    """How a lone word is written where a list of such words, or a mapping that names a tool, is expected."""
    if not isinstance(value, str) or not _PLAIN.fullmatch(value):
        return ""
    if _fits([value], kind):
        return f"; write [{shorten(value)}]"
    is_step = isinstance(kind, inspect.StructType) and _fits({"tool": value}, kind)
    return f"; write {{tool: {shorten(value)}}}" if is_step else ""


def _bare(kind: inspect.Type) -> inspect.Type:
    return kind.type if isinstance(kind, inspect.Metadata) else kind


def _union(value: Any, kind: inspect.UnionType, path: str) -> Iterator[Problem]:
    members = [_bare(member) for member in kind.types]
    if any(_fits(value, member) for member in members):
        return
    nested = [member for member in members if _same_container(value, member)]
    if nested:
        yield from problems(value, nested[0], path)
        return
    real = [member for member in members if not isinstance(member, inspect.NoneType)]
    if len(real) == 1:
        yield from problems(value, real[0], path)
    else:
        words = " or ".join(describe(member) for member in real)
        yield Problem(path, f"expected {words}, found {found(value)}{_advice(real[0], value)}")


def _same_container(value: Any, kind: inspect.Type) -> bool:
    if isinstance(value, dict):
        return isinstance(kind, inspect.StructType | inspect.DictType)
    return isinstance(value, list | tuple) and isinstance(kind, inspect.VarTupleType | inspect.ListType)


def _struct(value: Any, kind: inspect.StructType, path: str) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield expected(kind, value, path)
        return
    fields = {field.encode_name: field for field in kind.fields}
    known = [*fields, kind.tag_field] if kind.tag_field else list(fields)
    for key in value:
        if key not in known:
            yield Problem(child(path, str(key)), unknown_key(key, known), "key")
    for name, field in fields.items():
        if name in value:
            yield from problems(value[name], field.type, child(path, name))
        elif field.required:
            yield Problem(path, f"expected the key `{name}`, which is missing")
    if kind.tag_field and value.get(kind.tag_field, kind.tag) != kind.tag:
        yield Problem(child(path, kind.tag_field), f"expected `{kind.tag}`, found {found(value[kind.tag_field])}")


def unknown_key(key: Any, known: Iterable[str]) -> str:
    """What to say of a key that is none of `known`."""
    known = list(known)
    near = did_you_mean(str(key), known)
    if not near and _SAME.get(key) in known:
        near = f" (did you mean `{_SAME[key]}`?)"
    if not near and "dialect" in known:
        return f"unknown key `{shorten(str(key))}`; {FOREIGN}"
    if near or len(known) > 12:
        return f"unknown key `{shorten(str(key))}`{near}"
    return f"unknown key `{shorten(str(key))}`; the keys here are {listed(known, 'and')}"


def _list(value: Any, kind: inspect.VarTupleType | inspect.ListType, path: str) -> Iterator[Problem]:
    if not isinstance(value, list | tuple):
        yield expected(kind, value, path)
        return
    if not value and kind.min_length:
        yield Problem(path, f"expected {describe(kind)}, found an empty list; leave the key out")
    elif not _has_length(value, kind):
        yield Problem(path, f"expected {describe(kind)}, found a list of {len(value)}")
    for index, item in enumerate(value):
        yield from problems(item, kind.item_type, child(path, index))


def _has_length(value: list[Any] | tuple[Any, ...], kind: inspect.VarTupleType | inspect.ListType) -> bool:
    return len(value) >= (kind.min_length or 0) and (kind.max_length is None or len(value) <= kind.max_length)


def _dict(value: Any, kind: inspect.DictType, path: str) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield expected(kind, value, path)
        return
    for key, item in value.items():
        if isinstance(key, str):
            yield from problems(item, kind.value_type, child(path, key))
        else:
            yield Problem(path, f"expected keys that are strings, found {found(key)}")


def _rate(value: Any, path: str) -> Iterator[Problem]:
    try:
        parse_rate(value)
    except ValueError:
        yield Problem(path, f"expected a rate from 0 to 1, such as 0.8, 4/5 or 80%, found {found(value)}")


def _fits(value: Any, kind: inspect.Type) -> bool:
    match kind:
        case inspect.AnyType():
            return True
        case inspect.NoneType():
            return value is None
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.StrType():
            return isinstance(value, str) and len(value) >= (kind.min_length or 0)
        case inspect.IntType():
            return isinstance(value, int) and not isinstance(value, bool) and _in_range(value, kind)
        case inspect.FloatType():
            return isinstance(value, int | float) and not isinstance(value, bool) and _in_range(value, kind)
        case inspect.LiteralType():
            return isinstance(value, str | int) and not isinstance(value, bool) and value in kind.values
        case inspect.StructType() | inspect.VarTupleType() | inspect.ListType() | inspect.DictType():
            return explain(value, kind, "") is None
        case inspect.CustomType() | inspect.UnionType():
            return explain(value, kind, "") is None
        case _:
            return True


def _in_range(value: float, kind: inspect.IntType | inspect.FloatType) -> bool:
    return (kind.ge is None or value >= kind.ge) and (kind.le is None or value <= kind.le)


def describe(kind: inspect.Type) -> str:
    """What a shape is called: `a string`, `a whole number of at least 1`."""
    match kind:
        case inspect.StrType():
            return "a string that is not empty" if kind.min_length else "a string"
        case inspect.BoolType():
            return "`true` or `false`"
        case inspect.IntType():
            return f"a whole number{_range(kind)}"
        case inspect.FloatType():
            return f"a number{_range(kind)}"
        case inspect.LiteralType():
            return listed([str(word) for word in kind.values], "or")
        case inspect.VarTupleType() | inspect.ListType():
            return _describe_list(kind)
        case inspect.StructType():
            required = [field.encode_name for field in kind.fields if field.required]
            return f"a mapping with {listed(required, 'and')}" if required else "a mapping"
        case inspect.DictType():
            return "a mapping"
        case _:
            return "a rate"


def _describe_list(kind: inspect.VarTupleType | inspect.ListType) -> str:
    if kind.min_length and kind.min_length == kind.max_length:
        return f"a list of {kind.min_length} items"
    return "a list with at least one item" if kind.min_length else "a list"


def _range(kind: inspect.IntType | inspect.FloatType) -> str:
    if kind.ge is not None and kind.le is not None:
        return f" from {kind.ge:g} to {kind.le:g}"
    return "" if kind.ge is None else f" of at least {kind.ge:g}"


def found(value: Any) -> str:
    """What a value is called: `null`, `the number 5`, ``the string `x` ``, `a list`."""
    match value:
        case None:
            return "null"
        case True | False:
            return f"`{str(value).lower()}`"
        case int() | float():
            return f"the number {shorten(str(value))}"
        case "":
            return "an empty string"
        case str():
            return f"the string `{shorten(value)}`"
        case list() | tuple():
            return "a list" if value else "an empty list"
        case dict():
            return "a mapping"
        case _:
            return f"a {type(value).__name__}"


def shorten(text: str, width: int = 60) -> str:
    """The text on one line, cut, with everything that a terminal would obey or not show as escapes."""
    line = visible(text[: width + 1])
    return line if len(line) <= width else f"{line[: width - 1]}…"


def listed(words: Iterable[str], last: str) -> str:
    """`a`, `b` and `c`, in backticks."""
    quoted = [f"`{word}`" for word in words]
    return f" {last} ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]])) if quoted else ""
