"""Calls where no reader looks for them: signs that the calls that were read are not all there were (G12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core import jsontext
from rightcall.core.calls import ToolCall
from rightcall.traces import shapes

_KEYS: Final = frozenset(
    {"toolcalls", "toolcall", "functioncalls", "functioncall", "tooluse", "tooluses", "calls", "toolinvocations"}
)
"""Keys under which calls stand, in lower case and without the marks between words."""

_TYPES: Final = frozenset(
    {"toolcall", "toolcalls", "tooluse", "functioncall", "customtoolcall", "servertooluse", "mcptooluse", "mcpcall"}
)
_DEFINITION: Final = frozenset({"parameters", "description", "input_schema", "strict"})
_OWN: Final = frozenset({*ToolCall.__struct_fields__, *shapes.READ, "custom"})


class Sign(msgspec.Struct, frozen=True):
    """Something that looks like calls, and its place."""

    place: str
    entries: tuple[Any, ...]


def signs(value: Any, path: str = "", skipped: Iterable[str] = ()) -> Iterator[Sign]:
    """Everything in a value that looks like calls, without recursion and without looking into text.

    `skipped` are keys of the value itself that the reader knows.
    """
    if isinstance(value, dict):
        value = {key: part for key, part in value.items() if str(key).partition(".")[0] not in skipped}
    waiting: list[tuple[Any, str]] = [(value, path)]
    while waiting:
        node, at = waiting.pop()
        if isinstance(node, list):
            waiting += [(part, f"{at}[{index}]") for index, part in enumerate(node) if isinstance(part, dict | list)]
        elif isinstance(node, dict):
            if _is_typed(node):
                yield Sign(at, (node,))
                continue
            for key, part in node.items():
                place = f"{at}.{key}" if at else str(key)
                if part and isinstance(part, dict | list | str) and _names_calls(key):
                    yield Sign(place, tuple(part) if isinstance(part, list) else (part,))
                elif isinstance(part, dict | list):
                    waiting.append((part, place))


RESULTS: Final = frozenset({"content", "result", "output", "artifact"})
"""Keys of a message of a tool that hold what the tool gave back."""


def in_messages(messages: Any, path: str = "messages") -> Iterator[Sign]:
    """What looks like calls in messages of any format, other than in results of tools and in calls without a name."""
    for index, message in enumerate(messages if isinstance(messages, list) else ()):
        skipped = RESULTS if isinstance(message, dict) and message.get("role") in ("tool", "function") else ()
        for sign in signs(message, f"{path}[{index}]", skipped):
            if any(not isinstance(entry, dict | str) or shapes.is_call(entry) for entry in sign.entries):
                yield sign


def _is_typed(node: dict[str, Any]) -> bool:
    """Whether an object says that it is a call; a definition of a function says only that it is a function."""
    kind = node.get("type", node.get("message_content.type"))
    if not isinstance(kind, str):
        return False
    if kind == "function":
        inner = node.get("function", node)
        return not (isinstance(inner, dict) and inner.keys() & _DEFINITION)
    return _bare(kind) in _TYPES


def _names_calls(key: Any) -> bool:
    """Whether calls stand under a key, which may be a flat path."""
    return any(_bare(word) in _KEYS for word in str(key).split("."))


def _bare(word: Any) -> str:
    return str(word).replace("_", "").replace("-", "").lower()


def gaps(found: Iterable[Sign], read: Iterable[ToolCall] = ()) -> tuple[str, ...]:
    """A gap for each sign that is no copy of calls that were read."""
    signed = list(found)
    known = {_key(call) for call in read} if signed else set()
    return tuple(
        f"{sign.place} looks like calls, which are not read".strip()
        for sign in signed
        if not all(_key(shapes.call(entry)[0]) in known for entry in sign.entries)
    )


def _key(call: ToolCall) -> tuple[str, bytes]:
    return call.name, jsontext.encode(call.arguments if call.arguments_state == "ok" else call.arguments_text)


def in_call(entry: Any, path: str) -> tuple[str, ...]:
    """The gaps of one entry that was read as one call but writes another besides."""
    if isinstance(entry, list):
        return (f"{path} looks like calls, which are not read",) if any(map(shapes.is_call, entry)) else ()
    if not isinstance(entry, dict):
        return ()
    wrapped = [entry[key] for key in shapes.WRAPPERS if isinstance(entry.get(key), dict | list) and entry[key]]
    names = [entry[key] for key in (*shapes.NAME_KEYS, "function") if isinstance(entry.get(key), str)]
    names += [one["name"] for one in wrapped if isinstance(one, dict) and isinstance(one.get("name"), str)]
    if len(set(names)) > 1 or len(wrapped) > 1 or any(isinstance(one, list) for one in wrapped):
        return (f"{path} looks like several calls, of which one is read",)
    unread = {key: part for key, part in entry.items() if key not in _OWN}
    nameless = [f"{path}.{key} looks like a call, which is not read" for key in unread if shapes.is_call(unread[key])]
    return (*nameless, *gaps(signs(unread, path)))


def unread_keys(entry: dict[str, Any]) -> Iterable[str]:
    """The keys of an entry that no shape of a call has, other than those that are warned about anyway."""
    return [key for key in entry if key not in _OWN and not shapes.means_arguments(key)]
