"""The Vercel AI SDK and Mastra: model messages, UI messages, results of `generateText`, streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from rightcall.traces import documents, families, heads, records
from rightcall.traces.vercel_ai import messages, stream

_PART: Final = "part"


def _kind(value: Any) -> str | None:
    if isinstance(value, list):
        return families.RECORD if _is_claimed_list(value) else None
    if not isinstance(value, dict):
        return None
    if messages.is_message(value):
        return families.MESSAGE
    if stream.is_part(value):
        return _PART
    known = messages.is_step(value) or messages.steps(value) is not None or _history(value) is not None
    return families.RECORD if known else None


def _is_claimed_list(value: list[Any]) -> bool:
    """Whether a list is a conversation of the SDK: steps, or messages of which one says so."""
    if value and all(map(messages.is_step, value)):
        return True
    return all(map(messages.is_message, value)) and any(map(messages.is_distinctive, value))


def _history(value: dict[str, Any]) -> list[Any] | None:
    """The messages of a request, of a stored chat, or of the response in a result."""
    for key in ("messages", "uiMessages"):
        found = value.get(key)
        if isinstance(found, list) and _is_claimed_list(found):
            return found
    return None


def _whole(value: Any) -> Iterable[Trajectory]:
    if isinstance(value, list):
        return [messages.trajectory(value, path="")]
    if steps := messages.steps(value):
        return [messages.trajectory(steps, path="steps")]
    if messages.is_step(value):
        return [messages.trajectory([value], path="")]
    made = messages.trajectory(_history(value) or [])
    return [msgspec.structs.replace(made, **records.beside(value))]


def _together(kind: str, values: list[Any]) -> Iterable[Trajectory]:
    told = (stream.messages(run) for run in families.runs(values, stream.is_last, stream.is_first))
    return [messages.trajectory(made, gaps, path="") for made, gaps in told]


_FAMILY: Final = families.Family(
    expected="messages, a result or a stream of the Vercel AI SDK",
    kind=_kind,
    whole=_whole,
    together=_together,
    silent=stream.is_silent,
)


def claims(head: bytes) -> bool:
    """Whether the first value is a message with calls, a result, or a part of a stream, or a list of these."""
    value = heads.sketch(head)
    if stream.is_text(value):
        value = next(filter(stream.is_part, heads.sketches(head)), value)
    if len(head) >= documents.HEAD and isinstance(value, list) and len(value) > 1:
        value = value[:-1]
    if isinstance(value, list) and not _is_claimed_list(value):
        return bool(value) and all(map(stream.is_part, value))
    return _kind(value) is not None and (not messages.is_message(value) or messages.is_distinctive(value))


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every conversation, in order; one that cannot be read is yielded as an error."""
    return families.read(_FAMILY, chunks, file)
