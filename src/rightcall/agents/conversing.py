"""One conversation with an agent, turn by turn, until the user has nothing more to say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from rightcall.agents.exchange import Conversation, Message, Reply, Turn
from rightcall.agents.joining import Exchange, joined
from rightcall.core.calls import Trajectory
from rightcall.errors import EndpointError


class Speaker(Protocol):
    """The user of one conversation. Each attempt has a speaker of its own."""

    async def next(self, history: tuple[Message, ...], trajectory: Trajectory) -> Any:
        """What the user says next, text or any JSON, or `None` when there is nothing more to say.

        `history` is what was said so far, `trajectory` what is known of the conversation so far: its calls, with
        their turns. `EndpointError` if what speaks cannot be reached; the conversation could then not be held.
        """
        ...


class Script:
    """A user who says what is written, whatever the agent answers."""

    def __init__(self, lines: Sequence[Any]) -> None:
        self._lines: Iterator[Any] = iter(lines)

    async def next(self, history: tuple[Message, ...], trajectory: Trajectory) -> Any:
        """The next line, `None` after the last."""
        return next(self._lines, None)


class Held(msgspec.Struct, frozen=True):
    """A conversation as far as it came, and the trouble that ended it before its end."""

    trajectory: Trajectory
    trouble: EndpointError | None = None


async def converse(conversation: Conversation, speaker: Speaker, opening: Turn) -> Held:
    """Hold a conversation to its end: until the speaker is done, the agent failed, or there is trouble.

    `opening` is what all turns have in common: the attempt, the test and its metadata.
    """
    exchanges: list[Exchange] = []
    made, turn = Trajectory(), opening
    try:
        for number in count(1):
            said = await speaker.next(turn.history, made)
            if said is None:
                break
            turn = replace(turn, input=said, number=number)
            reply = await conversation.send(turn)
            exchanges.append(Exchange(turn, reply))
            made = joined(exchanges)
            if reply.failure is not None:
                break
            turn = _continued(turn, reply)
    except EndpointError as error:
        return Held(made, error)
    return Held(made)


def _continued(turn: Turn, reply: Reply) -> Turn:
    """What the next turn has in common with the conversation so far."""
    said = Message(role="user", content=turn.input), Message(role="assistant", content=reply.output)
    named = turn.conversation_id if reply.conversation_id is None else reply.conversation_id
    return replace(turn, conversation_id=named, history=(*turn.history, *said))
