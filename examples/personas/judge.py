"""Stands in for a model, so that the examples run offline: looks for words where a model would read."""

from __future__ import annotations

from typing import Any

WORDS = {"says how long": " days", "says sorry": "sorry", "a photo": "photo"}


def answer(prompt: Any) -> dict[str, str]:
    """Whether the agent said the word that the criterion is about."""
    criterion, transcript = prompt.data["Criterion"], prompt.data["Transcript"]
    wanted = next(word for part, word in WORDS.items() if part in criterion)
    said = " ".join(message["content"] for message in transcript["messages"] if message["role"] == "assistant")
    if wanted in said.lower():
        return {"reason": f"it says {wanted.strip()!r}", "verdict": "pass"}
    return {"reason": f"no message says {wanted.strip()!r}", "verdict": "fail"}
