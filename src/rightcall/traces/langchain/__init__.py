"""LangChain messages and LangGraph states and streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import families, heads, records, shapes
from rightcall.traces.langchain import messages, stream

_ITEM: Final = "item"
_STATE: Final = "state"


def _kind(value: Any) -> str | None:
    if messages.is_message(value):
        return families.MESSAGE
    if stream.is_item(value):
        return _ITEM
    if not isinstance(value, dict) or not _has_messages(value):
        return None
    return _STATE if _is_state(value) else families.RECORD


def _has_messages(value: dict[str, Any]) -> bool:
    found = value.get("messages")
    return isinstance(found, list) and any(map(messages.is_message, found))


def _is_state(value: dict[str, Any]) -> bool:
    """Whether each message has an id, so that a later state of the same run can be told."""
    return all(isinstance(messages.fields(message).get("id"), str) for message in value["messages"])


def _whole(value: Any) -> Iterable[Trajectory]:
    if isinstance(value, list):
        told, gaps = stream.joined(value)
        return [messages.trajectory(told, (), gaps, path="")]
    if not isinstance(value["messages"], list):
        found = shapes.kind(value["messages"])
        raise TraceError(f"expected an array of messages; found {found}", Where(path="messages"))
    told, gaps = stream.joined(value["messages"])
    made = messages.trajectory(told, (), gaps)
    return [msgspec.structs.replace(made, **records.beside(value))]


def _together(kind: str, values: list[Any]) -> Iterator[Trajectory]:
    if kind == _ITEM:
        told, gaps = stream.messages(values)
        yield messages.trajectory(told, (), gaps)
        return
    for run in _runs(values):
        yield from _whole({**run[-1], "messages": stream.states(run)})


def _runs(states: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """States that begin with the same message are of one run."""
    runs: dict[Any, list[dict[str, Any]]] = {}
    for state in states:
        runs.setdefault(messages.fields(state["messages"][0])["id"], []).append(state)
    return list(runs.values())


_FAMILY: Final = families.Family(
    expected="LangChain messages, or a state or stream of LangGraph",
    kind=_kind,
    whole=_whole,
    together=_together,
    silent=stream.is_silent,
)


def claims(head: bytes) -> bool:
    """Whether the first value is a message, a state or an item of a stream, or a list of these.

    In a list of messages others may have only a role, as graphs take them.
    """
    return families.claims(_FAMILY, head) or _is_mixed(heads.settled(head))


def _is_mixed(value: Any) -> bool:
    known = isinstance(value, list) and any(map(messages.is_message, value))
    return known and all(messages.is_message(one) or messages.has_role(one) for one in value)


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every conversation, in order; one that cannot be read is yielded as an error."""
    return families.read(_FAMILY, chunks, file)
