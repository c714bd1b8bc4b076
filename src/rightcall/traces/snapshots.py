"""Histories that repeat: each request of a log holds the whole conversation so far (aligned as prefixes)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec


class Conversation(msgspec.Struct, frozen=True):
    """The longest history of a conversation, and the numbers of the snapshots that tell of it.

    `branched` says that it shares its beginning with an earlier one and then differs from it.
    """

    messages: list[Any]
    members: tuple[int, ...]
    branched: bool = False


def align(snapshots: Iterable[list[Any]], key: Callable[[Any], Any]) -> list[Conversation]:
    """The conversations that snapshots tell of, in order of first appearance.

    A snapshot that extends an earlier one replaces it; one that is a beginning of an earlier one (the request
    of a retry) adds nothing; one that differs after a common beginning is a branch, a conversation of its own.
    `key` is what makes two messages the same: identifiers are left out of it. Within one snapshot nothing is
    ever a duplicate.
    """
    known: list[tuple[Conversation, list[Any]]] = []
    for number, messages in enumerate(snapshots):
        keys = [key(message) for message in messages]
        lengths = [_common(keys, others) for _, others in known]
        fits = [at for at, (_, others) in enumerate(known) if lengths[at] in (len(others), len(keys))]
        if fits:
            at = max(fits, key=lengths.__getitem__)
            known[at] = _joined(known[at], messages, keys, number)
        else:
            branched = any(length > 1 for length in lengths)
            known.append((Conversation(messages, (number,), branched), keys))
    return [conversation for conversation, _ in known]


def _joined(
    known: tuple[Conversation, list[Any]], messages: list[Any], keys: list[Any], number: int
) -> tuple[Conversation, list[Any]]:
    old, old_keys = known
    longest = (messages, keys) if len(keys) >= len(old_keys) else (old.messages, old_keys)
    return Conversation(longest[0], (*old.members, number), old.branched), longest[1]


def _common(some: list[Any], others: list[Any]) -> int:
    """How many elements two lists have in common from the start."""
    for index, (one, other) in enumerate(zip(some, others, strict=False)):
        if one != other:
            return index
    return min(len(some), len(others))
