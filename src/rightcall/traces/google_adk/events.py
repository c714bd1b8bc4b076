"""Events of one session into its trajectory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import CallKind, ToolCall, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import contents, conversation, shapes
from rightcall.traces.contents import field
from rightcall.traces.conversation import Answered, Asked, Event

_HANDOFFS: Final = frozenset({"transfer_to_agent", "transfer_to_other_agent"})
_OF_THE_FRAMEWORK: Final = frozenset({"adk_request_credential", "adk_request_confirmation", "adk_request_input"})
"""Requests to the user that ADK writes as calls; the model did not make them."""


def is_event(value: Any) -> bool:
    """Whether a value is an event: an author, an invocation, and what was said or done."""
    if not isinstance(value, dict) or not isinstance(value.get("author"), str):
        return False
    return bool({"invocationId", "invocation_id"} & value.keys()) and isinstance(value.get("content"), dict | None)


def trajectory(events: list[Any], path: str) -> Trajectory:
    """The trajectory of the events of a session; events of a partial answer are left out."""
    warnings: list[str] = []
    whole = [(event, f"{path}[{index}]") for index, event in enumerate(events) if not _is_partial(event)]
    told = tuple(_last_answers(list(_events(whole, warnings))))
    is_cut = bool(events) and _is_partial(events[-1])
    gaps = ("the events end in a partial answer",) if is_cut else tuple(_never_whole(events, told))
    searched = [(_without_own(event), at) for event, at in whole]
    return conversation.trajectory(
        events, told, warnings, path=path, gaps=gaps, output=_output(whole), searched=searched
    )


def _without_own(event: dict[str, Any]) -> dict[str, Any]:
    """An event without the requests of the framework, which only look like calls of the model."""
    content = event.get("content")
    if not isinstance(content, dict) or not isinstance(content.get("parts"), list):
        return event
    return {**event, "content": {**content, "parts": [None if _is_own(part) else part for part in content["parts"]]}}


def _is_own(part: Any) -> bool:
    call = field(part, "functionCall") if isinstance(part, dict) else None
    return isinstance(call, dict) and str(call.get("name")) in _OF_THE_FRAMEWORK


def _is_partial(event: Any) -> bool:
    return isinstance(event, dict) and event.get("partial") is True


def _never_whole(events: list[Any], told: Iterable[Event]) -> Iterator[str]:
    """A gap for calls that only partial answers show: whole ones should tell them again."""
    known = {call.name for event in told if isinstance(event, Asked) for call in event.calls} | _OF_THE_FRAMEWORK
    entries = (field(part, "functionCall") for event in events if _is_partial(event) for part in _parts(event))
    names = {str(entry.get("name") or "") for entry in entries if isinstance(entry, dict)}
    if lost := sorted(names - known - {""}):
        yield f"partial answers show calls that no whole one tells: {', '.join(f'`{name[:60]}`' for name in lost)}"


def _parts(event: dict[str, Any]) -> list[dict[str, Any]]:
    content = event.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _events(whole: list[tuple[Any, str]], warnings: list[str]) -> Iterator[Event]:
    for event, at in whole:
        if not is_event(event):
            raise TraceError(f"expected an ADK event; found {shapes.kind(event)}", Where(path=at))
        if event.get("content") is not None:
            yield from _told(event, at, warnings)


def _told(event: dict[str, Any], at: str, warnings: list[str]) -> Iterator[Event]:
    """What an event tells. Its author decides who spoke: a content of a tool has the role of the user."""
    content = event["content"]
    known = contents.parts(content, f"{at}.content")
    calls, notes = contents.asked(known)
    warnings += notes
    if event["author"] != "user" and (calls or content.get("role") in ("model", None)):
        waiting = field(event, "longRunningToolIds")
        made = [_by(event, call, waiting) for call in calls if call.name not in _OF_THE_FRAMEWORK]
        if made or not calls:
            yield Asked(tuple(made))
        calls = ()
    elif calls:
        warnings.append(f"{at} has calls although its author is the user; they are not read")
    for told in contents.events(_without_calls(content), f"{at}.content", []):
        if not isinstance(told, Asked) and getattr(told, "name", None) not in _OF_THE_FRAMEWORK:
            yield told


def _without_calls(content: dict[str, Any]) -> dict[str, Any]:
    kept = [part for part in content.get("parts") or () if not (isinstance(part, dict) and field(part, "functionCall"))]
    return {**content, "parts": kept}


def _by(event: dict[str, Any], call: ToolCall, waiting: Any) -> ToolCall:
    kind: CallKind = "handoff" if call.name in _HANDOFFS else call.kind
    branch = event.get("branch")
    return msgspec.structs.replace(
        call,
        kind=kind,
        agent=event["author"],
        agent_path=tuple(branch.split(".")) if isinstance(branch, str) and branch else (),
        status="pending" if isinstance(waiting, list) and call.id in waiting else call.status,
    )


def _last_answers(told: list[Event]) -> Iterator[Event]:
    """Events without results that a later one replaces: of a long-running tool, or one that was confirmed."""
    times = Counter(call.id for event in told if isinstance(event, Asked) for call in event.calls)
    last: dict[str | None, int] = {}
    for at, event in enumerate(told):
        if isinstance(event, Answered) and event.id and times[event.id] == 1:
            last[event.id] = at
    for at, event in enumerate(told):
        if not isinstance(event, Answered) or last.get(event.id, at) == at:
            yield event


def _output(whole: list[tuple[Any, str]]) -> str | None:
    """The text of the last event, if an agent said it."""
    last = whole[-1][0] if whole else {}
    return contents.text(last.get("content")) or None if last.get("author") != "user" else None
