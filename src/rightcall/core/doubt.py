"""What could not be judged, and why, in words (G11, G12, G13)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rightcall.core.assertion import CannotJudge
from rightcall.core.calls import UNKNOWN_STATES, ToolCall, Trajectory
from rightcall.core.counting import Counted
from rightcall.core.patterns import Pattern
from rightcall.core.provenance import PlacedCall


def gap(trajectory: Trajectory) -> CannotJudge:
    """Calls may be missing from the trace, and they matter."""
    return CannotJudge("gap", f"Calls may be missing ({trajectory.gaps[0]}); the verdict depends on them.")


def arguments(counted: Counted, at: int) -> CannotJudge:
    """The arguments of the call at a position, or results that they may come from, are not known, and they matter."""
    call = counted.calls[at]
    if call.arguments_state == "ok" and isinstance(call, PlacedCall) and (undecided := call.earlier.doubt()):
        return undecided
    state = call.arguments_state.replace("_", " ")
    number = counted.indices[at] + 1
    return CannotJudge(
        "arguments_unknown", f"The arguments of call {number} were {state}; the verdict depends on them."
    )


def result(patterns: Iterable[Pattern], counted: Counted) -> CannotJudge | None:
    """The result of an earlier call is not known, and it decides whether a call matches; `None` without one."""
    asking = [pattern for pattern in patterns if pattern.compile_at is not None]
    pairs = ((pattern, call) for pattern in asking for call in counted.calls if call.name == pattern.name)
    return next(filter(None, (pattern.doubt(call) for pattern, call in pairs)), None)


def nameless(calls: Iterable[tuple[int, ToolCall]]) -> CannotJudge | None:
    """A call without a name could be of any tool, also of one that must not be called; `None` without one.

    Each call stands with its index in the trajectory.
    """
    for index, call in calls:
        if not call.name.strip():
            return name(index)
    return None


def name(index: int) -> CannotJudge:
    """The call at an index in the trajectory has no name, and it matters."""
    return CannotJudge("name_unknown", f"Call {index + 1} has no name; the verdict depends on it.")


def success(counted: Counted, at: int) -> CannotJudge:
    """It is not known whether the call at a position succeeded, and it matters."""
    status = counted.calls[at].status
    return CannotJudge(
        "status_unknown",
        f"Call {counted.indices[at] + 1} is not known to have succeeded: its status is `{status}`; "
        "the verdict depends on it.",
    )


def mismatched(patterns: Sequence[Pattern], counted: Counted) -> CannotJudge:
    """A call would match one of the patterns if what is not known of it were known."""
    at = first_doubtful(patterns, counted)
    doubted = result(patterns, counted) if at is None else arguments(counted, at)
    assert doubted is not None
    return doubted


def first_doubtful(patterns: Iterable[Pattern], counted: Counted) -> int | None:
    """The first position whose call would match one of the patterns if its arguments were known, and does not."""
    wanted = list(patterns)
    for at, call in enumerate(counted.calls):
        if call.arguments_state in UNKNOWN_STATES and any(
            pattern.name == call.name and not pattern.accepts(call) for pattern in wanted
        ):
            return at
    return None
