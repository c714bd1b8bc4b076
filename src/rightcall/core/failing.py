"""An agent that failed by its own account, and a conversation in which we did (G38)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Final

import msgspec

from rightcall.core.calls import Trajectory
from rightcall.core.verdicts import Evidence, Finding, Status, Verdict

KIND: Final = "agent"
"""The kind of the verdict on an agent that failed; no assertion has it."""

_NAME: Final = "agent_failed"

OURS: Final = "rightcall"
"""The key in the metadata of a trajectory under which stands what a run of ours says of the attempt."""

CRASH: Final = "crash"
"""What stands there where a mistake of ours ended the conversation: the way through the code to where it was made."""

CRASHED: Final = "internal_error"
"""The code of the finding that a crash of ours leaves."""


def cut_short(trajectory: Trajectory) -> Trajectory:
    """The trajectory as assertions must see it: calls that a failed agent did not come to may be missing (G12)."""
    if trajectory.failure is None:
        return trajectory
    return msgspec.structs.replace(trajectory, gaps=(*trajectory.gaps, "the agent failed before its end"))


def failure_verdict(trajectory: Trajectory, taken: Iterable[str] = ()) -> Verdict | None:
    """The verdict on an agent that failed, `None` where it did not. `taken` are the ids of the other verdicts.

    It is a failure that no rate over assertions softens.
    """
    if trajectory.failure is None:
        return None
    message = f"The agent failed: {trajectory.failure or 'it does not say how'}"
    return Verdict(
        id=_free(set(taken)),
        name=_NAME,
        kind=KIND,
        status=Status.FAIL,
        score=0,
        ban=True,
        evidence=Evidence((Finding(code="agent_failed", message=message),)),
    )


def crash_verdict(trajectory: Trajectory) -> Verdict | None:
    """The verdict on a conversation that a mistake of ours ended, `None` for any other: an error that blocks."""
    ours = trajectory.metadata.get(OURS)
    if trajectory.trouble is None or not isinstance(ours, dict) or CRASH not in ours:
        return None
    finding = Finding(code=CRASHED, message=trajectory.trouble)
    return Verdict(
        id="conversation",
        name="conversation",
        kind=KIND,
        status=Status.ERROR,
        evidence=Evidence((finding,), {"traceback": str(ours[CRASH])}),
    )


def _free(taken: set[str]) -> str:
    return next(name for number in count(1) if (name := _NAME if number == 1 else f"{_NAME}[{number}]") not in taken)
