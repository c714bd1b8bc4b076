"""From what a mapping found, in one reply or in all messages of a stream, to the reply.

Nothing, `null` and an empty list stay different for calls: not said, not recorded, none made. Lists that several places
give are put together; a call that a later message tells again by its id counts once, as it is told last. Texts that
several places give as the output are joined. What looks like calls and is not found by the mapping is said; where it
finds none, that is a gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from rightcall.agents import looking, replies, reported
from rightcall.agents.exchange import Reply
from rightcall.agents.mapping import Found, Mapped
from rightcall.core import jsontext
from rightcall.core.values import display
from rightcall.errors import EndpointError
from rightcall.testsets.marks import child
from rightcall.traces import shapes


def as_it_is(value: dict[str, Any]) -> Mapped:
    """An object with the keys of a reply, mapped by these."""
    return Mapped({key: Found(items=((f"$.{key}", part),), value=part) for key, part in value.items()}, value)


def reply(parts: Sequence[Mapped]) -> Reply:
    """The reply that the parts of it come to: one, or the messages of a stream in their order.

    Texts of `output` are joined, calls put together; of the rest the last one counts, of errors the first.
    """
    metadata = [_object(value) for part in parts if (value := part.value("metadata")) not in (UNSET, None)]
    failures = [replies.failure(value) for part in parts if (value := part.value("error")) is not UNSET]
    made = Reply(
        output=_output(parts),
        conversation_id=_last(parts, "conversation_id"),
        context=_last(parts, "context"),
        metadata={key: value for one in metadata for key, value in one.items()},
        error=next(filter(None, failures), None),
    )
    return _with_calls(made, parts)


def _last(parts: Sequence[Mapped], name: str) -> Any:
    known = [value for part in parts if (value := part.value(name)) not in (UNSET, None)]
    return known[-1] if known else None


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        message = f"`metadata` is mapped to {shapes.kind(value)}, expected an object; found {display(value, 60)}"
        raise EndpointError(message)
    return value


def _output(parts: Sequence[Mapped]) -> Any:
    values = [value for part in parts for value in _outputs(part.fields.get("output", Found()))]
    if len(values) > 1 and all(isinstance(value, str) for value in values):
        return "".join(values)
    return values[0] if len(values) == 1 else values or None


def _outputs(found: Found) -> list[Any]:
    values = found.value if found.is_list else [found.value]
    return [value for value in values or () if value is not UNSET and value is not None]


def _with_calls(made: Reply, parts: Sequence[Mapped]) -> Reply:
    """The reply with the calls of all parts. What looks like calls and was not found is said."""
    told = [(part, part.fields["tool_calls"]) for part in parts if "tool_calls" in part.fields]
    said = [found for _, found in told if found.value is not UNSET]
    entries = _once([list(_entries(found)) for found in said])
    overlooked = [place for part in parts for place in _overlooked(part, [value for _, value in entries])]
    if not said:
        return _warned(made, overlooked)
    if not entries and all(_is_null(found) for found in said):
        return replies.with_calls(_warned(made, overlooked), reported.Reported())
    calls = reported.read([value for _, value in entries], "", [at for at, _ in entries])
    if overlooked and not entries:
        gap = f"the mapping finds no calls, but what looks like calls stands at {_listed(overlooked)}"
        return replies.with_calls(made, msgspec.structs.replace(calls, gaps=(*calls.gaps, gap)))
    return replies.with_calls(_warned(made, overlooked), calls)


def _once(messages: list[list[tuple[str, Any]]]) -> list[tuple[str, Any]]:
    """The entries of all messages, each call that several tell by its id only once, as the last one tells it."""
    found: list[tuple[str, Any]] = []
    known: dict[Any, int] = {}
    for entries in messages:
        before = dict(known)
        for path, entry in entries:
            key = _key(entry)
            if key is not None and key in before:
                found[before[key]] = (path, entry)
                continue
            if key is not None:
                known[key] = len(found)
            found.append((path, entry))
    return found


def _key(entry: Any) -> Any:
    """What a call is known by if it has an id, which alone may repeat."""
    if not isinstance(entry, dict) or "role" in entry or not shapes.is_call(entry):
        return None
    call, _ = shapes.call(entry)
    return (call.id, *reported.identity(call)) if call.id else None


def _is_null(found: Found) -> bool:
    values = [value for _, value in found.items]
    return found.value is None or (bool(values) and all(value is None for value in values))


def _entries(found: Found) -> Iterable[tuple[str, Any]]:
    """Each call, or message with calls, by its place: lists are put together, `null` among several is none."""
    for path, value in found.items:
        if isinstance(value, str):
            value = reported.decoded(value, path)
        if isinstance(value, list):
            yield from ((child(path, index), entry) for index, entry in enumerate(value))
        elif value is not None:
            yield path, value


def _overlooked(part: Mapped, read: list[Any]) -> list[str]:
    """The places of what looks like calls in a reply and is not, nor stands in, what was read."""
    inside = [one for value in read for place in looking.calls(value) for one in (place.value, *_each(place.value))]
    known = set(map(jsontext.encode, (*read, *inside)))
    return [
        f"$.{place.path}" if place.path[:1] not in ("", "[") else f"${place.path}"
        for place in looking.calls(part.reply)
        if jsontext.encode(place.value) not in known
        and not all(jsontext.encode(one) in known for one in _each(place.value))
    ]


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _listed(places: list[str]) -> str:
    return ", ".join(f"`{place}`" for place in dict.fromkeys(places[:3]))


def _warned(made: Reply, places: list[str]) -> Reply:
    if not places:
        return made
    told = f"what looks like calls at {_listed(places)} is not read: no mapping of `tool_calls` leads there"
    return msgspec.structs.replace(made, warnings=(*made.warnings, told))
