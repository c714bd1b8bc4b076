"""Dates and times as ISO 8601 writes them: `$date`."""

from __future__ import annotations

import datetime
import re
from fractions import Fraction
from typing import Any, ClassVar, Final

import msgspec

from rightcall.core.operators.base import Accepts, Making, Operator, text_named
from rightcall.core.operators.presence import type_note
from rightcall.core.values import display
from rightcall.errors import TestSetError, Where

_ISO: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,30}))?)?([Zz]|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)


class Moment(msgspec.Struct, frozen=True):
    """A date, or a date with a time of day, as written.

    `day` counts days and `second` the seconds of the day, `None` for a date alone. `offset` is the distance from
    UTC in seconds, `None` where no zone is written.
    """

    day: int
    second: Fraction | None = None
    offset: int | None = None

    @property
    def seconds(self) -> Fraction:
        """Seconds since the beginning of the calendar: of UTC where a zone is written."""
        return self.day * 86400 + (self.second or Fraction(0)) - (self.offset or 0)


def parse(text: Any) -> Moment | None:
    """The moment that a string writes: `2026-11-30`, `2026-11-30T10:00:00.5Z`; `None` for anything else.

    ISO 8601 in its extended form, as RFC 3339 narrows it, with the seconds and the zone left out if one likes.
    """
    match = _ISO.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        date = datetime.date(int(year), int(month), int(day)).toordinal()
        if hour is None:
            return Moment(date)
        datetime.time(int(hour), int(minute), int(second or 0))
        offset = _offset(zone)
    except ValueError:
        return None
    passed = Fraction(f"{second or 0}.{fraction or 0}") + int(minute) * 60 + int(hour) * 3600
    return Moment(date, passed, offset)


def _offset(zone: str | None) -> int | None:
    if zone is None:
        return None
    if zone in "Zz":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[-2:]) if len(zone) > 3 else 0
    if hours > 23 or minutes > 59:
        raise ValueError("no offset")
    return (-1 if zone[0] == "-" else 1) * (hours * 3600 + minutes * 60)


class Date(Operator, frozen=True, kw_only=True, eq=False):
    """A string that is an ISO 8601 date or date-time `on`, `after` or `before` one; several must all hold.

    Against a date, the calendar date counts that the value is written with, whatever its zone: `{on: 2026-11-30}`
    takes `2026-11-30T23:30:00-05:00`. Against a date-time, the value must be a date-time too: both with a zone are
    compared as instants, both without as written, and one with and one without never match. `after` and `before`
    do not include the date or time itself.
    """

    name: ClassVar[str] = "$date"
    record: ClassVar[bool] = True
    on: str | None = None
    after: str | None = None
    before: str | None = None

    def __post_init__(self) -> None:
        if not self._given():
            raise TestSetError("expected `on`, `after` or `before`")
        for field, value in self._given().items():
            text_named(field, value)
            if parse(value) is None:
                message = f"expected a date such as 2026-11-30 or 2026-11-30T10:00:00Z, found {display(value)}"
                raise TestSetError(message, Where(path=field))

    def _given(self) -> dict[str, str]:
        given = {"on": self.on, "after": self.after, "before": self.before}
        return {key: value for key, value in given.items() if value is not None}

    def compile(self, making: Making) -> Accepts:
        """Accept strings that write a moment on the right side of each one given."""
        sides = [(parse(value), {"on": 0, "after": 1, "before": -1}[key]) for key, value in self._given().items()]

        def accepts(actual: Any) -> bool:
            moment = parse(actual)
            return moment is not None and all(bound and _side(moment, bound) == side for bound, side in sides)

        return accepts

    def argument(self) -> Any:
        """The dates."""
        return self._given()

    def words(self) -> str:
        """`a date on 2026-11-30`."""
        return "a date " + " and ".join(f"{key} {value}" for key, value in self._given().items())

    def note(self, actual: Any, making: Making) -> str:
        """Why it cannot be compared."""
        moment = parse(actual)
        if moment is None:
            return "not an ISO 8601 date" if isinstance(actual, str) else type_note(actual)
        bounds = [parse(value) for value in self._given().values()]
        reasons = [_incomparable(moment, bound) for bound in bounds if bound is not None]
        return next((reason for reason in reasons if reason), "")


def _side(moment: Moment, bound: Moment) -> int | None:
    """-1, 0 or 1 as the moment is before, on or after the bound; `None` if they cannot be compared."""
    if bound.second is None:
        return (moment.day > bound.day) - (moment.day < bound.day)
    if _incomparable(moment, bound):
        return None
    return (moment.seconds > bound.seconds) - (moment.seconds < bound.seconds)


def _incomparable(moment: Moment, bound: Moment) -> str:
    if bound.second is None:
        return ""
    if moment.second is None:
        return "a date without a time"
    if (moment.offset is None) is not (bound.offset is None):
        return "without a time zone" if moment.offset is None else "with a time zone"
    return ""
