"""What the user asked in a recorded conversation: one prompt, or one for each turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from rightcall.core.calls import Trajectory
from rightcall.core.heard import Heard, heard


class Asked(msgspec.Struct, frozen=True):
    """The prompts, one for each turn of the user, and what is not known of them, in sentences."""

    prompts: tuple[Any, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def keys(self) -> dict[str, Any]:
        """The keys of a test that say it."""
        if not self.prompts:
            return {}
        return {"prompt": self.prompts[0]} if len(self.prompts) == 1 else {"turns": _turns(self.prompts)}


def _turns(prompts: tuple[Any, ...]) -> list[dict[str, Any]]:
    return [{"prompt": prompt} for prompt in prompts]


def asked(trajectory: Trajectory) -> Asked:
    """The words of the user; what the record itself calls its prompt comes first."""
    own = tuple(_own(trajectory.expectations))
    if own:
        return Asked(own)
    known = heard(trajectory.messages or ())
    prompts = tuple(_by_turn(known))
    return Asked(prompts, tuple(_notes(known, prompts)))


def _own(expectations: dict[str, Any]) -> Iterator[Any]:
    """The prompts that a record has beside its calls."""
    if expectations.get("prompt") is not None:
        yield expectations["prompt"]
        return
    turns = expectations.get("turns")
    for turn in turns if isinstance(turns, list) else ():
        if isinstance(turn, dict) and turn.get("prompt") is not None:
            yield turn["prompt"]


def _by_turn(known: Heard) -> Iterator[str]:
    turns: dict[int, list[str]] = {}
    for text in known.texts:
        if text.speaker == "user":
            turns.setdefault(text.turn, []).append(text.text)
    yield from map("\n".join, turns.values())


def _notes(known: Heard, prompts: tuple[str, ...]) -> Iterator[str]:
    if not prompts:
        yield "what the user asked is not recorded, so the test has no prompt"
    elif known.unread:
        where = ", ".join(map(str, known.unread))
        yield f"the prompt is not whole: something in message {where} is no text that can be read"
