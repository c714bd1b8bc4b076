"""How a file is cut into trajectories: by conversation, by trace, by a key of the user's own, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

import msgspec

from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError, UsageError, Where
from rightcall.traces import spilling
from rightcall.traces.wrappers import ToolAt

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

    def checked(self, item: Trajectory, wholes: Iterable[Whole], file: str) -> Trajectory | TraceError:
        """The trajectory, or an error if another file has a part of one of the wholes that it is, or belongs to."""
        for whole in wholes:
            other = self._files.setdefault((whole.kind, hash(whole.identity)), file)
            if other != file:
                return _in_parts(whole, other, item)
        return item


class Whole(NamedTuple):
    """What is judged as a whole: a trace, a conversation, or a group by a key of the user's own."""

    kind: str
    identity: str


def _in_parts(whole: Whole, other: str, item: Trajectory) -> TraceError:
    alone = "" if whole.kind == "trace" else ", or leave each trace to itself with `--group-by trace`"
    return TraceError(
        f"the {whole.kind} `{whole.identity}` is also in `{other}`: a part of it cannot be judged alone; give both as "
        f"one file, as with `cat`{alone}",
        Where(),
        item.test_id or (item.id if whole.kind == "trace" else whole.identity) or None,
    )


def wholes_of_spans(item: Trajectory, by: GroupBy | None) -> Iterator[Whole]:
    """The traces that a trajectory of spans is made of, and what these are grouped by."""
    for identity in item.trace_ids:
        yield Whole("trace", identity)
    if item.conversation_id and (by is None or by.kind in ("conversation", "attribute")):
        yield Whole("group" if by and by.key else "conversation", item.conversation_id)


def wholes_of_records(item: Trajectory, by: GroupBy | None) -> Iterator[Whole]:
    """What a trajectory that was put together is grouped by. One that stands as it is, is whole."""
    key = None if by is None else key_of(item, by)
    if by is not None and key is not None:
        yield Whole("group" if by.key else "conversation", key)


def key_of(item: Trajectory, by: GroupBy) -> str | None:
    """What records are put together by, `None` for one that stands alone."""
    if by.kind == "attribute":
        value = item.metadata.get(by.key)
        return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else None
    return item.conversation_id if by.kind == "conversation" else None


class Cutting(msgspec.Struct, frozen=True, kw_only=True):
    """How the files of a run are cut into trajectories, where a reader keeps what it cannot give yet.

    Without `by` each format decides: spans are grouped by conversation, records stand as they are. `met` knows the
    files of the run; without it a file is read as if it were the only one. `tool_at` says where spans of wrappers name
    the tool; only spans can be read with it.
    """

    by: GroupBy | None = None
    keep: spilling.Keep = spilling.Memory
    met: Met | None = None
    tool_at: ToolAt | None = None
