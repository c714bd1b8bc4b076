"""Events of a Converse stream into the messages that they add up to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from rightcall.traces.bedrock.messages import stopped

_EVENTS: Final = frozenset(
    {"messageStart", "messageStop", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "metadata"}
)


def is_event(value: dict[str, Any]) -> bool:
    """Whether a value is one event, bare or as Strands wraps it."""
    event = _event(value)
    return bool(event) and event.keys() <= _EVENTS and all(isinstance(part, dict) for part in event.values())


def _event(value: dict[str, Any]) -> dict[str, Any]:
    inner = value.get("event")
    return inner if isinstance(inner, dict) else value


def messages(events: Iterable[dict[str, Any]]) -> tuple[list[Any], tuple[str, ...]]:
    """The messages in order, and what is missing from them."""
    made: list[_Message] = []
    for value in events:
        event = _event(value)
        begins = "messageStart" in event or "contentBlockStart" in event or "contentBlockDelta" in event
        if begins and (not made or made[-1].reason is not None):
            made.append(_Message())
        if made:
            made[-1].add(event)
    gaps = [gap for message in made for gap in message.gaps()]
    return [message.whole() for message in made], tuple(gaps)


class _Message:
    """A message that grows by events; blocks are told apart by their index."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._role = "assistant"
        self._blocks: dict[str, dict[str, Any]] = {}
        self._stopped: set[str] = set()

    def add(self, event: dict[str, Any]) -> None:
        start, stop = event.get("messageStart"), event.get("messageStop")
        if isinstance(start, dict):
            self._role = str(start.get("role") or "assistant")
        if isinstance(stop, dict):
            self.reason = str(stop.get("stopReason"))
        if isinstance(ended := event.get("contentBlockStop"), dict):
            self._stopped.add(str(ended.get("contentBlockIndex")))
        for name, part in (("contentBlockStart", "start"), ("contentBlockDelta", "delta")):
            found = event.get(name)
            if isinstance(found, dict):
                block = self._blocks.setdefault(str(found.get("contentBlockIndex")), {})
                _extend(block, found.get(part))

    def whole(self) -> dict[str, Any]:
        return {"role": self._role, "content": [self._block(index) for index, block in self._blocks.items() if block]}

    def _block(self, index: str) -> dict[str, Any]:
        """A block; no text of a call's input means none, unless the block never ended."""
        block = self._blocks[index]
        use = block.get("toolUse")
        if use is None or use["input"] or self.reason is not None or index in self._stopped:
            return block
        return {**block, "toolUse": {key: part for key, part in use.items() if key != "input"}}

    def gaps(self) -> list[str]:
        if self.reason is None:
            return ["the stream ends without a stop reason"]
        return list(stopped(self.reason, list(self._blocks.values())))


def _extend(block: dict[str, Any], part: Any) -> None:
    """Add what a start or a delta brings: a name and an id, text, or a piece of a call's input."""
    use = part.get("toolUse") if isinstance(part, dict) else None
    if isinstance(use, dict):
        whole = block.setdefault("toolUse", {"input": ""})
        whole |= {key: use[key] for key in ("name", "toolUseId", "type") if use.get(key)}
        whole["input"] += use["input"] if isinstance(use.get("input"), str) else ""
    elif isinstance(part, dict) and isinstance(part.get("text"), str):
        block["text"] = block.get("text", "") + part["text"]
