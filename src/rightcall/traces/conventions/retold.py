"""What later requests tell of earlier calls: their results, and arguments that the answer itself did not show.

Calls that only they tell of are a gap (G12).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from rightcall.core.calls import CallStatus, ToolCall
from rightcall.traces.conventions.model import Message
from rightcall.traces.conversation import Answered, Asked, Event, Said, joined, structured


def events(history: Iterable[Message]) -> Iterator[Event]:
    """History as events. Where a result does not say whether it is a failure, the status stays open."""
    for message in history:
        if message.role in ("assistant", "model"):
            yield Asked(message.calls)
        elif message.role == "user":
            yield Said()
        elif message.role in ("tool", "function"):
            yield answered(message)


def answered(message: Message) -> Answered:
    """A tool message as the event that it is."""
    status: CallStatus = "requested" if message.failed is None else ("error" if message.failed else "ok")
    return Answered(id=message.tool_call_id, name=message.name, result=message.content, status=status)


def completed(
    calls: Sequence[ToolCall], shown: Sequence[int], histories: Iterable[tuple[int, tuple[Message, ...]]]
) -> list[ToolCall]:
    """The calls with what the histories of later model spans add to them; the first that tells of a call counts.

    `shown` is the index of the span of each call; `histories` are what model spans were given, with their indexes.
    """
    found = list(calls)
    waiting = [place for place, call in enumerate(calls) if _is_open(call)]
    for index, history in histories:
        if not any(shown[place] < index for place in waiting):
            continue
        before = [place for place, at in enumerate(shown) if at < index]
        for place, told in _aligned(joined(events(history)).calls, calls, before):
            found[place] = _with(found[place], told)
        waiting = [place for place in waiting if _is_open(found[place])]
    return found


def _is_open(call: ToolCall) -> bool:
    return (call.result is None and call.error is None) or call.arguments_state == "not_captured"


def _aligned(
    told: Sequence[ToolCall], calls: Sequence[ToolCall], before: Sequence[int]
) -> Iterator[tuple[int, ToolCall]]:
    """Each call that a history tells, with its place: from the last one back, for ids may come again.

    What a history tells may have begun before the trace, so it need not be found to its beginning.
    """
    at = len(before) - 1
    for call in reversed(told):
        while at >= 0 and not _is_same(calls[before[at]], call):
            at -= 1
        if at < 0:
            return
        yield before[at], call
        at -= 1


def _is_same(call: ToolCall, told: ToolCall) -> bool:
    """Whether a history tells of that call: by name and id, and where an id is missing, by arguments."""
    if call.name != told.name:
        return False
    if call.id and told.id:
        return call.id == told.id
    return call.arguments_state == told.arguments_state == "ok" and call.arguments == told.arguments


def _with(call: ToolCall, told: ToolCall) -> ToolCall:
    added: dict[str, Any] = {}
    if call.result is None and call.error is None and told.result is not None:
        added["result"] = structured(told.result)
        if call.status == "requested":
            added["status"] = told.status
    if call.arguments_state == "not_captured" and told.arguments_state == "ok":
        added |= {"arguments": told.arguments, "arguments_state": "ok", "arguments_text": told.arguments_text}
    return msgspec.structs.replace(call, **added) if added else call


History = tuple[str, tuple[Message, ...]]
"""The name of a model span, and what it was given."""


def gaps(histories: Iterable[History], calls: Iterable[ToolCall]) -> Iterator[str]:
    """Calls and results that model spans were given, but that no span shows being made. Each is told once.

    Messages and spans may have ids of their own for the same call, so results without their call count only where
    there are more of them than calls.
    """
    made = list(calls)
    names, ids = Counter(call.name for call in made), {call.id for call in made}
    for span, history in histories:
        missing = Counter(call.name for message in _of_models(history) for call in message.calls) - names
        if missing:
            shown = ", ".join(f"`{name[:60]}`" for name in sorted(missing))
            yield f"{span} tells of calls that no span shows: {shown}"
        names += missing
        answered = sum(bool(message.tool_call_id) for message in history)
        if answered > len(made) and (lost := sorted(_orphans(history) - ids)):
            yield f"{span} tells of results of calls that no span shows: `{'`, `'.join(one[:60] for one in lost)}`"
            ids |= set(lost)


def _of_models(history: Iterable[Message]) -> Iterator[Message]:
    return (message for message in history if message.role in ("assistant", "model"))


def _orphans(history: Iterable[Message]) -> set[str]:
    """The ids of the calls whose results a history holds without the call, told by id, by name or by order."""
    events = [
        Answered(id=message.tool_call_id, name=message.name, place=message.tool_call_id or "")
        if message.tool_call_id
        else Asked(message.calls)
        for message in history
    ]
    return {gap.removesuffix(" answers no call that is recorded") for gap in joined(events).gaps}
