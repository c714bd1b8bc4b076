"""Logs of Inspect: JSON logs, single samples, `.eval` archives, and lists of messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from rightcall.traces import chat, documents, families
from rightcall.traces.inspect_log import archive, sample


def _kind(value: Any) -> str | None:
    if _messages(value) is not None:
        return families.RECORD
    if not isinstance(value, dict):
        return None
    log = {"version", "eval"} <= value.keys() and isinstance(value["eval"], dict)
    known = (log and isinstance(value.get("samples", []), list | None)) or sample.is_sample(value)
    return families.RECORD if known else None


def _messages(value: Any) -> list[Any] | None:
    """Messages outside a log, alone or in an object of nothing else: one has a call as only Inspect writes it."""
    found = value.get("messages") if isinstance(value, dict) and value.keys() <= {"messages", "tools"} else value
    if not isinstance(found, list) or not all(map(_has_role, found)):
        return None
    return found if any(map(sample.has_own_call, found)) else None


def _has_role(message: Any) -> bool:
    return isinstance(message, dict) and str(message.get("role")) in chat.ROLES


def _whole(value: Any) -> Iterable[Trajectory | TraceError]:
    if (messages := _messages(value)) is not None:
        return [sample.trajectory({"messages": messages})]
    if not _is_log(value):
        return [sample.trajectory(value)]
    samples = value.get("samples")
    if samples is None:
        raise TraceError("the log holds no samples; give a log that was written with its samples")
    return families.each(samples, "samples", _sample)


def _is_log(value: Any) -> bool:
    return isinstance(value, dict) and "eval" in value


def _sample(value: Any, path: str) -> Trajectory:
    return sample.trajectory(sample.check(value, path), path)


_FAMILY: Final = families.Family(expected="an Inspect log or sample", kind=_kind, whole=_whole, holds_records=_is_log)


def claims(head: bytes) -> bool:
    """Whether the bytes begin an archive of a log, or the first value is a log or a sample."""
    return archive.is_archive(head) or families.claims(_FAMILY, head)


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every sample and epoch, in order; one that cannot be read is yielded as an error."""
    head, chunks = documents.peek(chunks)
    if not archive.is_archive(head):
        yield from families.read(_FAMILY, chunks, file)
        return
    for name, value in archive.samples(chunks):
        if isinstance(value, TraceError):
            yield value.within(file=file)
            continue
        try:
            families.check(value, name)
            yield _sample(value, name)
        except TraceError as error:
            yield error.within(file=file)
