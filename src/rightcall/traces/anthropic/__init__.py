"""Anthropic Messages: message lists, requests, responses, streams of events, batch results, logs of exchanges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from rightcall.traces import blocks, exchanges, families, heads
from rightcall.traces.anthropic import bodies, stream


def claims(head: bytes) -> bool:
    """Whether the first value has what only this format has: plain messages alone are not."""
    value = exchanges.settled(heads.settled(head))
    if isinstance(value, list) and value and all(map(exchanges.is_pair, value)):
        return any(map(bodies.is_exchange, value)) and not any("choices" in (one["response"] or ()) for one in value)
    return any(map(_has_own, heads.sketches(head))) and families.claims(FAMILY, head)


def _has_own(value: Any) -> bool:
    if isinstance(value, list):
        return bodies.is_content(value) or any(map(_has_own, value))
    if exchanges.is_pair(value):
        return bodies.is_exchange(value)
    return blocks.is_own(value) or bodies.is_own(value) or stream.is_own(value)


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every conversation, in order; one that cannot be read is yielded as an error."""
    return families.read(FAMILY, chunks, file)


def _kind(value: Any) -> str | None:
    if exchanges.is_pair(value):
        return families.EXCHANGE if bodies.is_exchange(value) else None
    if stream.is_event(value):
        return "event"
    if bodies.is_body(value) or bodies.is_content(value):
        return families.RECORD
    return families.MESSAGE if blocks.is_message(value) else None


def _whole(value: Any) -> Iterator[Trajectory]:
    yield bodies.trajectory(value)


def _together(kind: str, values: list[Any]) -> Iterator[Trajectory | TraceError]:
    if kind == families.EXCHANGE:
        return bodies.log(values)
    return map(bodies.trajectory, stream.responses(values))


FAMILY = families.Family(
    expected="messages, a request or a response of Anthropic",
    kind=_kind,
    whole=_whole,
    together=_together,
)
