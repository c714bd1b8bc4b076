"""How a file is cut into trajectories: by conversation, by trace, by a key of the user's own, or not at all."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError, UsageError, Where
from rightcall.traces import spilling

_ATTRIBUTE: Final = "attribute:"


class GroupBy(msgspec.Struct, frozen=True, kw_only=True):
    """What belongs together. `key` is the span attribute or metadata key of `attribute`."""

    kind: Literal["conversation", "trace", "file", "attribute"]
    key: str = ""


def group_by(text: str) -> GroupBy:
    """What `conversation`, `trace`, `file` or `attribute:KEY` mean; `UsageError` for anything else."""
    if text.startswith(_ATTRIBUTE) and len(text) > len(_ATTRIBUTE):
        return GroupBy(kind="attribute", key=text.removeprefix(_ATTRIBUTE))
    for kind in ("conversation", "trace", "file"):
        if text == kind:
            return GroupBy(kind=kind)
    raise UsageError(
        f"`{text}` is nothing to group by; expected `conversation`, `trace`, `file` or `attribute:KEY`",
    )


class Met:
    """The traces and conversations of the files read so far: one that two files hold cannot be judged in parts."""

    def __init__(self) -> None:
        self._files: dict[tuple[str, int], str] = {}

    def checked(self, item: Trajectory, by: GroupBy | None, file: str) -> Trajectory | TraceError:
        """The trajectory, or an error if another file has a part of it."""
        keys = [("trace", identity) for identity in item.trace_ids]
        if item.conversation_id and (by is None or by.kind in ("conversation", "attribute")):
            keys.append(("conversation", item.conversation_id))
        others = [
            (kind, identity, other)
            for kind, identity in keys
            if (other := self._files.setdefault((kind, hash(identity)), file)) != file
        ]
        return _in_parts(*others[0], item) if others else item


def _in_parts(kind: str, identity: str, other: str, item: Trajectory) -> TraceError:
    alone = ", or judge each trace alone with `--group-by trace`" if kind == "conversation" else ""
    return TraceError(
        f"the {kind} `{identity}` is also in `{other}`: a part of it cannot be judged alone; give both as one file, "
        f"as with `cat`{alone}",
        Where(),
        item.test_id or (item.conversation_id if kind == "conversation" else item.id) or None,
    )


class Cutting(msgspec.Struct, frozen=True, kw_only=True):
    """How the files of a run are cut into trajectories, where a reader keeps what it cannot give yet.

    Without `by` each format decides: spans are grouped by conversation, records stand as they are. `met` knows the
    files of the run; without it a file is read as if it were the only one.
    """

    by: GroupBy | None = None
    keep: spilling.Keep = spilling.Memory
    met: Met | None = None
