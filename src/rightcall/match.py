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

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from rightcall.app.regex import compile_regex
from rightcall.app.schemas import compile_schema
from rightcall.core.operators import registry
from rightcall.core.operators.presence import TypeName
from rightcall.core.values import display
from rightcall.errors import TestSetError, Where

__all__ = [
    "absent",
    "all_",
    "any_",
    "approx",
    "contains",
    "date",
    "ends_with",
    "from_",
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


def any_() -> registry.AnyValue:
    """Any value; the key must be there."""
    return registry.AnyValue()


def absent() -> registry.Absent:
    """The key is not there."""
    return registry.Absent()


def optional(value: Any) -> registry.OptionalValue:
    """The key is not there, or has this value."""
    return registry.OptionalValue(value=value)


def type_(name: TypeName) -> registry.OfType:
    """A value of this JSON type: `string`, `number`, `integer`, `boolean`, `object`, `array` or `null`."""
    return registry.OfType(value=name)


def regex(pattern: str, flags: str = "") -> registry.Regex:
    """A string in which this JavaScript regular expression is found."""
    return registry.Regex(pattern=pattern, flags=flags, engine=compile_regex)


def one_of(values: Iterable[Any]) -> registry.OneOf:
    """Any of these values."""
    return registry.OneOf(values=_items(values))


def not_(value: Any) -> registry.Not:
    """Any value but this one."""
    return registry.Not(value=value)


def all_(values: Iterable[Any]) -> registry.All:
    """All of these at once: `all_([gte(1), lte(5)])`."""
    return registry.All(values=_items(values))


def gt(bound: float) -> registry.Gt:
    """A number greater than this one."""
    return registry.Gt(value=bound)


def gte(bound: float) -> registry.Gte:
    """A number equal to this one or greater."""
    return registry.Gte(value=bound)


def lt(bound: float) -> registry.Lt:
    """A number less than this one."""
    return registry.Lt(value=bound)


def lte(bound: float) -> registry.Lte:
    """A number equal to this one or less."""
    return registry.Lte(value=bound)


def approx(value: float, *, abs: float | None = None, rel: float | None = None) -> registry.Approx:
    """A number near this one: within `abs`, or within `rel` times its size; without both, `rel` is 0.000001."""
    return registry.Approx(value=value, abs=abs, rel=rel)


def contains(part: Any) -> registry.Contains:
    """A string that contains this text, an array with this item, or an object with these keys."""
    return registry.Contains(value=part)


def starts_with(text: str) -> registry.StartsWith:
    """A string that starts with this text."""
    return registry.StartsWith(value=text)


def ends_with(text: str) -> registry.EndsWith:
    """A string that ends with this text."""
    return registry.EndsWith(value=text)


def length(exactly: int | None = None, *, min: int = 0, max: int | None = None) -> registry.Length:
    """A string of so many characters, an array of so many items or an object of so many keys."""
    return registry.Length(min=min, max=max) if exactly is None else registry.Length(min=exactly, max=exactly)


def unordered(items: Iterable[Any]) -> registry.Unordered:
    """An array of these items in any order, and no others."""
    return registry.Unordered(values=_items(items))


def date(*, on: str | None = None, after: str | None = None, before: str | None = None) -> registry.Date:
    """A string that is an ISO 8601 date or date-time on, after or before one."""
    return registry.Date(on=on, after=after, before=before)


def text(
    value: str,
    *,
    ignore_case: bool = False,
    ignore_space: bool = False,
    normalize: bool | Literal["NFC", "NFKC"] = False,
) -> registry.Text:
    """A string equal to this one but for what is ignored."""
    return registry.Text(value=value, ignore_case=ignore_case, ignore_space=ignore_space, normalize=normalize)


def from_(source: str | None = None, *, tool: str = "", path: str = "", call: int | None = None) -> registry.From:
    """A value that an earlier call gave: `from_("lookup_order.result.id")`, or by `tool`, `path` and `call`."""
    fields = None if source is None else registry.From.fields_of(source)
    return registry.From(**(fields or {"tool": tool, "path": path, "call": call}))


def schema(schema: dict[str, Any] | bool) -> registry.Schema:
    """A value that satisfies this JSON Schema."""
    return registry.Schema(schema=schema, engine=compile_schema)


def _items(values: Iterable[Any]) -> tuple[Any, ...]:
    """The values of a list; a text or a mapping is one value, and no list of its parts."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise TestSetError(f"expected a list, found {display(values)}", Where(path="values"))
    return tuple(values)
