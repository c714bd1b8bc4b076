"""What the messages of a conversation tell: how many turns it had, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rightcall.core.calls import Trajectory
from rightcall.core.stringify import stringify

_AGENT: Final = frozenset({"assistant", "model", "ai"})
_USER: Final = frozenset({"user", "human"})


def last_turn(trajectory: Trajectory) -> int:
    """The last turn (from 1) in which the agent is known to have done or said something; 0 if none is."""
    in_calls = (call.turn + 1 for call in trajectory.tool_calls or () if call.turn is not None)
    return max((*in_calls, *_answered(trajectory.messages or ())), default=0)


def _answered(messages: Any) -> Iterator[int]:
    """Each turn that a message of the agent belongs to. Messages of the user in a row are one turn."""
    turn, spoke = 0, True
    for message in messages:
        role = _role(message)
        if role in _AGENT:
            turn += spoke
            spoke = False
            yield turn
        elif role in _USER and _says_something(message):
            spoke = True


def turns(messages: Any) -> Iterator[int]:
    """The turn (from 1) that each message belongs to; 0 for what comes before anybody spoke.

    A turn begins with what the user says once the agent has spoken, or with the agent where it speaks first.
    """
    turn, spoke = 0, True
    for message in messages:
        role = _role(message)
        if role in _USER and _says_something(message):
            turn += spoke
            spoke = False
        elif role in _AGENT:
            turn = max(turn, 1)
            spoke = True
        yield turn


def _role(message: Any) -> Any:
    if not isinstance(message, dict):
        return None
    return message.get("role", message.get("type"))


def _says_something(message: dict[str, Any]) -> bool:
    """Whether the user spoke: results of tools stand in messages of the user too."""
    content = _content(message)
    if isinstance(content, list):
        return any(isinstance(part, str) or (isinstance(part, dict) and "text" in part) for part in content)
    return isinstance(content, str)


def _content(message: dict[str, Any]) -> Any:
    """What a message says: text, or parts; of speech, what was heard."""
    return message.get("content", message.get("parts", message.get("transcript")))


def final_text(trajectory: Trajectory) -> str | None:
    """The agent's final answer: its output, else the text of the last message, if that is one of the agent.

    Data is written as JSON. `None` where no answer is recorded.
    """
    if trajectory.output is not None:
        return trajectory.output if isinstance(trajectory.output, str) else stringify(trajectory.output)
    last = trajectory.messages[-1] if trajectory.messages else None
    is_known = isinstance(last, dict) and _role(last) in _AGENT
    return _text(_content(last)) if last is not None and is_known else None


def _text(content: Any) -> str | None:
    """The text of a message's content: `None` if it has none, or parts that ask for calls beside it."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    known = [text for text in texts if isinstance(text, str)]
    return "\n".join(known) if known and len(known) == len(parts) else None
