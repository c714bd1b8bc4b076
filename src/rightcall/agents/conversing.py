"""One conversation with an agent, turn by turn, until the user has nothing more to say."""

from __future__ import annotations

from typing import Any, Protocol

from rightcall.agents.exchange import Message
from rightcall.core.calls import Trajectory


class Speaker(Protocol):
    """The user of one conversation. Each attempt has a speaker of its own."""

    async def next(self, history: tuple[Message, ...], trajectory: Trajectory) -> Any:
        """What the user says next, text or any JSON, or `None` when there is nothing more to say.

        `history` is what was said so far, `trajectory` what is known of the conversation so far: its calls, with
        their turns. `EndpointError` if what speaks cannot be reached; the conversation could then not be held.
        """
        ...
