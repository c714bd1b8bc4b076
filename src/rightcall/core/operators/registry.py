"""All value operators. A new one is one class and one line in `OPERATORS`."""

from __future__ import annotations

from typing import Final

from rightcall.core.operators.base import Operator
from rightcall.core.operators.dates import Date
from rightcall.core.operators.logic import All, Not, OneOf, Together
from rightcall.core.operators.numbers import Approx, Gt, Gte, Lt, Lte
from rightcall.core.operators.parts import Contains, Length, Unordered
from rightcall.core.operators.presence import Absent, AnyValue, OfType, OptionalValue
from rightcall.core.operators.provenance import From
from rightcall.core.operators.schemas import Schema
from rightcall.core.operators.strings import EndsWith, Regex, StartsWith, Text

OPERATORS: Final[dict[str, type[Operator]]] = {
    operator.name: operator
    for operator in (
        AnyValue,
        Absent,
        OptionalValue,
        OfType,
        Regex,
        OneOf,
        Not,
        All,
        Gt,
        Gte,
        Lt,
        Lte,
        Approx,
        Contains,
        StartsWith,
        EndsWith,
        Length,
        Unordered,
        Date,
        Text,
        From,
        Schema,
    )
}

__all__ = [
    "OPERATORS",
    "Absent",
    "All",
    "AnyValue",
    "Approx",
    "Contains",
    "Date",
    "EndsWith",
    "From",
    "Gt",
    "Gte",
    "Length",
    "Lt",
    "Lte",
    "Not",
    "OfType",
    "OneOf",
    "OptionalValue",
    "Regex",
    "Schema",
    "StartsWith",
    "Text",
    "Together",
    "Unordered",
]
