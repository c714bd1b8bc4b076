"""Spans of a file into the conversations they belong to, each an ordered tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, Literal, NamedTuple, TypeVar

import msgspec

from rightcall.traces.spans.attributes import root, roots, text
from rightcall.traces.spans.model import Span

_T = TypeVar("_T")


Unit = Literal["conversation", "trace", "file"]
"""What spans are grouped by."""


class Group(msgspec.Struct, frozen=True):
    """The spans that belong together, by start (ties as in the file), each with the index of its parent, or -1.

    `session_id` is that of all of them that have one, `None` if none has or they differ.
    """

    session_id: str | None
    trace_ids: tuple[str, ...]
    spans: tuple[Span, ...]
    parents: tuple[int, ...]
    unit: Unit = "conversation"

    @property
    def id(self) -> str:
        """What names the group: its session, else its trace if it has one alone; first its trace if it is one."""
        trace = self.trace_ids[0] if len(self.trace_ids) == 1 else ""
        return (trace or self.session_id or "") if self.unit == "trace" else (self.session_id or trace)


class Place(NamedTuple):
    """What a span is grouped under, and the session that it belongs to."""

    kind: str
    identity: str
    session: str


def groups(spans: Iterable[Span], session_keys: Iterable[str]) -> list[Group]:
    """The conversations: by session id, else by trace id, else all that have neither together.

    A span takes the session of its outermost ancestor that has one (an agent that runs inside a call is no
    conversation of its own), then its own, else the only one of its trace.
    """
    listed = list(spans)
    traces = {span.trace_id for span in listed} - {""}
    unique = deduplicated(span if span.trace_id or not traces else within(span, _only(traces)) for span in listed)
    members: dict[tuple[str, str], tuple[set[str], list[Span]]] = {}
    for span, (kind, identity, session) in zip(unique, places(unique, session_keys), strict=True):
        sessions, found = members.setdefault((kind, identity), (set(), []))
        sessions.add(session)
        found.append(span)
    return sorted((group(found, sessions) for sessions, found in members.values()), key=position)


def within(span: Span, only: str) -> Span:
    """A span that names no trace, in the only trace of its file; where there are several, it says so."""
    if only:
        return msgspec.structs.replace(span, trace_id=only)
    fault = "has no trace id: which trace of the file it belongs to is not known"
    return msgspec.structs.replace(span, faults=(*span.faults, fault))


def places(spans: list[Span], session_keys: Iterable[str], unit: Unit = "conversation") -> list[Place]:
    """Where each span belongs. A trace must be there whole, once each span; other traces do not matter to it."""
    return [
        _place(span, session, unit) for span, session in zip(spans, _sessions(spans, tuple(session_keys)), strict=True)
    ]


def _place(span: Span, session: str, unit: Unit) -> Place:
    if unit == "file":
        return Place("file", "", session)
    if unit == "conversation" and session:
        return Place("session", session, session)
    return Place("trace", span.trace_id, session)


def position(group: Group) -> tuple[bool, int, tuple[str, ...], str]:
    """By what groups stand in order: their start, those without one last."""
    first = group.spans[0]
    start = next((span.start for span in group.spans if span.start is not None), None)
    return start is None, start or 0, group.trace_ids, first.span_id


def deduplicated(spans: Iterable[Span]) -> list[Span]:
    """Each span once: exporters deliver at least once, and some deliver its beginning and its end apart.

    Spans that only share an id are all there.
    """
    found: list[Span] = []
    known: dict[tuple[str, str], list[int]] = {}
    for span in spans:
        of_id = known.setdefault((span.trace_id, span.span_id), []) if span.span_id else []
        at = next((place for place in reversed(of_id[-_LOOK:]) if _are_copies(found[place], span)), None)
        if at is None:
            of_id.append(len(found))
            found.append(span)
        else:
            found[at] = _united(found[at], span)
    return found


_LOOK: Final = 8
"""Spans of one id that a copy is looked for among, so that thousands of them cannot slow it down."""


def _are_copies(one: Span, other: Span) -> bool:
    """Whether two spans of one id are one: they began together, and do not end as something else."""
    if not _are_near(one.start, other.start):
        return False
    return one.end is None or other.end is None or (one.name == other.name and _are_near(one.end, other.end))


def _are_near(one: int | None, other: int | None) -> bool:
    """Whether two times may be one, which exporters round; one that is not known may be any."""
    return one is None or other is None or abs(one - other) < _ROUNDED


_ROUNDED: Final = 1_000_000
"""Nanoseconds: some exporters write milliseconds."""


def _united(one: Span, other: Span) -> Span:
    """Two copies of a span as one: the more complete copy, with what only the less complete one has."""
    best, rest = (other, one) if _completeness(other) > _completeness(one) else (one, other)
    return msgspec.structs.replace(
        best,
        parent_id=best.parent_id or rest.parent_id,
        name=best.name or rest.name,
        start=rest.start if best.start is None else best.start,
        end=rest.end if best.end is None else best.end,
        attributes={**rest.attributes, **best.attributes},
        events=best.events or rest.events,
        failed=best.failed or rest.failed,
        message=best.message or rest.message,
        dropped=max(best.dropped, rest.dropped),
        faults=tuple(dict.fromkeys((*best.faults, *rest.faults))),
    )


def _completeness(span: Span) -> tuple[bool, int]:
    return span.end is not None, len(span.attributes)


def _in_order(spans: list[Span]) -> list[Span]:
    """By start; those that start together outermost first, then by end, then by id, whatever the file's order."""
    above = parents(spans)
    depths = along(above, lambda _, depth: depth + 1, 0)
    keys = [
        (start is None, start or 0, depth, span.end is None, span.end or 0, span.trace_id, span.span_id)
        for span, start, depth in zip(spans, _starts(spans, above), depths, strict=True)
    ]
    return [spans[at] for at in sorted(range(len(spans)), key=keys.__getitem__)]


