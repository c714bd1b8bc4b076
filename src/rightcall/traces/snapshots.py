"""Histories that repeat: each request of a log holds the whole conversation so far (aligned as prefixes)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeVar

import msgspec

from rightcall.traces.alike import alike

_T = TypeVar("_T")


class Snapshot(msgspec.Struct, frozen=True):
    """The messages of a request, the first `given`, and what the response adds to them."""

    messages: list[Any]
    given: int


class Conversation(msgspec.Struct, frozen=True):
    """The longest history of a conversation, and the numbers of the snapshots that tell of it.

    `ends` are those that tell of it until its end. `branched` says that it shares its beginning with an earlier one
    and then differs from it.
    """

    messages: list[Any]
    members: tuple[int, ...]
    ends: tuple[int, ...]
    branched: bool = False

    def ending(self, members: list[_T]) -> Iterator[_T]:
        """Those of the members that tell of the conversation until its end."""
        ends = set(self.ends)
        return (member for number, member in zip(self.members, members, strict=True) if number in ends)


_Known = tuple[Conversation, list[Any]]
"""A conversation with the keys of its messages."""


def align(snapshots: Iterable[Snapshot], key: Callable[[Any], Any]) -> list[Conversation]:
    """The conversations that snapshots tell of, in order of first appearance.

    A snapshot that extends an earlier one replaces it; one that is a beginning of an earlier one (the request
    of a retry) adds nothing; one that differs after a common beginning is a branch, a conversation of its own.
    `key` is what makes two messages the same: identifiers are left out of it. Within one snapshot nothing is
    ever a duplicate. A client may write the messages of a history again, a little differently (`alike`): a request
    that holds all that was told before still continues it.
    """
    known: list[_Known] = []
    for number, snapshot in enumerate(snapshots):
        keys = [key(message) for message in snapshot.messages]
        lengths = [_common(keys, others) for _, others in known]
        fits = [at for at, (_, others) in enumerate(known) if lengths[at] in (len(others), len(keys))]
        if fits:
            at = max(fits, key=lengths.__getitem__)
            known[at] = _joined(known[at], snapshot.messages, keys, number)
        elif (again := _told_again(known, snapshot, keys, number)) is not None:
            at, known[at] = again
        else:
            branched = any(length > 1 for length in lengths) or _begins_alike(keys, known)
            known.append((Conversation(snapshot.messages, (number,), (number,), branched), keys))
    return [conversation for conversation, _ in known]


def _joined(known: _Known, messages: list[Any], keys: list[Any], number: int) -> _Known:
    old, old_keys = known
    members = (*old.members, number)
    if len(keys) < len(old_keys):
        return msgspec.structs.replace(old, members=members), old_keys
    ends = (*old.ends, number) if len(keys) == len(old_keys) else (number,)
    return Conversation(messages, members, ends, old.branched), keys


def _common(some: list[Any], others: list[Any]) -> int:
    """How many elements two lists have in common from the start."""
    for index, (one, other) in enumerate(zip(some, others, strict=False)):
        if one != other:
            return index
    return min(len(some), len(others))


def _told_again(known: list[_Known], snapshot: Snapshot, keys: list[Any], number: int) -> tuple[int, _Known] | None:
    """The conversation that a snapshot continues in other words, the longest one, and what becomes of it."""
    latest = range(max(len(known) - _LATEST, 0), len(known))
    for at in sorted(latest, key=lambda at: -len(known[at][1])):
        old, old_keys = known[at]
        members = (*old.members, number)
        if found := _found(old_keys, keys[: snapshot.given]):
            messages, kept = _as_first_told(found, snapshot.messages, keys, known[at])
            return at, (Conversation(messages, members, (number,), old.branched), kept)
        if (found := _found(keys, old_keys)) and len(found) == len(_spoken(old_keys[: max(found) + 1])):
            ends = (*old.ends, number) if len(found) == len(_spoken(old_keys)) else old.ends
            return at, (msgspec.structs.replace(old, members=members, ends=ends), old_keys)
    return None


def _as_first_told(
    found: dict[int, int], messages: list[Any], keys: list[Any], known: _Known
) -> tuple[list[Any], list[Any]]:
    """Messages as they were told first, with their keys, but for those that now have other ids: results name these."""
    old, old_keys = known
    messages, keys = list(messages), list(keys)
    for place, index in found.items():
        if _ids(messages[place]) <= _ids(old.messages[index]):
            messages[place], keys[place] = old.messages[index], old_keys[index]
    return messages, keys


_LATEST: Final = 16
"""Conversations that are compared with a history that was written again."""

_LOOK: Final = 32
"""Messages among which one is looked for: those that belong to one answer may stand in any order."""


def _found(keys: list[Any], among: list[Any]) -> dict[int, int]:
    """Where each of some messages stands among others, by its place there; empty if one does not.

    Instructions may change from request to request, and say nothing of what was told. The first others must agree.
    """
    left, told = _spoken(among), _spoken(keys)
    found: dict[int, int] = {}
    for index in told if len(told) <= len(left) else ():
        near = left[: _LOOK if found else 1]
        place = next((place for place in near if alike(keys[index], among[place])), None)
        if place is None:
            return {}
        found[place] = index
        left.remove(place)
    return found


def _spoken(keys: list[Any]) -> list[int]:
    """The places of all but instructions."""
    return [place for place, key in enumerate(keys) if not _is_instruction(key)]


def _is_instruction(key: Any) -> bool:
    """Whether a message is of the one who wrote the agent; its role stands first, or after the kind of an item."""
    role = (key[1] if key[:1] == ("message",) else key[0]) if isinstance(key, tuple) else None
    return role in ("system", "developer")


def _begins_alike(keys: list[Any], known: list[_Known]) -> bool:
    """Whether a conversation agrees with an earlier one in more than one message, but for instructions."""
    begun = [keys[place] for place in _spoken(keys)[:2]]
    return len(begun) > 1 and any(_found(begun, others[:_LOOK]) for _, others in known[-_LATEST:])


_IDS: Final = frozenset({"id", "call_id", "tool_call_id", "tool_use_id", "toolUseId"})


def _ids(message: Any) -> set[str]:
    return set(_identities(message))


def _identities(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            if name in _IDS and isinstance(part, str):
                yield part
            else:
                yield from _identities(part)
    elif isinstance(value, list):
        for part in value:
            yield from _identities(part)
