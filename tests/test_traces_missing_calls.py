"""Real traces without one of their calls, or with it under a key that no format has: a ban never passes by that (G12).

Each call of a file is taken out, with the block, the message or the line that holds it, while its result stays.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

import rightcall
from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from support import corpus
from support.telling import TELLINGS

FILES: Final = [
    entry
    for entry in corpus.entries(corpus.OWN)
    if entry.reader in TELLINGS.keys() | {"mcp-jsonrpc"} and entry.calls and entry.path.suffix in (".json", ".jsonl")
]
_MOST: Final = 4
"""Calls of a file that are taken out, each by itself."""

UNSEEN: Final = {
    "openai-agents-trace": "a span of a function is the call and its result, and no answer of the model asks for it",
}
"""Formats of the corpus in which a call that was taken out leaves no trace, and why."""

Path = tuple[str | int, ...]


def documents(entry: corpus.Entry) -> list[Any]:
    text = entry.path.read_text("utf-8")
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines() if line.strip()[:1] in ("{", "[") and _is_json(line)]


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except json.JSONDecodeError:
        return False
    return True


def read(value: list[Any], format: str) -> list[Trajectory]:
    """The trajectories of a file, none if it is refused."""
    try:
        items = list(traces.read(["\n".join(map(json.dumps, value)).encode()], format=format))
    except TraceError:
        return []
    return [item for item in items if isinstance(item, Trajectory)]


def found(value: Any, name: str, path: Path = ()) -> Iterator[Path]:
    """The places of objects that name a tool, other than its results and its definition."""
    if isinstance(value, list):
        for index, part in enumerate(value):
            yield from found(part, name, (*path, index))
    elif isinstance(value, dict):
        keys = ("name", "tool_name", "toolName", "function_name", "function")
        arguments = ("arguments", "args", "input", "partial_json")
        if any(value.get(key) == name for key in keys) and any(key in value for key in arguments):
            yield path
        for key, part in value.items():
            if key not in ("tools", "tool_definitions", "functions"):
                yield from found(part, name, (*path, key))


def at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def without(value: list[Any], path: Path) -> list[Any]:
    """A copy without the element at a path."""
    copy = json.loads(json.dumps(value))
    del at(copy, path[:-1])[path[-1]]
    return list(copy)


def renamed(value: list[Any], path: Path) -> list[Any]:
    """A copy with the key at the end of a path under another name."""
    copy = json.loads(json.dumps(value))
    above = at(copy, path[:-1])
    above[f"novelty{len(path)}"] = above.pop(path[-1])
    return list(copy)


def passes_ban(items: list[Trajectory], name: str) -> bool:
    """Whether a ban of the tool passes on everything that was read, and something was."""
    try:
        for item in items:
            rightcall.check(item, forbidden_tools=[name])
    except AssertionError:
        return False
    return bool(items)


def elements(path: Path) -> list[Path]:
    """The elements of arrays on the way to a call, the innermost first: its block, its message, its line."""
    ends = [end for end in range(len(path), 0, -1) if isinstance(path[end - 1], int)]
    return [path[:end] for end in ends][:3]


def keys(path: Path) -> list[Path]:
    """The keys on the way to a call, the innermost first."""
    ends = [end for end in range(len(path), 0, -1) if isinstance(path[end - 1], str)]
    return [path[:end] for end in ends][:3]


def unseen(entry: corpus.Entry, change: Any, places: Any) -> list[str]:
    """The changes of a file after which the ban of a tool that was called passes."""
    value, reader = documents(entry), str(entry.reader)
    missed = []
    for name in list(dict.fromkeys(row["name"] for row in entry.calls))[:_MOST]:
        if sum(row["name"] == name for row in entry.calls) > 1:
            continue
        for path in list(found(value, name))[:_MOST]:
            missed += [
                f"{entry.file}: {'.'.join(map(str, place))}"
                for place in places(path)
                if passes_ban(read(change(value, place), reader), name)
            ]
    return missed


@pytest.mark.parametrize("entry", FILES, ids=lambda entry: entry.file)
def test_a_call_that_was_taken_out_is_missed(entry: corpus.Entry) -> None:
    """Its result, or what else the file says, tells that it was there (G12)."""
    assert bool(unseen(entry, without, elements)) == (entry.format in UNSEEN)


@pytest.mark.parametrize("entry", FILES, ids=lambda entry: entry.file)
def test_a_call_under_a_key_that_no_format_has_is_missed(entry: corpus.Entry) -> None:
    """It looks like a call wherever it stands (G12)."""
    assert unseen(entry, renamed, keys) == []
