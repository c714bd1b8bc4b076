"""The OpenAI Agents SDK: traces as its processors export them, and saved states of runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from rightcall.traces import families
from rightcall.traces.openai_agents import runstate, tracing


def claims(head: bytes) -> bool:
    """Whether the first value is a span or a trace of the SDK, a batch of these, or a state of a run."""
    return families.claims(FAMILY, head)


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every conversation of traces, by its start, and every state of a run."""
    return families.read(FAMILY, chunks, file)


def _kind(value: Any) -> str | None:
    if runstate.is_state(value):
        return families.RECORD
    if not isinstance(value, dict):
        return None
    batch = value.get("data") if "object" not in value else [value]
    known = isinstance(batch, list) and bool(batch) and all(map(tracing.is_part, batch))
    return "span" if known else None


def _whole(value: Any) -> Iterator[Trajectory]:
    yield runstate.trajectory(value)


def _together(kind: str, values: list[Any]) -> Iterator[Trajectory | TraceError]:
    batches = (value["data"] if "object" not in value else [value] for value in values)
    return tracing.trajectories([part for batch in batches for part in batch])


FAMILY = families.Family(
    expected="spans or the state of a run of the OpenAI Agents SDK",
    kind=_kind,
    whole=_whole,
    together=_together,
)
