"""Why a model stopped, and what that says of its message: that calls are not there, or that it was cut off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

_CALLING: Final = frozenset({"tool_calls", "tool_call", "tool_use", "function_call"})
_LIMITS: Final = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"}
)


def gaps(
    reason: Any, *, calls: bool, text: bool, word: str = "finish reason", at: str = "the message"
) -> Iterator[str]:
    """The gap of a message, at a place, that has calls, or ends in text, or has neither (G12).

    A message that a limit cut off misses no call if it was cut in its text. `word` is what the format calls a reason.
    """
    plain = str(reason).rpartition(".")[2].replace("-", "_").lower()
    if plain in _CALLING and not calls:
        yield f"the {word} is `{reason}`, but {at} has no calls"
    if plain in _LIMITS and (calls or not text):
        yield f"the {word} is `{reason}`: {at} was cut off, and calls may be missing"


def is_calling(reason: Any) -> bool:
    """Whether a model says that it stopped to call tools."""
    return str(reason).replace("-", "_").lower() in _CALLING
