"""Events of streamed messages into the responses that they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

_OWN: Final = frozenset({"message_start", "content_block_start", "content_block_delta", "content_block_stop"})
_EVENTS: Final = _OWN | {"message_delta", "message_stop", "ping"}
_GROWING: Final = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


def is_own(value: Any) -> bool:
    """Whether a value is an event that no other format has."""
    return isinstance(value, dict) and str(value.get("type")) in _OWN


def is_event(value: Any) -> bool:
    """Whether a value is an event of a stream, a ping or an error included."""
    if not isinstance(value, dict):
        return False
    return str(value.get("type")) in _EVENTS or (value.get("type") == "error" and isinstance(value.get("error"), dict))


def responses(events: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each message of a capture, in order, with `gaps` that say what is missing from it."""
    stream, told = _Stream(), 0
    for event in events:
        if event.get("type") == "message_start" and stream.began:
            yield stream.response()
            stream, told = _Stream(), told + 1
        stream.add(event)
    if stream.began or not told:
        yield stream.response()


class _Stream:
    """One message that grows block by block."""

    def __init__(self) -> None:
        self.began = False
        self._message: dict[str, Any] = {}
        self._places: dict[str, int] = {}
        self._blocks: list[dict[str, Any]] = []
        self._texts: dict[int, list[str]] = {}
        self._stopped: set[int] = set()
        self._reason: Any = None
        self._error = ""
        self._lost = False

    def add(self, event: dict[str, Any]) -> None:
        """Take one event."""
        kind, index = event.get("type"), str(event.get("index"))
        self.began = self.began or kind in _OWN
        if kind == "message_start" and isinstance(event.get("message"), dict):
            self._message = event["message"]
        elif kind == "content_block_start" and isinstance(event.get("content_block"), dict):
            self._begin(index, event["content_block"])
        elif kind == "content_block_delta" and isinstance(event.get("delta"), dict):
            self._grow(index, event["delta"])
        elif kind == "content_block_stop":
            self._stopped.add(self._places.get(index, -1))
        elif kind == "message_delta" and isinstance(event.get("delta"), dict):
            self._reason = event["delta"].get("stop_reason") or self._reason
        elif kind == "error":
            self._error = f", after the error `{event['error'].get('type')}`"

    def _begin(self, index: str, block: dict[str, Any]) -> None:
        """A block begins. One that stands at the index of another is another one, at a place of its own."""
        self._places[index] = len(self._blocks)
        self._blocks.append(dict(block))

    def _grow(self, index: str, delta: dict[str, Any]) -> None:
        place, member = self._places.get(index), _GROWING.get(str(delta.get("type")))
        block = None if place is None else self._blocks[place]
        more = delta.get(member) if member else None
        self._lost = self._lost or (block is None and member == "partial_json")
        if place is None or block is None or member is None or not isinstance(more, str):
            return
        if member == "partial_json":
            self._texts.setdefault(place, []).append(more)
        else:
            block[member] = f"{block.get(member) or ''}{more}"

    def response(self) -> dict[str, Any]:
        """The message as far as it came."""
        content = [*self._begun(), *map(self._block, range(len(self._blocks)))]
        whole = {**self._message, "role": "assistant", "content": content, "stop_reason": self._reason}
        return {**whole, "gaps": list(self._gaps())}

    def _begun(self) -> list[Any]:
        """What the first event holds already, other than blocks that begin later."""
        content, ids = self._message.get("content"), [block.get("id") for block in self._blocks]
        known = {str(identity) for identity in ids}
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        return [block for block in blocks if "id" in block and str(block["id"]) not in known]

    def _gaps(self) -> Iterator[str]:
        if self._reason is None:
            yield f"the stream ends without a stop reason{self._error}"
        if self._lost:
            yield "the stream has parts of a call whose beginning is missing"

    def _block(self, place: int) -> dict[str, Any]:
        """A block with its arguments: no text means none, unless the block never ended."""
        block = self._blocks[place]
        text = "".join(self._texts.get(place, ()))
        if "input" not in block or block["input"]:
            return block
        if text:
            return {**block, "input": text}
        if place in self._stopped or self._reason is not None:
            return block
        return {key: part for key, part in block.items() if key != "input"}
