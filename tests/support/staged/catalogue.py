"""Every recording that is cross-checked: where its files come from, what it cannot play, and what it cannot say."""

from __future__ import annotations

from typing import Final

import msgspec

from support.staged import limits
from support.staged.limits import Limit
from support.staged.scripts import SCRIPTS, Script


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """Files of a run that tell a script alike. `unplayed` names scripts that the run cannot play, with reasons."""

    run: str
    files: tuple[str, ...]
    limits: tuple[Limit, ...] = ()


MODULES: Final = {
    "openai-chat": "plain",
    "openai-chat-streamed": "plain",
    "openai-responses": "plain",
    "openai-responses-streamed": "plain",
    "anthropic": "plain",
    "anthropic-streamed": "plain",
    "gemini": "plain",
    "gemini-streamed": "plain",
}
"""The module of each run."""

_NO_AGENT: Final = {"nested": "a bare SDK runs no agent inside a call"}
_OBJECTS: Final = {**_NO_AGENT, "malformed": "the API sends arguments as objects, which cannot be broken"}

UNPLAYED: Final[dict[str, dict[str, str]]] = {
    "openai-chat": _NO_AGENT,
    "openai-chat-streamed": _NO_AGENT,
    "openai-responses": _NO_AGENT,
    "openai-responses-streamed": _NO_AGENT,
    "anthropic": _OBJECTS,
    "anthropic-streamed": {**_NO_AGENT, "malformed": "the SDK mends broken arguments before the program sees them"},
    "gemini": _OBJECTS,
    "gemini-streamed": _OBJECTS,
}
"""The scripts that a run does not play, with the reason."""

_WIRE: Final = ("messages.json", "exchanges.json", "exchanges.jsonl")

RECORDINGS: Final = (
    Recording(run="openai-chat", files=_WIRE, limits=(limits.no_word_for_failure,)),
    Recording(run="openai-chat-streamed", files=("messages.json",), limits=(limits.no_word_for_failure,)),
    Recording(run="openai-responses", files=_WIRE, limits=(limits.no_word_for_failure,)),
    Recording(run="openai-responses-streamed", files=("messages.json",), limits=(limits.no_word_for_failure,)),
    Recording(run="anthropic", files=_WIRE),
    Recording(run="anthropic-streamed", files=("messages.json",)),
    Recording(run="gemini", files=_WIRE, limits=(limits.whole_error,)),
    Recording(run="gemini-streamed", files=("messages.json",), limits=(limits.whole_error,)),
)


def played(run: str) -> list[Script]:
    """The scripts that a run plays."""
    return [script for script in SCRIPTS.values() if script.name not in UNPLAYED.get(run, {})]
