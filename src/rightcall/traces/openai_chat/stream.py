"""Chunks of a streamed chat completion into the response that they add up to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def response(chunks: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The whole response: choice 0 with its message; its finish reason is null if it never came."""
    first: dict[str, Any] = {}
    content: list[str] = []
    calls, legacy = _Calls(), dict[str, Any]()
    finish = None
    for chunk in chunks:
        first = first or chunk
        for choice in _first_choices(chunk):
            finish = choice.get("finish_reason") or finish
            delta = choice.get("delta")
            if isinstance(delta, dict):
                content += [delta["content"]] if isinstance(delta.get("content"), str) else []
                calls.add(delta.get("tool_calls"))
                _extend(legacy, delta.get("function_call"), "arguments")
    message: dict[str, Any] = {"role": "assistant", "content": "".join(content) or None}
    message |= {"tool_calls": calls.whole} if calls.whole else {}
    message |= {"function_call": legacy} if legacy else {}
    return {
        **{key: first[key] for key in ("id", "created", "model") if key in first},
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }


def _first_choices(chunk: dict[str, Any]) -> Iterable[dict[str, Any]]:
    choices = chunk.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("index", 0) == 0:
            yield choice


class _Calls:
    """Calls that grow by fragments; a fragment belongs to the call of its index."""

    def __init__(self) -> None:
        self.whole: list[dict[str, Any]] = []
        self._latest: dict[Any, dict[str, Any]] = {}

    def add(self, fragments: Any) -> None:
        for fragment in fragments if isinstance(fragments, list) else ():
            if isinstance(fragment, dict):
                self._add(fragment)

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


def _begins_another(call: dict[str, Any], fragment: dict[str, Any]) -> bool:
    """Whether a fragment is a new call although the index is not new: some servers write index 0 for all."""
    identity = fragment.get("id")
    part = fragment.get("function") or fragment.get("custom")
    named = isinstance(part, dict) and bool(part.get("name"))
    return bool(named and identity and call.get("id") and identity != call["id"])


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
