"""What LangGraph streams, into the messages that it adds up to.

Updates tell what each node wrote, chunks tell a message piece by piece, values repeat the whole state. A message
with an id that came before takes the place of the earlier one, as in the state itself.
"""

from __future__ import annotations

import itertools
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
    """Whether a value is an item that wrote no messages: of a silent node, of an interrupt, of another mode.

    So is a pair of texts, role and content, which a graph takes for a message.
    """
    if payload(value) is not value or (isinstance(value, list) and len(value) == 2 and _is_namespace(value)):
        return True
    return isinstance(value, dict) and all(isinstance(part, dict | list | None) for part in value.values())


def _is_metadata(value: Any) -> bool:
    return isinstance(value, dict) and not {"type", "role", "content", "data", "lc"} & value.keys()


def payload(value: Any) -> Any:
    """An item without the namespace and the mode that may stand before it, or around it since version 2."""
    if isinstance(value, dict) and {"type", "ns", "data"} <= value.keys() and value["type"] in _MODE_NAMES:
        return value["data"]
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


def joined(told: list[Any]) -> tuple[list[Any], tuple[str, ...]]:
    """Messages with each run of chunks put together as the message it makes, and what is missing at the end."""
    whole: list[Any] = []
    gaps: tuple[str, ...] = ()
    for piece, run in itertools.groupby(told, key=_piece):
        made = _Messages()
        for message in run if piece else ():
            made.add(message, key=piece)
        whole += made.whole() if piece else run
        gaps = made.gaps()
    return whole, gaps


def _piece(message: Any) -> tuple[str, str] | None:
    """Which message a chunk belongs to; `None` for a whole message. Chunks without an id belong to one message."""
    told = fields(message)
    is_chunk = told.get("type") == "AIMessageChunk" and isinstance(told.get("tool_call_chunks"), list)
    return ("chunks of", str(told.get("id"))) if is_chunk else None


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

    def add(self, message: Any, key: Any = None) -> None:
        """Add what is of the message of that key, which is its id unless another is given."""
        told = fields(message)
        identity = told.get("id")
        key = key or (identity if isinstance(identity, str) and identity else ("no id", len(self._known)))
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
