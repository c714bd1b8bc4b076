"""Spans of more than memory holds into groups: sorted by trace, then by what they are grouped under, then by start.

In memory are the spans of one trace, those of one group, and rows that are being sorted. A span depends only on
its trace: its copies, its log records, its ancestors and so its session are all there.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import msgspec

from rightcall.traces import spilling
from rightcall.traces.spans import logs
from rightcall.traces.spans.grouping import Group, Unit, deduplicated, group, places, position, within
from rightcall.traces.spans.model import Record, Span

_Item = tuple[str, int, bool, int]
"""The trace of a span or log record, its number in the file, whether it is a record, its ticket."""

_Member = tuple[str, str, int, str, int]
"""What a span is grouped under (two), the number of its first copy, its session, its ticket."""

_Group = tuple[bool, bool, int, tuple[str, ...], str, int, int]
"""Whether a group tells nothing, its position (four), the number of its first span, the ticket of its members."""

_LAST = 2**62
"""The number of a span that only log records tell of."""


class Grouping(msgspec.Struct, frozen=True, kw_only=True):
    """What spans are grouped by, and where sessions stand: the first key that a span has counts."""

    session_keys: tuple[str, ...]
    unit: Unit = "conversation"
    keep: spilling.Keep = spilling.Memory


class Grouped(NamedTuple):
    """The groups by their start, of which only those that tell something, unless none does; and how many others."""

    groups: Iterator[Group]
    left_out: int


def grouped(items: Iterable[Span | Record], how: Grouping, tells: Callable[[Group], bool]) -> Grouped:
    """The groups of all spans and log records of a file, which are taken before the first is given."""
    shelf = _Shelf(how)
    by_trace = spilling.in_order(shelf.filed(items), how.keep(list[_Item]))
    by_place = spilling.in_order(shelf.placed(by_trace), how.keep(list[_Member]))
    counts = Counter[bool]()
    by_start = spilling.in_order(shelf.described(by_place, tells, counts), how.keep(list[_Group]))
    if not counts[True]:
        return Grouped(shelf.told(by_start), 0)
    return Grouped(shelf.told(row for row in by_start if not row[0]), counts[False])


def _within(item: Span | Record, only: str) -> Span | Record:
    """An item that names no trace, in the only trace of its file."""
    return msgspec.structs.replace(item, trace_id=only) if isinstance(item, Record) else within(item, only)


class _Shelf:
    """Where the spans of a file lie, in the steps between the file and its groups."""

    def __init__(self, how: Grouping) -> None:
        self._how = how
        self._traces: set[str] = set()
        self._spans: spilling.Keeper[Span] = how.keep(Span)
        self._records: spilling.Keeper[Record] = how.keep(Record)
        self._members: spilling.Keeper[list[tuple[str, int]]] = how.keep(list[tuple[str, int]])

    def filed(self, items: Iterable[Span | Record]) -> Iterator[_Item]:
        """Keep everything as it comes."""
        for number, item in enumerate(items):
            if len(self._traces) < 2 and item.trace_id:
                self._traces.add(item.trace_id)
            if isinstance(item, Span):
                yield item.trace_id, number, False, self._spans.keep(item)
            else:
                yield item.trace_id, number, True, self._records.keep(item)

    def placed(self, rows: Iterable[_Item]) -> Iterator[_Member]:
        """Trace by trace: join the records, unite the copies, and say what each span is grouped under."""
        only = next(iter(self._traces)) if len(self._traces) == 1 else ""
        for _, of_trace in groupby(rows, key=lambda row: row[0] or only):
            items: list[Span | Record] = []
            tickets: dict[int, int] = {}
            numbers: dict[str | int, deque[int]] = {}
            for _, number, is_record, ticket in sorted(of_trace, key=itemgetter(1)):
                item = self._records.fetch(ticket) if is_record else self._spans.fetch(ticket)
                if self._traces and not item.trace_id:
                    item = _within(item, only)
                else:
                    tickets[id(item)] = ticket
                items.append(item)
                if not is_record:
                    numbers.setdefault(item.span_id or id(item), deque()).append(number)
            unique = deduplicated(logs.joined(items))
            for span, (kind, identity, session) in zip(
                unique, places(unique, self._how.session_keys, self._how.unit), strict=True
            ):
                ticket = tickets[id(span)] if id(span) in tickets else self._spans.keep(span)
                of_id = numbers.get(span.span_id or id(span))
                yield kind, identity, of_id.popleft() if of_id else _LAST, session, ticket

    def described(
        self, rows: Iterable[_Member], tells: Callable[[Group], bool], counts: Counter[bool]
    ) -> Iterator[_Group]:
        """Group by group: where it stands among the others, and whether it tells something."""
        for _, found in groupby(rows, key=itemgetter(0, 1)):
            listed = list(found)
            members = [(session, ticket) for _, _, _, session, ticket in listed]
            made = self._group(members)
            telling = tells(made)
            counts[telling] += 1
            yield not telling, *position(made), listed[0][2], self._members.keep(members)

    def told(self, rows: Iterable[_Group]) -> Iterator[Group]:
        """Each group, made once more."""
        for row in rows:
            yield self._group(self._members.fetch(row[-1]))

    def _group(self, members: list[tuple[str, int]]) -> Group:
        sessions = {session for session, _ in members}
        return group([self._spans.fetch(ticket) for _, ticket in members], sessions, self._how.unit)
