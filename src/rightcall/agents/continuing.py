"""The part of a reply that is new, where an agent tells the whole conversation again with each turn.

States of graphs and lists of messages usually begin with what was said before. What a reply tells counts as the whole
conversation if it begins with all the messages of the reply before, the user among them, and goes on with what the user
said next; the calls told before are then not of this turn. One that tells what the user said before again in any other
way cannot be told apart into turns, and is no reply.
"""

from __future__ import annotations

from typing import Any

import msgspec

from rightcall.agents.exchange import Reply
from rightcall.agents.reported import identity
from rightcall.core import jsontext
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.heard import heard
from rightcall.errors import EndpointError


class Continuing:
    """What the replies of one conversation told so far."""

    def __init__(self) -> None:
        self._before: Trajectory | None = None

    def new(self, reply: Reply) -> Reply:
        """The reply with nothing in it that the reply before told already."""
        told, before = reply.trajectory, self._before
        if told is None:
            return reply
        self._before = told
        if before is None:
            return reply
        if not _goes_on(before.messages, told.messages):
            _check_new(before.messages, told.messages)
            return reply
        return msgspec.structs.replace(reply, trajectory=_rest(before, told))


def _goes_on(before: list[Any] | None, told: list[Any] | None) -> bool:
    if not before or not told or len(told) <= len(before) or not _is_of_user(before):
        return False
    return _is_of_user(told[len(before) : len(before) + 1]) and _same(before, told[: len(before)])


def _check_new(before: list[Any] | None, told: list[Any] | None) -> None:
    """`EndpointError` if a reply of several turns of the user begins with one that was told before."""
    said = _said(told)
    if len(said) > 1 and said[0] in _said(before):
        raise EndpointError(
            "the reply tells turns before this one again, but not as they were told before, so that their calls cannot"
            " be told from those of this turn; give what is new, or all messages unchanged"
        )


def _said(messages: list[Any] | None) -> list[str]:
    return [text.text for text in heard(messages or ()).texts if text.speaker == "user"]


def _is_of_user(messages: list[Any]) -> bool:
    return bool(_said(messages))


def _same(some: list[Any], others: list[Any]) -> bool:
    return all(jsontext.encode(one) == jsontext.encode(other) for one, other in zip(some, others, strict=True))


def _rest(before: Trajectory, told: Trajectory) -> Trajectory:
    """The trajectory from where the one before ended. Calls that do not begin alike are all kept, and that is said."""
    old, all_ = before.tool_calls, told.tool_calls
    messages = (told.messages or [])[len(before.messages or []) :]
    kept = msgspec.structs.replace(told, messages=messages)
    if old is None or all_ is None:
        return kept
    if [identity(call) for call in old] != [identity(call) for call in all_[: len(old)]]:
        gap = "the reply tells the turns before it too, but not with the calls that were told before"
        return msgspec.structs.replace(told, gaps=(*told.gaps, gap))
    return msgspec.structs.replace(kept, tool_calls=tuple(_moved(call, len(old)) for call in all_[len(old) :]))


def _moved(call: ToolCall, count: int) -> ToolCall:
    """The call by its place among those that are left."""
    if call.parent is None:
        return call
    return msgspec.structs.replace(call, parent=call.parent - count if call.parent >= count else None)
