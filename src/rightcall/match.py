"""The value operators as Python objects: what an expected value must be like, where it is not one value.

    from rightcall import match

    rightcall.check(
        trajectory,
        expected_tool_calls=[{"name": "issue_refund", "arguments": {"amount": match.lte(20), "note": match.any_()}}],
    )
    assert call.arguments == {"amount": match.lte(20)}

Each function is named as the operator of a file is, with an underscore where Python has the word, and returns the
same class. A value inside one may be another, or any object with an `__eq__` of its own. What cannot be an operator
raises `rightcall.errors.TestSetError`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from rightcall.app.regex import compile_regex
from rightcall.app.schemas import compile_schema
from rightcall.core import operators
from rightcall.core.operators.presence import TypeName

__all__ = [
    "absent",
    "all_",
    "any_",
    "approx",
    "contains",
    "date",
    "ends_with",
    "gt",
    "gte",
    "length",
    "lt",
    "lte",
    "not_",
    "one_of",
    "optional",
    "regex",
    "schema",
    "starts_with",
    "text",
    "type_",
    "unordered",
]


def any_() -> operators.AnyValue:
    """Any value; the key must be there."""
    return operators.AnyValue()


def absent() -> operators.Absent:
    """The key is not there."""
    return operators.Absent()


def optional(value: Any) -> operators.OptionalValue:
    """The key is not there, or has this value."""
    return operators.OptionalValue(value=value)


def type_(name: TypeName) -> operators.OfType:
    """A value of this JSON type: `string`, `number`, `integer`, `boolean`, `object`, `array` or `null`."""
    return operators.OfType(value=name)


def regex(pattern: str, flags: str = "") -> operators.Regex:
    """A string in which this JavaScript regular expression is found."""
    return operators.Regex(pattern=pattern, flags=flags, engine=compile_regex)


def one_of(values: Iterable[Any]) -> operators.OneOf:
    """Any of these values."""
    return operators.OneOf(values=tuple(values))


def not_(value: Any) -> operators.Not:
    """Any value but this one."""
    return operators.Not(value=value)


def all_(values: Iterable[Any]) -> operators.All:
    """All of these at once: `all_([gte(1), lte(5)])`."""
    return operators.All(values=tuple(values))


def gt(bound: float) -> operators.Gt:
    """A number greater than this one."""
    return operators.Gt(value=bound)


def gte(bound: float) -> operators.Gte:
    """A number equal to this one or greater."""
    return operators.Gte(value=bound)


def lt(bound: float) -> operators.Lt:
    """A number less than this one."""
    return operators.Lt(value=bound)


def lte(bound: float) -> operators.Lte:
    """A number equal to this one or less."""
    return operators.Lte(value=bound)


def approx(value: float, *, abs: float | None = None, rel: float | None = None) -> operators.Approx:
    """A number near this one: within `abs`, or within `rel` times its size; without both, `rel` is 0.000001."""
    return operators.Approx(value=value, abs=abs, rel=rel)


def contains(part: Any) -> operators.Contains:
    """A string that contains this text, an array with this item, or an object with these keys."""
    return operators.Contains(value=part)


def starts_with(text: str) -> operators.StartsWith:
    """A string that starts with this text."""
    return operators.StartsWith(value=text)


def ends_with(text: str) -> operators.EndsWith:
    """A string that ends with this text."""
    return operators.EndsWith(value=text)


def length(exactly: int | None = None, *, min: int = 0, max: int | None = None) -> operators.Length:
    """A string of so many characters, an array of so many items or an object of so many keys."""
    return operators.Length(min=min, max=max) if exactly is None else operators.Length(min=exactly, max=exactly)


def unordered(items: Iterable[Any]) -> operators.Unordered:
    """An array of these items in any order, and no others."""
    return operators.Unordered(values=tuple(items))


def date(*, on: str | None = None, after: str | None = None, before: str | None = None) -> operators.Date:
    """A string that is an ISO 8601 date or date-time on, after or before one."""
    return operators.Date(on=on, after=after, before=before)


def text(
    value: str,
    *,
    ignore_case: bool = False,
    ignore_space: bool = False,
    normalize: bool | Literal["NFC", "NFKC"] = False,
) -> operators.Text:
    """A string equal to this one but for what is ignored."""
    return operators.Text(value=value, ignore_case=ignore_case, ignore_space=ignore_space, normalize=normalize)


def schema(schema: dict[str, Any] | bool) -> operators.Schema:
    """A value that satisfies this JSON Schema."""
    return operators.Schema(schema=schema, engine=compile_schema)
