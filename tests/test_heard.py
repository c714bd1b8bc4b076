"""What the user and the system said, heard in messages of every shape."""

from __future__ import annotations

from typing import Any

import pytest

from rightcall.core.heard import heard

SHAPES: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
    ({"role": "user", "content": "a"}, [("user", "a")]),
    ({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "input_text", "text": "b"}]},
     [("user", "a"), ("user", "b")]),
    ({"role": "user", "content": [{"type": "tool_result", "content": "x"}]}, []),
    ({"role": "user", "content": [{"type": "tool-result", "text": "x"}]}, []),
    ({"role": "user", "content": [{"toolResult": {"content": []}}, {"text": "a"}]}, [("user", "a")]),
    ({"role": "user", "parts": [{"text": "a"}]}, [("user", "a")]),
    ({"role": "user", "parts": [{"functionResponse": {}}]}, []),
    ({"type": "human", "data": {"content": "a"}}, [("user", "a")]),
    ({"type": "user", "message": {"role": "user", "content": "a"}}, [("user", "a")]),
    ({"content": {"role": "user", "parts": [{"text": "a"}]}}, [("user", "a")]),
    ({"kind": "request", "parts": [{"part_kind": "system-prompt", "content": "s"},
                                   {"part_kind": "user-prompt", "content": "a"},
                                   {"part_kind": "tool-return", "content": "x"}]}, [("system", "s"), ("user", "a")]),
    ({"role": "developer", "content": "s"}, [("system", "s")]),
    ({"role": "assistant", "content": "x"}, []),
    ({"role": "tool", "content": "x"}, []),
    ({"type": "function_call_output", "output": "x"}, []),
]  # fmt: skip


@pytest.mark.parametrize(("message", "texts"), SHAPES)
def test_messages_of_every_shape_are_heard(message: dict[str, Any], texts: list[tuple[str, str]]) -> None:
    """Texts of the user and the system; results of tools and words of the agent are none of them."""
    told = heard([message])
    assert ([(text.speaker, text.text) for text in told.texts], told.unread) == (texts, ())


@pytest.mark.parametrize(
    "message",
    [5, {"role": "user"}, {"role": "user", "content": None}, {"who": "user", "content": "a"}, {"role": "stranger"},
     {"role": "user", "content": [{"type": "image"}]}, {"role": "user", "content": "[REDACTED]"}],
)  # fmt: skip
def test_what_cannot_be_read_is_said(message: Any) -> None:
    """Nothing is guessed, and nothing is left out in silence."""
    told = heard([message])
    assert (told.texts, told.unread) == ((), (1,))
