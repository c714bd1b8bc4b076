"""What LangGraph streams, into the messages that it adds up to.

Updates tell what each node wrote, chunks tell a message piece by piece, values repeat the whole state. A message
with an id that came before takes the place of the earlier one, as in the state itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from rightcall.traces.langchain.messages import fields, is_message

_MODES: Final = frozenset({"updates", "messages", "values", "custom", "debug", "tasks", "checkpoints"})


def is_item(value: Any) -> bool:
    """Whether a value is one item of a stream: an update, or a chunk with its metadata; with mode and namespace."""
    value = payload(value)
    if isinstance(value, list):
        return len(value) == 2 and is_message(value[0]) and _is_metadata(value[1])
    return isinstance(value, dict) and _is_update(value)


def is_silent(value: Any) -> bool:
    """Whether a value is an item that wrote no messages: of a silent node, of an interrupt, of another mode."""
    if isinstance(value, list):
        return payload(value) is not value
    return isinstance(value, dict) and all(isinstance(part, dict | list | None) for part in value.values())


def _is_metadata(value: Any) -> bool:
    return isinstance(value, dict) and not {"type", "role", "content", "data", "lc"} & value.keys()


def payload(value: Any) -> Any:
    """An item without the namespace and the mode that may stand before it."""
    if isinstance(value, list) and 1 < len(value) < 4 and (value[0] in _MODE_NAMES or _is_namespace(value[0])):
        rest = value[1:]
        return payload(rest[0] if len(rest) == 1 else rest)
    return value


_MODE_NAMES: Final = tuple(_MODES)


def _is_namespace(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def _is_update(value: dict[str, Any]) -> bool:
    """Whether each key is a node with what it wrote, and one of them wrote messages."""
    if "messages" in value or not all(isinstance(part, dict | list | None) for part in value.values()):
        return False
    return any(next(_written(part), None) is not None for part in value.values())


def _written(part: Any) -> Iterator[Any]:
    """The messages that a node wrote."""
    if isinstance(part, list):
        for one in part:
            yield from [one] if is_message(one) else _written(one) if isinstance(one, dict) else []
    elif isinstance(part, dict):
        found = part.get("messages")
        for one in found if isinstance(found, list) else [found]:
            if is_message(one):
                yield one


def messages(items: Iterable[Any]) -> tuple[list[Any], tuple[str, ...]]:
    """The messages that items add up to, in order of first appearance, and what is missing from them."""
    made = _Messages()
    for item in items:
        value = payload(item)
        if isinstance(value, list):
            made.add(value[0])
        else:
            for part in value.values():
                for message in _written(part):
                    made.add(message)
    return made.whole(), made.gaps()


def states(values: Iterable[dict[str, Any]]) -> list[Any]:
    """The messages of states of one run, of which each repeats those before."""
    made = _Messages()
    for value in values:
        for message in value["messages"]:
            made.add(message)
    return made.whole()


class _Messages:
    """Messages by id; a chunk grows the one before it, a whole message replaces it."""

    def __init__(self) -> None:
        self._known: dict[Any, dict[str, Any]] = {}

    def add(self, message: Any) -> None:
        told = fields(message)
        identity = told.get("id")
        key = identity if isinstance(identity, str) and identity else ("no id", len(self._known))
        kind = str(told.get("type"))
        if kind in ("remove", "RemoveMessage"):
            return
        if kind != "AIMessageChunk":
            self._known[key] = told
            return
        whole = self._known.setdefault(key, {"type": "AIMessageChunk", "id": told.get("id"), "pieces": {}})
        if "pieces" in whole:
            _grow(whole, told)

    def gaps(self) -> tuple[str, ...]:
        last = next(reversed(self._known.values()), {})
        return ("the stream ends in the middle of a message",) if "pieces" in last and not last.get("ended") else ()

    def whole(self) -> list[Any]:
        return [_finished(message) if "pieces" in message else message for message in self._known.values()]


def _grow(whole: dict[str, Any], chunk: dict[str, Any]) -> None:
    """Add a chunk: text, and pieces of calls by their index. The chunk's own `tool_calls` are no calls."""
    metadata = chunk.get("response_metadata")
    reason = metadata.get("finish_reason") or metadata.get("stop_reason") if isinstance(metadata, dict) else None
    whole["ended"] = whole.get("ended") or bool(reason) or chunk.get("chunk_position") == "last"
    whole["name"] = whole.get("name") or chunk.get("name")
    if isinstance(chunk.get("content"), str):
        whole["content"] = str(whole.get("content") or "") + chunk["content"]
    pieces = chunk.get("tool_call_chunks")
    for piece in pieces if isinstance(pieces, list) else ():
        if isinstance(piece, dict):
            _put(whole["pieces"], piece)


def _put(calls: dict[Any, dict[str, Any]], piece: dict[str, Any]) -> None:
    index = piece.get("index")
    key = str(index) if index is not None else f"call {len(calls)}"
    call = calls.setdefault(key, {"name": "", "args": ""})
    call["name"] = call["name"] or piece.get("name") or ""
    call["id"] = call.get("id") or piece.get("id")
    args = piece.get("args")
    if isinstance(args, str) and isinstance(call["args"], str):
        call["args"] += args
    elif args is not None:
        call["args"] = args


def _finished(message: dict[str, Any]) -> dict[str, Any]:
    calls = [{**call, "type": "tool_call"} for call in message["pieces"].values()]
    return {key: part for key, part in message.items() if key not in ("pieces", "ended")} | {"tool_calls": calls}
