"""What is said to an agent and what comes back, whatever way it is reached.

An endpoint is opened once for a run. Each attempt holds one conversation with it: `send` takes one turn of the user
and gives the agent's reply. Nothing here decides anything: trouble on the way is an `EndpointError`, what the agent
itself says of its failure stands in the reply (G38).
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import msgspec
from msgspec import UNSET, UnsetType

from rightcall.core.calls import ToolCall, Trajectory


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a conversation as it was sent or answered. `role` is `user` or `assistant`."""

    role: str
    content: Any


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of the user.

    `input` is what the user says, text or any JSON. `number` counts from 1. `attempt` is unique among all attempts of
    all runs, so that an agent may keep conversations apart by it. `conversation_id` is what the agent's last reply
    called the conversation, `history` what was said before. `test` is the id of the test, `metadata` its metadata.
    """

    input: Any
    number: int = 1
    attempt: str = ""
    conversation_id: Any = None
    history: tuple[Message, ...] = ()
    test: str = ""
    metadata: dict[str, Any] = {}


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What the agent answered to one turn.

    `tool_calls` are those of this turn: absent (`UNSET`) where the reply says nothing of calls, `None` where it says
    that none were recorded, empty where none were made. `trajectory` is there instead where the reply tells of more
    than calls; it is that of this turn alone. `error` is what the agent itself reported or raised as its failure.
    `context` and `metadata` are what the mapping took from the reply for them. `warnings` say what was worth
    knowing on the way. `is_watched` says that the reply itself tells of no calls, and that its trajectory is what was
    captured of the turn: where calls were captured in other turns of the conversation, one in which nothing was has
    none.
    """

    output: Any = None
    tool_calls: tuple[ToolCall, ...] | UnsetType | None = UNSET
    trajectory: Trajectory | None = None
    conversation_id: Any = None
    context: Any = None
    metadata: dict[str, Any] = {}
    error: str | None = None
    warnings: tuple[str, ...] = ()
    is_watched: bool = False

    @property
    def calls(self) -> tuple[ToolCall, ...] | None:
        """The calls of this turn, wherever it tells of them; `None` where they are not known."""
        if self.trajectory is not None:
            return self.trajectory.tool_calls
        return None if self.tool_calls is UNSET else self.tool_calls

    @property
    def failure(self) -> str | None:
        """What the agent said of its failure, wherever it did; a conversation ends there."""
        return self.error if self.error is not None or self.trajectory is None else self.trajectory.failure

    def noting(self, *notes: str) -> Reply:
        """The reply with more that is worth knowing."""
        return msgspec.structs.replace(self, warnings=(*self.warnings, *notes))


class Conversation(Protocol):
    """One conversation with an agent: its turns are sent one after the other."""

    async def send(self, turn: Turn) -> Reply:
        """Send one turn; `EndpointError` if no reply came of it."""
        ...


class Endpoint(Protocol):
    """An agent that can be driven. Several conversations may be open at once."""

    def conversation(self) -> AbstractAsyncContextManager[Conversation]:
        """Begin a conversation; what it holds, such as a socket, is let go at its end."""
        ...

    async def close(self) -> None:
        """Let go of what all conversations share. No conversation is open any more."""
        ...
