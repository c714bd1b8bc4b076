"""What the agent was told in words: the texts of the user and of the system, out of messages of any shape.

Nothing is guessed: a message that has no known shape, and a part of the user's that is no text, is told as unread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

import msgspec

from rightcall.core.masking import is_masked

Speaker = Literal["user", "system", "agent", "tool"]

_SPEAKERS: Final[dict[str, Speaker]] = {
    "user": "user",
    "human": "user",
    "humanmessage": "user",
    "user-prompt": "user",
    "system": "system",
    "developer": "system",
    "systemmessage": "system",
    "system-prompt": "system",
    "assistant": "agent",
    "model": "agent",
    "ai": "agent",
    "aimessage": "agent",
    "aimessagechunk": "agent",
    "response": "agent",
    "function_call": "agent",
    "custom_tool_call": "agent",
    "mcp_call": "agent",
    "web_search_call": "agent",
    "file_search_call": "agent",
    "code_interpreter_call": "agent",
    "computer_call": "agent",
    "reasoning": "agent",
    "tool-call": "agent",
    "tool": "tool",
    "function": "tool",
    "ipython": "tool",
    "toolmessage": "tool",
    "function_call_output": "tool",
    "custom_tool_call_output": "tool",
    "computer_call_output": "tool",
    "tool-response": "tool",
    "tool-return": "tool",
    "retry-prompt": "tool",
}
"""Who speaks, by the words for it in the role or the type of a message, in small letters."""

_RESULTS: Final = frozenset(
    {"tool_result", "tool-result", "tool-error", "toolResult", "functionResponse", "function_response"}
)
"""Types of parts, or keys in them, that are results of tools in messages of the user."""

_WRAPPERS: Final = ("message", "data", "content")


class Text(msgspec.Struct, frozen=True):
    """Something said: by whom, in which turn of the user (from 0), and where among the messages."""

    speaker: Speaker
    turn: int
    text: str
    number: int


class Heard(msgspec.Struct, frozen=True):
    """All that was said to the agent, and the numbers of the messages of which something cannot be read."""

    texts: tuple[Text, ...]
    unread: tuple[int, ...]


def heard(messages: Iterable[Any]) -> Heard:
    """The texts of messages, in order. Messages of the user without one of the agent between them are one turn."""
    texts: list[Text] = []
    unread: list[int] = []
    turn, has_answered = 0, False
    for number, message in enumerate(messages, 1):
        for speaker, content in _spoken(message):
            if speaker == "agent":
                has_answered = True
            if speaker in ("agent", "tool"):
                continue
            said = list(_texts(content)) if speaker is not None else [None]
            if speaker == "user" and has_answered and said:
                turn, has_answered = turn + 1, False
            texts += [Text(speaker, turn, text, number) for text in said if text is not None and speaker is not None]
            unread += [number for text in said if text is None]
    return Heard(tuple(texts), tuple(dict.fromkeys(unread)))


def _spoken(message: Any) -> Iterator[tuple[Speaker | None, Any]]:
    """Who speaks in a message, and the content; a message may hold parts of several."""
    if not isinstance(message, dict):
        yield None, message
        return
    if "role" not in message and message.get("kind") == "request" and isinstance(message.get("parts"), list):
        for part in message["parts"]:
            yield from _part_of_request(part)
        return
    speaker = _speaker(message)
    inner = next((message[key] for key in _WRAPPERS if isinstance(message.get(key), dict)), None)
    if inner is not None and (speaker is None or "content" not in message):
        yield _speaker(inner) or speaker, inner.get("content", inner.get("parts"))
        return
    yield speaker, message.get("content", message.get("parts", message.get("text")))


def _part_of_request(part: Any) -> Iterator[tuple[Speaker | None, Any]]:
    kind = part.get("part_kind") if isinstance(part, dict) else None
    yield _SPEAKERS.get(kind) if isinstance(kind, str) else None, part.get("content") if kind else part


def _speaker(message: dict[str, Any]) -> Speaker | None:
    for key in ("role", "type", "kind"):
        word = message.get(key)
        if isinstance(word, str) and word.lower() in _SPEAKERS:
            return _SPEAKERS[word.lower()]
    return None


def _texts(content: Any) -> Iterator[str | None]:
    """The texts of a content, `None` for each part that cannot be read; results of tools are none of them."""
    for part in content if isinstance(content, list | tuple) else [content]:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(part, dict) and _RESULTS & {str(part.get("type")), *part}:
            continue
        yield text if isinstance(text, str) and not is_masked(text) else None
