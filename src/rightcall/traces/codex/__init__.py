"""Codex: rollout files of sessions, and the events that `codex exec --json` prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from rightcall.traces import families, heads
from rightcall.traces.codex import events, rollout


def claims(head: bytes) -> bool:
    """Whether the first lines are those of a session or of a run of Codex."""
    return families.claims(FAMILY, head) and any(
        rollout.is_own(value) or events.is_own(value) for value in heads.elements(head)
    )


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every session, in order."""
    return families.read(FAMILY, chunks, file)


def _kind(value: Any) -> str | None:
    if rollout.is_line(value):
        return "rollout"
    return "event" if events.is_event(value) else None


def _whole(value: Any) -> Iterator[Trajectory]:
    """Nothing: no line of Codex is a conversation of its own."""
    raise TraceError("expected lines of a session")


def _together(kind: str, values: list[Any]) -> Iterator[Trajectory | TraceError]:
    return rollout.trajectories(values) if kind == "rollout" else events.trajectories(values)


FAMILY = families.Family(
    expected="lines of a session, or events of a run, of Codex",
    kind=_kind,
    whole=_whole,
    together=_together,
)
