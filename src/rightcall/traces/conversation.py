"""Messages into calls: counts turns and messages, and joins each result to the call it answers."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable
from typing import Any, Final

import msgspec

from rightcall.core import jsontext
from rightcall.core.calls import UNSETTLED_STATUSES, CallStatus, Ingestion, ToolCall, ToolSpec, Trajectory
from rightcall.traces import documents, hidden


class Said(msgspec.Struct, frozen=True):
    """A message of the user."""


class Asked(msgspec.Struct, frozen=True):
    """A message of the model, with the calls it asks for (parallel to one another)."""

    calls: tuple[ToolCall, ...] = ()


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a call, as far as the message says whose it is. `place` names the message in warnings."""

    id: str | None = None
    name: str | None = None
    result: Any = None
    status: CallStatus = "ok"
    error: str | None = None
    place: str = ""


Event = Said | Asked | Answered


class Joined(msgspec.Struct, frozen=True):
    """The calls of a conversation in order.

    `gaps` are results without their call, `warnings` results that are told again; `answered` counts the results
    that belong to a call.
    """

    calls: tuple[ToolCall, ...]
    gaps: tuple[str, ...]
    warnings: tuple[str, ...]
    answered: int = 0


class _Open:
    """Calls that wait for their result, found by what a result may say of them.

    Within one key the latest message comes first, and inside a message the order of its calls.
    """

    def __init__(self) -> None:
        self._waiting: defaultdict[Hashable, list[tuple[int, deque[int]]]] = defaultdict(list)
        self._taken: set[int] = set()

    def add(self, index: int, message: int, keys: Iterable[Hashable]) -> None:
        for key in keys:
            groups = self._waiting[key]
            if not groups or groups[-1][0] != message:
                groups.append((message, deque()))
            groups[-1][1].append(index)

    def take(self, key: Hashable) -> int | None:
        groups = self._waiting[key]
        while groups:
            calls = groups[-1][1]
            while calls:
                index = calls.popleft()
                if index not in self._taken:
                    self._taken.add(index)
                    return index
            groups.pop()
        return None


def joined(events: Iterable[Event]) -> Joined:
    """The calls in order, each with its turn, its message and its result.

    A result joins by id where the names do not disagree, else by name, else by order. Ids may repeat: the
    latest message that still waits for a result with that id is meant.
    """
    calls: list[ToolCall] = []
    gaps, warnings = list[str](), list[str]()
    open_, answers, turn, message, user_spoke = _Open(), _Answers(), 0, -1, False
    for event in events:
        if isinstance(event, Answered):
            index = _find(open_, event)
            if index is not None:
                calls[index] = _answered(calls[index], event)
                answers.add(event)
            elif answers.has(event):
                warnings.append(f"{event.place} repeats a result and is not read".strip())
            else:
                gaps.append(f"{event.place or 'a result'} answers no call that is recorded")
            continue
        if isinstance(event, Said):
            turn += message >= 0 and not user_spoke
            user_spoke = True
            continue
        message, user_spoke = message + 1, False
        for call in event.calls:
            if call.status in UNSETTLED_STATUSES:
                open_.add(len(calls), message, _keys(call))
            calls.append(msgspec.structs.replace(call, turn=turn, message=message))
    return Joined(tuple(calls), tuple(gaps), tuple(warnings), answers.count)


class _Answers:
    """The results that were joined to a call, to know one that is told again under the same id."""

    def __init__(self) -> None:
        self.count = 0
        self._known: dict[str, list[tuple[str | None, Any]]] = defaultdict(list)

    def add(self, answer: Answered) -> None:
        self.count += 1
        if answer.id:
            self._known[answer.id].append((answer.name, answer.result))

    def has(self, answer: Answered) -> bool:
        return bool(answer.id) and (answer.name, answer.result) in self._known[answer.id or ""]


def trajectory(
    messages: list[Any],
    events: Iterable[Event],
    warnings: list[str],
    *,
    path: str = "messages",
    tools: tuple[ToolSpec, ...] = (),
    gaps: tuple[str, ...] = (),
    output: Any = None,
    searched: Iterable[tuple[Any, str]] | None = None,
) -> Trajectory:
    """The trajectory of the events of some messages. `warnings` may still grow while the events are read.

    What looks like calls in the messages, and was not read, is a gap; `searched` are the values to search with
    their places, if these are not the messages under `path`. Without a message of the model, and without a result of
    a call, nothing is recorded of what it called (G3).
    """
    heard = list(events)
    told = joined(heard)
    if too_many := documents.too_many_calls(len(told.calls), path):
        raise too_many
    placed = ((one, f"{path}[{index}]") for index, one in enumerate(messages)) if searched is None else searched
    recorded = any(isinstance(event, Asked | Answered) for event in heard)
    return Trajectory(
        tool_calls=told.calls if recorded else None,
        gaps=(*gaps, *hidden.unread(placed, told.calls), *told.gaps),
        available_tools=tools,
        messages=messages,
        output=output,
        warnings=(*warnings, *told.warnings, *(() if recorded else (SILENT,))),
        ingestion=Ingestion(messages=len(messages), joined=told.answered),
    )


SILENT: Final = "there is no message of the model"
"""Why the calls of a conversation are not recorded."""


def _keys(call: ToolCall) -> list[Hashable]:
    keys: list[Hashable] = [("any",), ("name", call.name)]
    if call.id:
        return [*keys, ("id", call.id), ("id", call.id, call.name)]
    return [*keys, ("no id",), ("no id", call.name)]


def _find(open_: _Open, answer: Answered) -> int | None:
    """The waiting call that a result answers. A result with an id never takes a call with another id."""
    kind = "no id" if answer.id else "name"
    by_name = [(kind, answer.name)] if answer.name else [("no id",) if answer.id else ("any",)]
    by_id = [("id", answer.id, *([answer.name] if answer.name else []))] if answer.id else []
    for key in [*by_id, *by_name]:
        index = open_.take(key)
        if index is not None:
            return index
    return None


def _answered(call: ToolCall, answer: Answered) -> ToolCall:
    return msgspec.structs.replace(call, status=answer.status, result=structured(answer.result), error=answer.error)


def structured(result: Any) -> Any:
    """A result as data: text that writes a JSON object or array is decoded, all else stays as it is."""
    if not isinstance(result, str) or result.lstrip()[:1] not in ("{", "["):
        return result
    try:
        return jsontext.decode(result)
    except jsontext.JSONError:
        return result
