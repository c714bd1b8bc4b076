"""Chunks of a streamed Gemini response into the content that they add up to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from rightcall.core import jsontext
from rightcall.errors import TraceError, Where
from rightcall.traces import shapes
from rightcall.traces.contents import field

_STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""")


def content(chunks: Iterable[Any]) -> tuple[dict[str, Any], str | None]:
    """The whole content of the first candidate, and its finish reason if it came."""
    parts = _Parts()
    finish = None
    for candidate in filter(None, map(candidate_of, chunks)):
        finish = field(candidate, "finishReason") or finish
        for part in _parts_of(candidate.get("content")):
            parts.add(part)
    return {"role": "model", "parts": parts.finished()}, str(finish) if finish is not None else None


def _parts_of(said: Any) -> list[Any]:
    """The parts of a content, none where there is nothing; `TraceError` for what is no content."""
    if said is not None and not isinstance(said, dict):
        raise TraceError(
            f"expected a content, an object with `parts`; found {shapes.kind(said)}", Where(path="content")
        )
    found = said.get("parts") if said else None
    if found is not None and not isinstance(found, list):
        raise TraceError(f"expected an array of parts; found {shapes.kind(found)}", Where(path="content.parts"))
    return found or []


def candidate_of(body: Any) -> dict[str, Any] | None:
    """The candidate that counts: the one of index 0, else the first."""
    found = body.get("candidates") if isinstance(body, dict) else None
    known = [candidate for candidate in found or () if isinstance(candidate, dict)] if isinstance(found, list) else []
    return next((one for one in known if one.get("index") in (None, 0)), known[0] if known else None)


class _Parts:
    """Parts in order; a call that comes in pieces grows until a piece does not say that more will come."""

    def __init__(self) -> None:
        self._parts: list[Any] = []
        self._open: dict[Any, dict[str, Any]] = {}

    def add(self, part: Any) -> None:
        piece = field(part, "functionCall") if isinstance(part, dict) else None
        if not isinstance(piece, dict):
            self._parts.append(part)
            return
        key = piece.get("id") if piece.get("id") in self._open else None
        whole = None if piece.get("name") and not piece.get("id") else self._open.get(key)
        if whole is None:
            whole = {name: piece[name] for name in ("name", "id", "args") if piece.get(name) is not None}
            key = piece.get("id")
            self._parts.append({"functionCall": whole})
        _extend(whole, field(piece, "partialArgs"))
        if field(piece, "willContinue"):
            self._open[key] = whole
        else:
            self._open.pop(key, None)

    def finished(self) -> list[Any]:
        for whole in self._open.values():
            whole.setdefault("cut", jsontext.encode(whole.get("args", {})).decode("utf-8", "replace"))
        return self._parts


def _extend(whole: dict[str, Any], pieces: Any) -> None:
    """Put pieces of arguments where their JSON paths say; a piece that fits nowhere cuts the call."""
    for piece in pieces if isinstance(pieces, list) else ():
        arguments = whole.setdefault("args", {})
        if not isinstance(piece, dict) or not _put(arguments, _steps(field(piece, "jsonPath")), piece):
            whole["cut"] = jsontext.encode(piece).decode("utf-8", "replace")


def _steps(path: Any) -> list[str | int]:
    """The keys and indices of a JSON path; none if it is not one that leads to a single place."""
    if not isinstance(path, str) or not path.startswith("$"):
        return []
    found = list(_STEP.finditer(path, 1))
    if "".join(step[0] for step in found) != path[1:]:
        return []
    return [int(step[2]) if step[2] else step[1] or step[3] or step[4] or "" for step in found]


def _put(root: Any, steps: list[str | int], piece: dict[str, Any]) -> bool:
    """Set or append the value of a piece; whether its place could be reached."""
    if not steps or len(steps) > jsontext.MAX_DEPTH:
        return False
    at = root
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        empty: Any = {} if isinstance(following, str) else []
        if not _has_room(at, step):
            return False
        if following is None:
            at[step] = _value(piece, at[step])
        else:
            at[step] = empty if at[step] is None else at[step]
            at = at[step]
    return True


def _has_room(at: Any, step: str | int) -> bool:
    """Whether a place exists or can be made: any key of an object, the next index of an array."""
    if isinstance(at, dict) and isinstance(step, str):
        at.setdefault(step, None)
        return True
    if isinstance(at, list) and isinstance(step, int) and step <= len(at):
        at += [None] if step == len(at) else []
        return True
    return False


def _value(piece: dict[str, Any], before: Any) -> Any:
    """The value of a piece; text continues the text before it."""
    text = field(piece, "stringValue")
    if isinstance(text, str):
        return before + text if isinstance(before, str) else text
    for name in ("numberValue", "boolValue"):
        if (value := field(piece, name)) is not None:
            return value
    return before
