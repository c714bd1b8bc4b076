"""Judges that answer what a test says, and conversations for them to judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rightcall.core import jsontext
from rightcall.core.asking import Answer, Question
from rightcall.core.calls import ToolCall, ToolSpec, Trajectory

TALK: Final = [
    {"role": "user", "content": "My order 42 arrived late."},
    {"role": "assistant", "content": "Sorry! The money is with you in 3 days."},
]


class Scripted:
    """An asker that gives its answers in order, the last one again and again, and keeps what it was asked."""

    def __init__(self, *answers: Any, **fields: Any) -> None:
        self.answers: Sequence[Any] = answers
        self.fields = fields
        self.asked: list[Question] = []

    def __call__(self, question: Question) -> Answer:
        answer = self.answers[min(len(self.asked), len(self.answers) - 1)]
        self.asked.append(question)
        return Answer(text=answer if isinstance(answer, str) else jsontext.encode(answer).decode(), **self.fields)


def saying(verdict: str, reason: str = "so it is") -> dict[str, str]:
    """An answer to a rubric."""
    return {"reason": reason, "verdict": verdict}


def talk(*calls: ToolCall, **fields: Any) -> Trajectory:
    """A conversation with these calls in it."""
    return Trajectory(**{"tool_calls": calls, "messages": TALK, **fields})


def tools(*names: str) -> tuple[ToolSpec, ...]:
    """Tools that were available."""
    return tuple([ToolSpec(name=name) for name in names])


def choosing(*verdicts: str, missing: Sequence[str] = (), first: int = 1) -> dict[str, Any]:
    """An answer about the choice of tools: a verdict for each call from `first` on, and tools that are missing."""
    calls = [
        {"number": number, "reason": f"why {number}", "verdict": verdict}
        for number, verdict in enumerate(verdicts, first)
    ]
    return {"calls": calls, "missing": [{"name": name, "reason": f"needs {name}"} for name in missing]}
