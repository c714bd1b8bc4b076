"""Spans of a file into the conversations they belong to, each an ordered tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from rightcall.traces.spans.attributes import root, roots, text
from rightcall.traces.spans.model import Span

_T = TypeVar("_T")


class Group(msgspec.Struct, frozen=True):
    """The spans of one conversation by start (ties as in the file), each with the index of its parent, or -1."""

    session_id: str | None
    trace_ids: tuple[str, ...]
    spans: tuple[Span, ...]
    parents: tuple[int, ...]


def groups(spans: Iterable[Span], session_keys: Iterable[str]) -> list[Group]:
    """The conversations: by session id, else by trace id, else all that have neither together.

    A span takes the session of its outermost ancestor that has one (an agent that runs inside a call is no
    conversation of its own), then its own, else the only one of its trace.
    """
    unique = deduplicated(spans)
    sessions = _sessions(unique, tuple(session_keys))
    members: dict[tuple[str, str], list[Span]] = {}
    for span, session in zip(unique, sessions, strict=True):
        members.setdefault(("session", session) if session else ("trace", span.trace_id), []).append(span)
    made = [_group(key[1] if key[0] == "session" else None, found) for key, found in members.items()]
    return sorted(made, key=lambda group: (_start(group.spans[0]), group.trace_ids, group.spans[0].span_id))


def deduplicated(spans: Iterable[Span]) -> list[Span]:
    """Each span once: exporters deliver at least once, and some deliver its beginning and its end apart."""
    found: dict[tuple[str, str], Span] = {}
    for number, span in enumerate(spans):
        key = (span.trace_id, span.span_id) if span.span_id else ("", f"#{number}")
        old = found.get(key)
        found[key] = span if old is None else _united(old, span)
    return list(found.values())


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
    )


def _completeness(span: Span) -> tuple[bool, int]:
    return span.end is not None, len(span.attributes)


def _start(span: Span) -> tuple[bool, int]:
    return span.start is None, span.start or 0


def _in_order(spans: list[Span]) -> list[Span]:
    """By start; those that start together outermost first, then by end, then by id, whatever the file's order."""
    depths = along(parents(spans), lambda _, above: above + 1, 0)
    keys = [
        (*_start(span), depth, span.end is None, span.end or 0, span.trace_id, span.span_id)
        for span, depth in zip(spans, depths, strict=True)
    ]
    return [spans[at] for at in sorted(range(len(spans)), key=keys.__getitem__)]


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


def _group(session_id: str | None, spans: list[Span]) -> Group:
    ordered = _in_order(spans)
    traces = tuple(dict.fromkeys(span.trace_id for span in ordered if span.trace_id))
    return Group(session_id, traces, tuple(ordered), tuple(parents(ordered)))


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
