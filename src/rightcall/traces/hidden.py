"""Calls where no reader looks for them: signs that the calls that were read are not all there were (G12)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from rightcall.core import jsontext
from rightcall.core.calls import ToolCall
from rightcall.traces import shapes

_KEYS: Final = frozenset(
    {"toolcalls", "toolcall", "functioncalls", "functioncall", "tooluse", "tooluses", "calls", "toolinvocations"}
)
"""Keys under which calls stand, in lower case and without the marks between words."""

_TYPES: Final = re.compile(
    r"(?:^|[_.-])calls?$|(?:tool|function|mcp)[_-]?(?:calls?|uses?|invocations?)$", re.IGNORECASE
)
"""What types of calls end in: `function_call`, `tool-call`, `server_tool_use`, `toolInvocation`."""

_ANSWERS: Final = re.compile(r"(?:result|output|return|response|error|denied|request|definition)s?$", re.IGNORECASE)
"""What types end in that answer a call, or that only speak of one."""

_DEFINITION: Final = frozenset({"parameters", "description", "input_schema", "strict"})
_OWN: Final = frozenset({*ToolCall.__struct_fields__, *shapes.READ, "custom"})


class Sign(msgspec.Struct, frozen=True):
    """Something that looks like calls, and its place."""

    place: str
    entries: tuple[Any, ...]


class Places(msgspec.Struct, frozen=True):
    """Where calls were read, and everything around these places."""

    own: frozenset[str] = frozenset()
    around: frozenset[str] = frozenset()


def places(read: Iterable[ToolCall]) -> Places:
    """Where calls were read, as their sources say."""
    own = frozenset(source for call in read for source in call.sources)
    ends = ((source, mark.start()) for source in own for mark in _STEP.finditer(source))
    return Places(own, own | {source[:end] for source, end in ends})


_STEP: Final = re.compile(r"\.|\[")


NOWHERE: Final = Places()
"""The places of a reader that has read no calls."""


def signs(value: Any, path: str = "", skipped: Iterable[str] = (), known: Places = NOWHERE) -> Iterator[Sign]:
    """Everything in a value that looks like calls, without recursion and without looking into text.

    `skipped` are keys of the value itself that the reader knows; calls at places that are `known` were read.
    """
    if isinstance(value, dict):
        value = {key: part for key, part in value.items() if str(key).partition(".")[0] not in skipped}
    waiting: list[tuple[Any, str]] = [(value, path)]
    while waiting:
        node, at = waiting.pop()
        if at and at in known.own:
            yield from _beside(node, at)
            continue
        if isinstance(node, dict) and at not in known.around and (_is_typed(node) or _is_shaped(node)):
            yield Sign(at, (node,))
            continue
        for key, part, place in _inside(node, at):
            if part and _names_calls(key):
                entries = _entries(part, place)
                if unread := tuple(entry for entry, one in entries if one not in known.around):
                    yield Sign(place, unread)
                waiting += [pair for pair in entries if pair[1] in known.around]
            elif not isinstance(part, str):
                waiting.append((part, place))


_OF_CALLS: Final = _OWN | {"toolInvocation", "rawInput", "output", "params"}


def _beside(node: Any, at: str) -> Iterator[Sign]:
    """What looks like a call in a place where one was read, other than that call."""
    for key, part in node.items() if isinstance(node, dict) else ():
        if key not in _OF_CALLS and isinstance(part, dict) and _is_shaped(part):
            yield Sign(f"{at}.{key}", (part,))


def _inside(node: Any, at: str) -> Iterable[tuple[Any, Any, str]]:
    """The parts of a value that may hold calls, with their keys (none in an array) and their places."""
    if isinstance(node, list):
        return [(None, part, f"{at}[{index}]") for index, part in enumerate(node) if isinstance(part, dict | list)]
    if not isinstance(node, dict):
        return ()
    return [
        (key, part, f"{at}.{key}" if at else str(key))
        for key, part in _parts(node)
        if isinstance(part, dict | list | str)
    ]


def _entries(part: Any, place: str) -> list[tuple[Any, str]]:
    if isinstance(part, list):
        return [(entry, f"{place}[{index}]") for index, entry in enumerate(part)]
    return [(part, place)]


RESULTS: Final = frozenset({"content", "result", "output", "artifact"})
"""Keys of a message of a tool that hold what the tool gave back."""

_RESULTS: Final = frozenset({*RESULTS, "results", "outputs", "response", "value", "error", "input", "args", "tools"})
_ASIDE: Final = frozenset(
    {
        "toolresult",
        "toolresults",
        "toolresponse",
        "toolresponses",
        "functionresponse",
        "codeexecutionresult",
        "observation",
        "observations",
        "tools",
        "functions",
        "tooldefinitions",
        "toolchoice",
        "toolconfig",
    }
)
"""Keys, in lower case and without the marks between words, of what came back from tools and of the tools on offer."""


def _parts(node: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    """The parts of an object without results of tools, which may hold anything, and without definitions."""
    kind = node.get("type", node.get("part_kind"))
    answers = isinstance(kind, str) and _ANSWERS.search(kind) is not None
    return [
        (key, part)
        for key, part in node.items()
        if not (isinstance(part, dict | list) and _bare(key) in _ASIDE) and not (answers and key in _RESULTS)
    ]


def in_messages(messages: Any, path: str = "messages") -> Iterator[Sign]:
    """What looks like calls in messages of any format, other than in results of tools and in calls without a name."""
    listed = messages if isinstance(messages, list) else ()
    for index, message in enumerate(listed):
        yield from in_message(message, f"{path}[{index}]")


def in_message(message: Any, at: str, known: Places = NOWHERE) -> Iterator[Sign]:
    """What looks like calls in one message, other than calls that were read, results, and calls without a name."""
    of_tool = isinstance(message, dict) and message.get("role") in ("tool", "function")
    for sign in signs(message, at, RESULTS if of_tool else (), known):
        if not of_tool or any(not isinstance(entry, dict | str) or shapes.is_call(entry) for entry in sign.entries):
            yield sign


def unread(placed: Iterable[tuple[Any, str]], read: Sequence[ToolCall]) -> tuple[str, ...]:
    """A gap for each place in messages that looks like calls, where none was read and that copies none that was."""
    known = places(read)
    return gaps((sign for message, at in placed for sign in in_message(message, at, known)), read)


def _is_typed(node: dict[str, Any]) -> bool:
    """Whether an object says that it is a call; a definition of a function says only that it is a function."""
    kind = node.get("type", node.get("message_content.type"))
    if not isinstance(kind, str):
        return False
    if kind == "function":
        inner = node.get("function", node)
        return not (isinstance(inner, dict) and inner.keys() & _DEFINITION)
    return _TYPES.search(kind) is not None


def _is_shaped(node: dict[str, Any]) -> bool:
    """Whether an object has a name and arguments, as calls do, and no type that says it is something else."""
    kind = node.get("type", node.get("part_kind"))
    if (isinstance(kind, str) and _ANSWERS.search(kind)) or node.keys() & _DEFINITION:
        return False
    named = any(isinstance(node.get(key), str) for key in shapes.NAME_KEYS)
    return named and any(key in node for key in shapes.ARGUMENT_KEYS)


def _names_calls(key: Any) -> bool:
    """Whether calls stand under a key, which may be a flat path."""
    return any(_bare(word) in _KEYS for word in str(key).split("."))


def _bare(word: Any) -> str:
    return str(word).replace("_", "").replace("-", "").lower()


def _as_written(entry: Any) -> ToolCall:
    return shapes.call(entry)[0]


def gaps(
    found: Iterable[Sign], read: Iterable[ToolCall] = (), call: Callable[[Any], ToolCall] = _as_written
) -> tuple[str, ...]:
    """A gap for each sign that is no copy of calls that were read. `call` reads an entry of a sign."""
    signed = list(found)
    known = {key for one in read for key in (_written(one), _named(one))} if signed else set()
    return tuple(
        f"{sign.place} looks like calls, which are not read".strip()
        for sign in signed
        if not all(_is_copy(call(entry), known) for entry in sign.entries)
    )


def _is_copy(call: ToolCall, known: set[tuple[str, str, bytes]]) -> bool:
    """Whether a call is written once more: with the same arguments, or without any but with the same id."""
    return _written(call) in known or (not call.arguments and bool(call.id) and _named(call) in known)


def _written(call: ToolCall) -> tuple[str, str, bytes]:
    arguments = call.arguments if call.arguments_state == "ok" else call.arguments_text
    return "arguments", call.name, jsontext.encode(arguments)


def _named(call: ToolCall) -> tuple[str, str, bytes]:
    return "id", call.name, jsontext.encode(call.id)


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
