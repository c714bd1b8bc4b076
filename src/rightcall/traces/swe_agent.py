"""Trajectory files of SWE-agent: a history of messages with calls, and a list of actions that repeats them as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import ToolCall, Trajectory
from rightcall.errors import TraceError
from rightcall.traces import chat, conversation, families, shapes
from rightcall.traces.conversation import Answered, Asked, Event

_SUBMIT: Final = "submit"


def _kind(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    history = value.get("history")
    if history is None:
        return families.RECORD if _are_actions(value.get("trajectory")) else None
    return families.RECORD if isinstance(history, list) and history and all(map(_is_message, history)) else None


def _are_actions(value: Any) -> bool:
    """Whether a list is one of actions: they stand before the history, which may not be in sight yet."""
    listed = isinstance(value, list) and bool(value)
    return listed and all(isinstance(one, dict) and {"action", "observation"} <= one.keys() for one in value)


def _is_message(value: Any) -> bool:
    marks = {"agent", "message_type", "is_demo", "action"}
    return isinstance(value, dict) and str(value.get("role")) in chat.ROLES and bool(marks & value.keys())


def _whole(value: Any) -> Iterable[Trajectory]:
    if not isinstance(value.get("history"), list):
        raise TraceError("expected `history`; found only `trajectory`, whose actions are text")
    history = [message for message in value["history"] if message.get("is_demo") is not True]
    said = [message for message in history if message.get("role") == "assistant"]
    warnings: list[str] = []
    if said and not any(message.get("tool_calls") for message in said):
        note = "the actions of the agent are text for a shell, not tool calls"
        return [Trajectory(tool_calls=None, messages=history, warnings=(note,))]
    extra = _unrecorded(value.get("trajectory"), said, warnings)
    told = _events(history, extra, warnings)
    info = value.get("info")
    output = info.get("submission") if isinstance(info, dict) else None
    return [conversation.trajectory(history, told, warnings, path="history", output=output)]


def _events(history: list[Any], extra: list[Any], warnings: list[str]) -> Iterator[Event]:
    yield from chat.events(history, "history", warnings, _WORDS)
    for action, place in extra:
        yield Asked((_action(action, place),))
        yield Answered(name=_name(action), result=action.get("observation"), place=place)


def _unrecorded(actions: Any, said: list[Any], warnings: list[str]) -> list[tuple[dict[str, Any], str]]:
    """Actions after those that the history tells of, such as the last `submit`."""
    known = [entry for entry in actions if isinstance(entry, dict)] if isinstance(actions, list) else []
    told = [message.get("action") for message in said]
    if [entry.get("action") for entry in known[: len(told)]] != told:
        if known:
            warnings.append("`trajectory` does not repeat the actions of `history`; only the history is read")
        return []
    later = range(len(told), len(known))
    return [(known[index], f"trajectory[{index}]") for index in later if _name(known[index])]


def _name(action: dict[str, Any]) -> str:
    words = str(action.get("action") or "").split(maxsplit=1)
    return words[0] if words else ""


def _action(action: dict[str, Any], place: str) -> ToolCall:
    """The call that an action writes as text: its name, and its arguments only if there are none."""
    text = str(action["action"]).strip()
    name = _name(action)
    if text == name:
        return _special(ToolCall(name=name, sources=(place,)))
    unknown = ToolCall(name=name, arguments=None, arguments_state="not_captured", arguments_text=text)
    return _special(msgspec.structs.replace(unknown, sources=(place,)))


def _call(entry: Any) -> tuple[ToolCall, tuple[str, ...]]:
    call, notes = shapes.call(entry)
    return _special(call), notes


def _special(call: ToolCall) -> ToolCall:
    return msgspec.structs.replace(call, kind="output") if call.name == _SUBMIT else call


def _answers(message: dict[str, Any], place: str) -> Iterator[Answered]:
    ids = message.get("tool_call_ids")
    for identity in ids if isinstance(ids, list) and ids else [message.get("tool_call_id")]:
        yield chat.answer(message, place, result=chat.text(message.get("content")), id=identity)


_WORDS: Final = chat.Words(call=_call, answers=_answers)


_FAMILY: Final = families.Family(expected="a trajectory file of SWE-agent, with `history`", kind=_kind, whole=_whole)


def claims(head: bytes) -> bool:
    """Whether the first value has a history of messages of SWE-agent."""
    return families.claims(_FAMILY, head)


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """The one run of a file; one that cannot be read is yielded as an error."""
    return families.read(_FAMILY, chunks, file)
