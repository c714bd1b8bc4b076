"""Claude Code: session files, their export `{"loglines": …}`, and what `--output-format stream-json` prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from rightcall.core import jsontext
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import documents, heads
from rightcall.traces.claude_code import lines, session

_MARKS: Final = frozenset({"sessionId", "session_id", "parentUuid", "leafUuid", "isSidechain", "parent_tool_use_id"})


def claims(head: bytes) -> bool:
    """Whether the first lines that say it are those of a session."""
    return any(_is_own(value) for value in heads.sketches(head)[:20])


def _is_own(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(lines.is_line, value)) and any(map(_is_own, value))
    if not isinstance(value, dict):
        return False
    listed = value.get("loglines")
    if isinstance(listed, list):
        return bool(listed) and lines.is_line(listed[0])
    return lines.is_line(value) and bool(_MARKS & value.keys()) and "payload" not in value


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every session, in order. What is no line of a session is a gap of all of them."""
    found: list[lines.Line] = []
    gaps: list[str] = []
    errors: list[TraceError] = []
    for item in documents.documents(chunks):
        if isinstance(item, TraceError):
            errors.append(item.within(file=file))
            continue
        for value, at in _elements(item.value, item.line):
            if not lines.is_line(value) or _is_deep(value):
                gaps.append(f"{at} was rejected: it is no line of a session")
            elif item.size > documents.MAX_RECORD and (why := _too_large(value, item)):
                gaps.append(f"{at} was rejected: {why}")
            else:
                found += lines.lines(value, at)
    if not found:
        yield from errors
        if gaps:
            yield TraceError("expected lines of a session of Claude Code; found none", Where(file=file))
        return
    gaps += [f"line {error.where.line} was rejected: {error.message}" for error in errors]
    for made in session.trajectories(found, tuple(gaps)):
        yield made.within(file=file) if isinstance(made, TraceError) else made


def _elements(value: Any, line: int) -> Iterable[tuple[Any, str]]:
    """One document as the lines that it holds."""
    listed = value.get("loglines") if isinstance(value, dict) else None
    if isinstance(listed, list):
        return [(element, f"loglines[{index}]") for index, element in enumerate(listed)]
    if isinstance(value, list) and any(map(lines.is_line, value)):
        return [(element, f"[{index}]") for index, element in enumerate(value)]
    return [(value, f"line {line}")]


def _too_large(value: Any, document: documents.Document) -> str:
    try:
        documents.within_limit(value, document)
    except TraceError as error:
        return error.message
    return ""


def _is_deep(value: Any) -> bool:
    try:
        jsontext.check_depth(value)
    except jsontext.JSONError:
        return True
    return False
