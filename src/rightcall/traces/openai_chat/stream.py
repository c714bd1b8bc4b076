"""Chunks of a streamed chat completion into the response that they add up to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rightcall.traces import hidden, shapes


def response(chunks: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The whole response: choice 0 with its message; its finish reason is null if it never came."""
    first: dict[str, Any] = {}
    content: list[str] = []
    calls, legacy, others = _Calls(), dict[str, Any](), list[Any]()
    finish = None
    for chunk in chunks:
        first = first or chunk
        for choice in _first_choices(chunk):
            finish = choice.get("finish_reason") or finish
            delta = choice.get("delta")
            others += [part for part in (_unread(delta), choice.get("message")) if any(hidden.signs(part))]
            if isinstance(delta, dict):
                content += [delta["content"]] if isinstance(delta.get("content"), str) else []
                calls.add(delta.get("tool_calls"))
                _extend(legacy, delta.get("function_call"), "arguments")
    message: dict[str, Any] = {"role": "assistant", "content": "".join(content) or None}
    message |= {"tool_calls": calls.whole if finish else _broken_off(calls.whole)} if calls.whole else {}
    message |= {"function_call": legacy if finish else _broken_off([legacy])[0]} if legacy else {}
    message |= {"unread": others} if others else {}
    return {
        **{key: first[key] for key in ("id", "created", "model") if key in first},
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }


def _broken_off(calls: list[Any]) -> list[Any]:
    """The calls of a stream that has no end: if no arguments of the last one came, they are awaited."""
    *before, last = calls
    if not isinstance(last, dict) or _part(last).get("arguments") or _part(last).get("input"):
        return calls
    return [*before, {**last, shapes.AWAITED: True}]


def is_last(chunk: dict[str, Any]) -> bool:
    """Whether a chunk ends its stream: at most one with the usage follows."""
    return any(choice.get("finish_reason") for choice in _first_choices(chunk))


def is_first(chunk: dict[str, Any]) -> bool:
    """Whether a chunk begins a message."""
    deltas = (choice.get("delta") for choice in _first_choices(chunk))
    return any(isinstance(delta, dict) and delta.get("role") for delta in deltas) and not is_last(chunk)


def _unread(delta: Any) -> Any:
    """What of a delta is not put together. If it looks like calls it stays in the message, where it is a gap."""
    if not isinstance(delta, dict):
        return delta
    kinds = {"content": str, "tool_calls": list, "function_call": dict}
    return {key: part for key, part in delta.items() if key not in kinds or not isinstance(part, kinds[key])}


def _first_choices(chunk: dict[str, Any]) -> Iterable[dict[str, Any]]:
    choices = chunk.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("index", 0) == 0:
            yield choice


class _Calls:
    """Calls that grow by fragments; a fragment belongs to the call of its index."""

    def __init__(self) -> None:
        self.whole: list[Any] = []
        self._latest: dict[Any, dict[str, Any]] = {}

    def add(self, fragments: Any) -> None:
        for fragment in fragments if isinstance(fragments, list) else ():
            if isinstance(fragment, dict):
                self._add(fragment)
            elif fragment is not None:
                self.whole.append(fragment)

    def _add(self, fragment: dict[str, Any]) -> None:
        index = str(fragment.get("index", len(self.whole)))
        call = self._latest.get(index)
        if call is None or _begins_another(call, fragment):
            call = self._latest[index] = {"type": fragment.get("type") or "function"}
            self.whole.append(call)
        call |= {"id": fragment["id"]} if fragment.get("id") else {}
        for part, text in (("function", "arguments"), ("custom", "input")):
            if isinstance(fragment.get(part), dict):
                _extend(call.setdefault(part, {}), fragment[part], text)
        if _is_flat(fragment):
            _extend(call.setdefault("function", {}), fragment, "arguments")


def _is_flat(fragment: dict[str, Any]) -> bool:
    """Whether name and arguments stand in the fragment itself."""
    return not fragment.keys() & {"function", "custom"} and bool(fragment.keys() & {"name", "arguments"})


def _begins_another(call: dict[str, Any], fragment: dict[str, Any]) -> bool:
    """Whether a fragment is a new call although the index is not new: some servers write index 0 for all."""
    name, identity = _part(fragment).get("name"), fragment.get("id")
    if not name:
        return False
    if identity and call.get("id") and identity != call["id"]:
        return True
    return _part(call).get("name") not in (None, "", name)


def _part(call: dict[str, Any]) -> dict[str, Any]:
    part = call.get("function") or call.get("custom") or call
    return part if isinstance(part, dict) else {}


def _extend(whole: dict[str, Any], part: Any, text: str) -> None:
    """Append a fragment of text. A name is never doubled: a later one counts only while it is empty."""
    if not isinstance(part, dict):
        return
    if not whole.get("name"):
        whole["name"] = part.get("name") or ""
    more = part.get(text)
    if isinstance(more, str) and isinstance(whole.get(text, ""), str):
        whole[text] = whole.get(text, "") + more
    elif more is not None:
        whole[text] = more
