"""A mapping for replies that none reads yet, made by looking at one: paths to try, never more than that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from rightcall.agents import looking, reported
from rightcall.testsets.marks import child

_OUTPUTS: Final = (
    "output",
    "final_output",
    "answer",
    "reply",
    "response",
    "completion",
    "text",
    "message",
    "content",
    "result",
    "delta",
)
"""Names of what an agent says, likelier ones first."""

_CONVERSATIONS: Final = frozenset({"conversation_id", "session_id", "thread_id", "chat_id"})
_ERRORS: Final = frozenset({"error", "error_message"})
_INDEX: Final = re.compile(r"\[\d+\]")
_CAMEL: Final = re.compile(r"(?<=[a-z])([A-Z])")
_DEEP: Final = 8


class Proposal(msgspec.Struct, frozen=True):
    """A mapping to try: an expression for each field that something was found for, and what is to be said of it."""

    response: dict[str, str] = {}
    notes: tuple[str, ...] = ()


def proposal(messages: list[Any]) -> Proposal:
    """What to try for a reply of these messages; one, unless it was streamed. Definitions of tools are no calls."""
    calls = dict.fromkeys(_query(place.path) for message in messages for place in looking.calls(message))
    leaves = [leaf for message in messages for leaf in _leaves(message, "", 0)]
    found = {
        "output": _output(leaves),
        "tool_calls": next(iter(calls), None),
        "conversation_id": _named(leaves, _CONVERSATIONS),
        "error": _named(leaves, _ERRORS),
    }
    response = {name: path for name, path in found.items() if path is not None}
    return Proposal(response, tuple(_notes(messages, list(calls))))


def _query(path: str) -> str:
    """A path as a query: items of a list are all items of it."""
    general = _INDEX.sub("[*]", path)
    return f"$.{general}" if general[:1] not in ("", "[") else f"${general}"


def _notes(messages: list[Any], calls: list[str]) -> Iterator[str]:
    catalogues = dict.fromkeys(_query(path) for message in messages for path in _catalogues(message, "", 0))
    for path in catalogues:
        yield f"`{path}` defines tools that could be called; these are no calls that were made"
    if len(calls) > 1:
        others = ", ".join(f"`{path}`" for path in calls[1:])
        yield f"what looks like calls stands in other places too: {others}; choose those that the agent made itself"
    if not calls:
        yield (
            "nothing in the reply looks like tool calls; let the agent report them, ask what makes it call a tool,"
            " or trace it: without calls, tests of them cannot be judged"
        )


def _catalogues(value: Any, path: str, depth: int) -> Iterator[str]:
    """The places of definitions of tools; a list of them is one place."""
    if depth > _DEEP:
        return
    if isinstance(value, list) and value and all(map(reported.is_definition, value)):
        yield path
        return
    members = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, Mapping) else ()
    for key, item in members:
        yield from _catalogues(item, child(path, key), depth + 1)


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, str, Any]]:
    """Each scalar outside of calls and tools: its last key, its path, the value."""
    if depth > _DEEP or looking.looks_like_call(value) or reported.is_definition(value):
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, Mapping | list):
                yield from _leaves(item, child(path, str(key)), depth + 1)
            else:
                yield str(key), child(path, str(key)), item
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, child(path, index), depth + 1)


def _output(leaves: list[tuple[str, str, Any]]) -> str | None:
    """The likeliest text: by its name, then nearest to the top."""
    texts = [
        (_OUTPUTS.index(_snake(key)), path.count(".") + path.count("["), path)
        for key, path, value in leaves
        if _snake(key) in _OUTPUTS and isinstance(value, str)
    ]
    return _query(min(texts, key=lambda one: one[:2])[2]) if texts else None


def _named(leaves: list[tuple[str, str, Any]], names: frozenset[str]) -> str | None:
    return next((_query(path) for key, path, _ in leaves if _snake(key) in names), None)


def _snake(key: str) -> str:
    return _CAMEL.sub(r"_\1", key).lower()
