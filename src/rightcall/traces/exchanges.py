"""Logs of exchanges with a model: each request repeats the conversation so far, each response adds to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from rightcall.core.calls import ToolSpec, Trajectory
from rightcall.errors import TraceError
from rightcall.traces import snapshots


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """A request with its response, in the messages of some format.

    `reply` is what the response adds, `None` if there is no response. `continues` says that the history already
    tells of the model. `gaps` and `warnings` are those of the response.
    """

    history: list[Any]
    reply: list[Any] | None = None
    gaps: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    identity: dict[str, str] = {}
    continues: bool = False

    @property
    def whole(self) -> list[Any]:
        """The conversation after this exchange."""
        return [*self.history, *(self.reply or ())]


def is_pair(value: Any) -> bool:
    """Whether a value holds a request and what became of it, whosever they are."""
    return isinstance(value, dict) and isinstance(value.get("request"), dict) and "response" in value


def settled(value: Any) -> Any:
    """The beginning of a log in which the first request may be so long that its response is not in sight."""
    first = value[0] if isinstance(value, list) and len(value) == 1 else None
    if isinstance(first, dict) and isinstance(first.get("request"), dict):
        return [{"response": None, **first}]
    return value


Telling = Callable[[list[Any], tuple[ToolSpec, ...], tuple[str, ...]], Trajectory]
"""How a format tells the trajectory of messages, the tools on offer, and gaps."""


def log(
    exchanges: Iterable[Exchange | None], key: Callable[[Any], Any], tell: Telling
) -> Iterator[Trajectory | TraceError]:
    """The conversations of a log, each by its longest history; `None` is an exchange of another format.

    `key` is what makes two messages the same.
    """
    listed = list(exchanges)
    read = [exchange for exchange in listed if exchange is not None]
    told = [snapshots.Snapshot(exchange.whole, len(exchange.history)) for exchange in read]
    for conversation in snapshots.align(told, key):
        members = [read[number] for number in conversation.members]
        try:
            yield _told(conversation, members, len(listed) - len(read), tell)
        except TraceError as error:
            yield error


def _told(conversation: snapshots.Conversation, members: list[Exchange], foreign: int, tell: Telling) -> Trajectory:
    gaps = [gap for one in members for gap in one.gaps]
    warnings = [warning for one in members for warning in one.warnings]
    if all(one.reply is None for one in conversation.ending(members)):
        gaps.append("the last request of the log has no response")
    if conversation.branched:
        warnings.append("an earlier conversation of the log begins the same; this one is read as a branch of it")
    if foreign:
        note = f"{foreign} exchanges of the log are in another format and are not read"
        (warnings if members[0].continues else gaps).append(note)
    offered = {tool.name: tool for one in reversed(members) for tool in reversed(one.tools)}
    tools = tuple(reversed(offered.values()))
    made = tell(conversation.messages, tools, tuple(dict.fromkeys(gaps)))
    return msgspec.structs.replace(made, warnings=(*made.warnings, *warnings), **members[0].identity)
