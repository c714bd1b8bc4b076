"""Events of streamed responses into the responses that they add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

_ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
_STARTS: Final = frozenset({"response.created", "response.queued"})
_GROWING: Final = {
    "response.function_call_arguments": "arguments",
    "response.mcp_call_arguments": "arguments",
    "response.custom_tool_call_input": "input",
    "response.code_interpreter_call_code": "code",
}


def is_event(value: Any) -> bool:
    """Whether a value is an event of a stream."""
    if not isinstance(value, dict) or "payload" in value:
        return False
    return is_own(value) or (value.get("type") == "error" and isinstance(value.get("message"), str))


def is_own(value: Any) -> bool:
    """Whether a value is an event that no other format has."""
    return isinstance(value, dict) and str(value.get("type")).startswith("response.")


def responses(events: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each response of a capture, in order; the first event of a stream names it."""
    stream = _Stream()
    for event in events:
        if str(event.get("type")) in _STARTS and stream.began:
            yield stream.response()
            stream = _Stream()
        stream.add(event)
        if str(event.get("type")) in _ENDS:
            yield stream.response()
            stream = _Stream()
    if stream.began:
        yield stream.response()


class _Stream:
    """One response that grows. Items are told by their place: their ids may change from event to event."""

    def __init__(self) -> None:
        self.began = False
        self._response: dict[str, Any] = {}
        self._items: dict[int, dict[str, Any]] = {}
        self._replaced: list[dict[str, Any]] = []

    def add(self, event: dict[str, Any]) -> None:
        """Take one event."""
        self.began = True
        kind = str(event["type"])
        if isinstance(event.get("response"), dict):
            self._response = event["response"]
        if kind in ("response.output_item.added", "response.output_item.done") and isinstance(event.get("item"), dict):
            self._take(self._place(event), dict(event["item"]))
        stem, _, step = kind.rpartition(".")
        if stem in _GROWING and step in ("delta", "done"):
            self._grow(event, _GROWING[stem], step)

    def _take(self, place: int, item: dict[str, Any]) -> None:
        """An item, as it begins or as a whole; a call of another name at its place is another item."""
        known = self._items.get(place, {})
        if known.get("name") and _told(known) != _told(item):
            self._replaced.append(known)
        self._items[place] = item

    def _grow(self, event: dict[str, Any], member: str, step: str) -> None:
        place = self._place(event)
        item = self._items.setdefault(place, _begun(event))
        if step == "done" and isinstance(event.get(member), str):
            item[member] = event[member]
        elif step == "delta" and isinstance(event.get("delta"), str):
            item[member] = f"{item.get(member) or ''}{event['delta']}"

    def response(self) -> dict[str, Any]:
        """The response as far as it came; items that the last event does not repeat are those of the stream."""
        output = self._response.get("output")
        streamed = [*self._replaced, *(self._items[at] for at in sorted(self._items))]
        items = [*output, *_missing(streamed, output)] if isinstance(output, list) and output else streamed
        return {"object": "response", "status": "in_progress", **self._response, "output": items}

    def _place(self, event: dict[str, Any]) -> int:
        """Where the item of an event stands: its index, else where its id stands, else the next place."""
        place = event.get("output_index")
        if isinstance(place, int):
            return place
        item = event.get("item")
        identity = item.get("id") if isinstance(item, dict) else event.get("item_id")
        same = (at for at, known in self._items.items() if identity is not None and known.get("id") == identity)
        return next(same, max(self._items, default=-1) + 1)


def _told(item: dict[str, Any]) -> tuple[str, str]:
    return str(item.get("type")), str(item.get("name"))


def _begun(event: dict[str, Any]) -> dict[str, Any]:
    """The item that an event continues, where the event that began it is missing."""
    kind = str(event["type"]).removeprefix("response.").partition("_arguments")[0].partition("_input")[0]
    return {"type": kind.removesuffix("_code"), "id": event.get("item_id"), "name": event.get("name")}


def _missing(streamed: list[dict[str, Any]], output: list[Any]) -> list[dict[str, Any]]:
    """Calls of the stream that the whole response, which ends it, does not tell again."""
    left = Counter(_told(item) for item in output if isinstance(item, dict))
    missing = []
    for item in streamed:
        left[_told(item)] -= 1
        if item.get("name") and left[_told(item)] < 0:
            missing.append(item)
    return missing