def _starts(spans: list[Span], above: list[int]) -> list[int | None]:
    """When each span began; one that does not say began by the start of its first child, else by its end."""
    starts = [span.start for span in spans]
    for span, parent in zip(spans, above, strict=True):
        if parent >= 0 and spans[parent].start is None and span.start is not None:
            known = starts[parent]
            starts[parent] = span.start if known is None else min(known, span.start)
    return [span.end if start is None else start for span, start in zip(spans, starts, strict=True)]


def _timed(span: Span) -> Span:
    """The span, without a start that only says that there is none."""
    return msgspec.structs.replace(span, start=None) if span.start == 0 and (span.end or 0) > _LONGEST else span


_LONGEST: Final = 10**17
"""Nanoseconds (three years) that no span lasts."""


def _sessions(spans: list[Span], keys: tuple[str, ...]) -> list[str]:
    own = [_own_session(span, keys) for span in spans]
    inherited = along(parents(spans), lambda index, above: above or own[index], "")
    of_trace: dict[str, set[str]] = {}
    for span, session in zip(spans, own, strict=True):
        if session and span.trace_id:
            of_trace.setdefault(span.trace_id, set()).add(session)
    return [
        session or _only(of_trace.get(span.trace_id, set())) for span, session in zip(spans, inherited, strict=True)
    ]


def _own_session(span: Span, keys: tuple[str, ...]) -> str:
    known = roots(span.attributes)
    return next((found for key in keys if root(key) in known and (found := text(span.attributes, key))), "")


def _only(sessions: set[str]) -> str:
    return next(iter(sessions)) if len(sessions) == 1 else ""


def group(spans: list[Span], sessions: Iterable[str], unit: Unit = "conversation") -> Group:
    """The group of spans in any order, each there once, and of the sessions that they belong to."""
    ordered = _in_order(list(map(_timed, spans)))
    traces = tuple(dict.fromkeys(span.trace_id for span in ordered if span.trace_id))
    session = _only(set(sessions) - {""}) or None
    return Group(session, traces, tuple(ordered), tuple(parents(ordered)), unit)


def parents(spans: Iterable[Span]) -> list[int]:
    """The index of each span's parent, -1 for a root and where the parent is not there."""
    listed = list(spans)
    places = {(span.trace_id, span.span_id): index for index, span in enumerate(listed) if span.span_id}
    return [places.get((span.trace_id, span.parent_id), -1) if span.parent_id else -1 for span in listed]


def along(above: Iterable[int], step: Callable[[int, _T], _T], start: _T) -> list[_T]:
    """A value for every span from that of its parent: `step(index, value of the parent)`.

    Without recursion, however deep the tree is; a span in a circle of parents counts as a root.
    """
    parent = list(above)
    values: dict[int, _T] = {}
    for index in range(len(parent)):
        path: list[int] = []
        seen: set[int] = set()
        at = index
        while at >= 0 and at not in values and at not in seen:
            path.append(at)
            seen.add(at)
            at = parent[at]
        value = values.get(at, start)
        for span in reversed(path):
            value = values[span] = step(span, value)
    return [values[index] for index in range(len(parent))]
