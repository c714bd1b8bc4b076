"""One sample of an Inspect log into a trajectory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import CallStatus, ToolCall, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import chat, conversation, shapes, stopping, toolspecs
from rightcall.traces.conversation import Answered, Asked, Event

_RAW = re.compile(r"tool call arguments:\s*\n\n(.*)\n\nError details: ", re.DOTALL)
_ATTACHED: Final = "attachment://"


def is_sample(value: Any) -> bool:
    """Whether a value is a sample: an id, an epoch and messages."""
    return isinstance(value, dict) and {"id", "epoch"} <= value.keys() and isinstance(value.get("messages"), list)


def has_own_call(message: dict[str, Any]) -> bool:
    """Whether a message has a call as only Inspect writes it: its `function` is a name, beside its arguments."""
    listed = message.get("tool_calls")
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    return any(isinstance(entry.get("function"), str) and "arguments" in entry for entry in entries)


def trajectory(sample: dict[str, Any], path: str = "") -> Trajectory:
    """The trajectory of one sample and epoch, or of messages alone; epochs are attempts at the same test."""
    messages = _resolved(sample["messages"], sample.get("attachments"))
    events = _resolved(_listed(sample, "events"), sample.get("attachments"))
    warnings: list[str] = []
    place = f"{path}.messages".removeprefix(".")
    told = list(chat.events(messages, place, warnings, _WORDS))
    known = Counter(call.id for event in told if isinstance(event, Asked) for call in event.calls)
    more = list(_more(events, known, f"{path}.events".removeprefix("."), warnings))
    made = conversation.trajectory(
        messages,
        [*told, *more],
        warnings,
        path=place,
        tools=_tools(events),
        gaps=tuple(_stopped(events, f"{path}.events".removeprefix("."))),
        output=chat.output(messages),
    )
    if not is_sample(sample):
        return made
    return msgspec.structs.replace(made, id=f"{sample['id']}_epoch_{sample['epoch']}", test_id=str(sample["id"]))


def _listed(sample: dict[str, Any], key: str) -> list[Any]:
    found = sample.get(key)
    return found if isinstance(found, list) else []


def _more(events: list[Any], known: Counter[str | None], path: str, warnings: list[str]) -> Iterator[Event]:
    """Calls that only events tell of, such as those of sub-agents, with what came of them."""
    left = Counter(known)
    found: set[str | None] = set()
    for index, event in enumerate(events):
        at = f"{path}[{index}]"
        calls = [call for call in _of_model(event, at, warnings) if not _taken(left, call)]
        found |= {call.id for call in calls}
        if calls:
            yield Asked(tuple(calls))
        if isinstance(event, dict) and event.get("event") == "tool" and event.get("id") in found:
            yield _outcome(event, at)
    if found:
        warnings.append(f"{len(found)} calls stand only in events, such as those of sub-agents; they come last")


def _stopped(events: list[Any], path: str) -> Iterator[str]:
    """Answers in events that stopped for calls which are not there, or that were cut off."""
    for index, event in enumerate(events):
        choice, message = _choice(event)
        calls, text = bool(message.get("tool_calls")), bool(message.get("content"))
        at = f"{path}[{index}]"
        yield from stopping.gaps(choice.get("stop_reason"), calls=calls, text=text, word="stop reason", at=at)


def _choice(event: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The answer of a model event, and its message; empty where there is none."""
    output = event.get("output") if isinstance(event, dict) and event.get("event") == "model" else None
    choices = output.get("choices") if isinstance(output, dict) else None
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = first.get("message")
    return first, message if isinstance(message, dict) else {}


def _taken(left: Counter[str | None], call: ToolCall) -> bool:
    """Whether a call of an event is one that the messages have."""
    seen = left[call.id] > 0
    left[call.id] -= seen
    return seen


def _of_model(event: Any, at: str, warnings: list[str]) -> Iterator[ToolCall]:
    """The calls that a model event put out; an event that failed or repeats a cached answer put out none."""
    _, message = _choice(event)
    if message.get("role") == "assistant":
        for told in chat.events([message], f"{at}.output.choices", warnings, _WORDS):
            yield from told.calls if isinstance(told, Asked) else ()


def _outcome(event: dict[str, Any], at: str) -> Answered:
    identity, name = event.get("id"), event.get("function")
    error = _error(event.get("error"))
    return Answered(
        id=identity if isinstance(identity, str) else None,
        name=name if isinstance(name, str) else None,
        result=event.get("result"),
        status="ok" if error is None else _failure(event.get("error")),
        error=error,
        place=at,
    )


def _call(entry: Any) -> tuple[ToolCall, tuple[str, ...]]:
    """A call; arguments that could not be parsed are empty, and the model's text stands in the error."""
    known = entry if isinstance(entry, dict) else {}
    call, notes = shapes.named(known.get("function"), known.get("arguments"), id=known.get("id"), absent="not_captured")
    error = known.get("parse_error")
    if isinstance(error, str) and error:
        raw = _RAW.search(error)
        text = raw[1] if raw else error
        call = msgspec.structs.replace(call, arguments=None, arguments_state="malformed", arguments_text=text)
    if known.get("type") == "custom" and isinstance(known.get("arguments"), str):
        call = msgspec.structs.replace(call, kind="custom")
    return call, notes


def _answers(message: dict[str, Any], place: str) -> Iterator[Answered]:
    content, error = chat.text(message.get("content")), message.get("error")
    told = chat.answer(message, place, result=content, name=message.get("function"), error=_error(error))
    yield told if told.error is None else msgspec.structs.replace(told, status=_failure(error))


def _failure(error: Any) -> CallStatus:
    """What an error makes of its call: an approver who rejects it is no failure of the tool."""
    return "refused" if isinstance(error, dict) and error.get("type") == "approval" else "error"


def _error(error: Any) -> str | None:
    if not error:
        return None
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) else str(error)


_WORDS: Final = chat.Words(call=_call, answers=_answers)


def _tools(events: list[Any]) -> Any:
    """The tools that the model was offered, as its events tell."""
    offered = [tool for event in events if isinstance(event, dict) for tool in _listed(event, "tools")]
    return toolspecs.tools(offered)


def _resolved(value: Any, attachments: Any) -> Any:
    """The value with long texts in their places; without recursion, and without change where nothing is attached."""
    if not isinstance(attachments, dict) or not attachments:
        return value
    root: list[Any] = [value]
    waiting: list[Any] = [root]
    while waiting:
        container = waiting.pop()
        for key, item in list(container.items() if isinstance(container, dict) else enumerate(container)):
            if isinstance(item, str) and item.startswith(_ATTACHED):
                container[key] = attachments.get(item.removeprefix(_ATTACHED), item)
            elif isinstance(item, dict | list):
                container[key] = item.copy()
                waiting.append(container[key])
    return root[0]


def check(sample: Any, path: str) -> dict[str, Any]:
    """The sample; `TraceError` if it is none."""
    if not is_sample(sample):
        found = shapes.kind(sample)
        raise TraceError(f"expected a sample with `id`, `epoch` and `messages`; found {found}", Where(path=path))
    return dict(sample)
