"""Google ADK: events, sessions, and the invocations of eval sets and eval results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from rightcall.traces import families
from rightcall.traces.contents import field
from rightcall.traces.google_adk import evalsets, events


def _kind(value: Any) -> str | None:
    if events.is_event(value):
        return families.MESSAGE
    known = isinstance(value, dict) and (_is_session(value) or evalsets.is_set(value) or evalsets.is_result(value))
    return families.RECORD if known else None


def _is_session(value: dict[str, Any]) -> bool:
    found = value.get("events")
    if not isinstance(found, list):
        return False
    named = {"appName", "userId"} <= value.keys() or {"app_name", "user_id"} <= value.keys()
    return named or (all(map(events.is_event, found)) and bool(found or {"appName", "app_name"} & value.keys()))


def _whole(value: Any) -> Iterable[Trajectory | TraceError]:
    if isinstance(value, list):
        return [events.trajectory(value, path="")]
    if evalsets.is_set(value):
        return evalsets.cases(value)
    if evalsets.is_result(value):
        return evalsets.results(value)
    return [_session(value)]


def _session(value: dict[str, Any]) -> Trajectory:
    made = events.trajectory(value["events"], path="events")
    identity = value.get("id") or field(value, "sessionId")
    known = identity if isinstance(identity, str) else ""
    return msgspec.structs.replace(made, id=known, conversation_id=known or None)


_FAMILY: Final = families.Family(
    expected="an ADK event, session or eval set",
    kind=_kind,
    whole=_whole,
    holds_records=evalsets.holds_cases,
)


def claims(head: bytes) -> bool:
    """Whether the first value is an event, a session, an eval set or eval results of ADK, or a list of these."""
    return families.claims(_FAMILY, head)


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every session or case, in order; one that cannot be read is yielded as an error."""
    return families.read(_FAMILY, chunks, file)
