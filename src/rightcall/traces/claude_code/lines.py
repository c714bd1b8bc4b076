"""Lines of a session: which of them are messages, and whose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

_INTERRUPTED: Final = "[Request interrupted by user"


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One line that says something of a session. `at` is its place in the file.

    `agent` names the conversation of a sub-agent that it belongs to, empty for the session itself; `caller` is the
    id of the call that started that agent, if the line knows it.
    """

    kind: str
    value: dict[str, Any]
    message: Any
    at: str
    agent: str = ""
    caller: str | None = None

    def text(self, key: str) -> str | None:
        """A text that is not empty, under a key of the line."""
        return _text(self.value.get(key))

    @property
    def is_prompt(self) -> bool:
        """Whether the user said this, rather than the tool or the program in the user's name."""
        if self.kind != "user" or self.value.get("isMeta") is True or self.value.get("isCompactSummary") is True:
            return False
        content = self.message.get("content") if isinstance(self.message, dict) else None
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        texts = [content, *(block.get("text") for block in blocks)]
        noted = any(isinstance(text, str) and text.startswith(_INTERRUPTED) for text in texts)
        return not noted and not any(block.get("type") == "tool_result" for block in blocks)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def is_line(value: Any) -> bool:
    """Whether a value is a line of a session, of any type."""
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def lines(value: dict[str, Any], at: str) -> Iterator[Line]:
    """The line that a value is. A report of a sub-agent's progress holds a line of that agent."""
    kind = value["type"]
    data = value.get("data")
    inner = data.get("message") if kind == "progress" and isinstance(data, dict) else None
    if isinstance(data, dict) and isinstance(inner, dict) and is_line(inner):
        caller = _text(value.get("parentToolUseID"))
        agent = _text(data.get("agentId")) or caller or "agent"
        own = {**inner, "sessionId": value.get("sessionId")}
        yield Line(kind=inner["type"], value=own, message=inner.get("message"), at=at, agent=agent, caller=caller)
        return
    caller = _text(value.get("parent_tool_use_id"))
    agent = ""
    if value.get("isSidechain") is True or caller:
        agent = _text(value.get("agentId")) or caller or "agent"
    yield Line(kind=kind, value=value, message=value.get("message"), at=at, agent=agent, caller=caller)
