"""Conversations of a session and of its sub-agents, one inside the other: a call, then what its agent called."""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any

import msgspec

from rightcall.core.calls import ToolCall
from rightcall.errors import TraceError
from rightcall.traces import blocks, hidden, stopping
from rightcall.traces.claude_code.lines import Line
from rightcall.traces.conversation import Answered, Asked, Event, joined


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation with an agent. `caller` is the id of the call that began it, `prompt` what it was told."""

    agent: str
    calls: tuple[ToolCall, ...]
    caller: str | None = None
    prompt: Any = None
    gaps: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    answered: int = 0


class Flattened(msgspec.Struct, frozen=True):
    """All calls of a session in order. `answered` counts the results that belong to one of them."""

    calls: tuple[ToolCall, ...]
    gaps: tuple[str, ...]
    warnings: tuple[str, ...]
    answered: int = 0


def conversations(lines: list[Line]) -> list[Conversation]:
    """The conversation of the session, then those of sub-agents, in order of appearance."""
    members: dict[str, list[Line]] = {}
    if any(not line.agent for line in lines):
        members[""] = []
    names: dict[str, str] = {}
    for line in lines:
        agent = _chain(line, names) if line.agent == "agent" else line.agent
        members.setdefault(agent, []).append(line)
    callers = _callers(lines)
    return [_conversation(agent, found, callers.get(agent)) for agent, found in members.items()]


def _chain(line: Line, names: dict[str, str]) -> str:
    """The name of a chain of lines that only `parentUuid` holds together: that of its first line."""
    uuid = line.text("uuid") or line.at
    return names.setdefault(uuid, names.get(line.text("parentUuid") or "", uuid))


def _callers(lines: list[Line]) -> dict[str, str]:
    """The call that began each agent, as far as results of calls name their agent."""
    found: dict[str, str] = {}
    for line in lines:
        result = line.value.get("toolUseResult")
        content = line.message.get("content") if isinstance(line.message, dict) else None
        if isinstance(result, dict) and isinstance(result.get("agentId"), str) and isinstance(content, list):
            ids = [block.get("tool_use_id") for block in content if blocks.is_result(block)]
            if len(ids) == 1 and isinstance(ids[0], str):
                found[result["agentId"]] = ids[0]
    return found


def _conversation(agent: str, lines: list[Line], caller: str | None) -> Conversation:
    reading, gaps = blocks.Reading(), list[str]()
    whole = list(_whole(lines))
    placed = [(line.message, line.at) for line in whole]
    told = joined(event for line in whole for event in _events(line, reading, gaps))
    first = next((line.message for line in lines if line.is_prompt), None)
    return Conversation(
        agent=agent,
        calls=told.calls,
        caller=next((line.caller for line in lines if line.caller), caller),
        prompt=blocks.text(first.get("content")) if isinstance(first, dict) else None,
        gaps=(
            *gaps,
            *_stopped(whole),
            *hidden.unread(placed, told.calls),
            *told.gaps,
        ),
        warnings=(*reading.warnings, *told.warnings),
        answered=told.answered,
    )


def _stopped(lines: list[Line]) -> Iterator[str]:
    """Answers that stopped for calls which are not there, or that were cut off."""
    for line in lines:
        content = line.message.get("content") if isinstance(line.message, dict) else None
        if line.kind == "assistant" and isinstance(content, list):
            calls, text = any(map(blocks.is_call, content)), blocks.ends_in_text(content)
            reason = line.message.get("stop_reason")
            yield from stopping.gaps(reason, calls=calls, text=text, word="stop reason", at=line.at)


def _whole(lines: list[Line]) -> Iterator[Line]:
    """Lines, with those that are parts of one answer of the model put together where the first one stands.

    A block with an id that the same answer already has is a copy.
    """
    answers: dict[str, list[Any]] = {}
    for line in lines:
        identity = line.message.get("id") if isinstance(line.message, dict) else None
        content = line.message.get("content") if isinstance(line.message, dict) else None
        if line.kind != "assistant" or not isinstance(identity, str) or not isinstance(content, list):
            yield line
        elif identity not in answers:
            answers[identity] = []
            _extend(answers[identity], content)
            yield msgspec.structs.replace(line, message={**line.message, "content": answers[identity]})
        else:
            _extend(answers[identity], content)


def _extend(known: list[Any], content: list[Any]) -> None:
    ids = [block["id"] for block in known if blocks.is_call(block) and isinstance(block.get("id"), str)]
    known += [block for block in content if not blocks.is_call(block) or block.get("id") not in ids]


def _events(line: Line, reading: blocks.Reading, gaps: list[str]) -> Iterator[Event]:
    """What happens in a line. One of the model that cannot be read may hide calls."""
    try:
        events = list(reading.events(line.message, line.at))
    except TraceError as error:
        (gaps if line.kind == "assistant" else reading.warnings).append(
            f"{error.where.path} was rejected: {error.message}"
        )
        return
    refused = str(line.value.get("toolUseResult")).startswith("User rejected")
    for event in events:
        if isinstance(event, Answered) and refused:
            yield msgspec.structs.replace(event, status="refused")
        elif isinstance(event, Answered | Asked) or line.is_prompt:
            yield event


def flattened(found: list[Conversation]) -> Flattened:
    """Each call, then the calls of the agent that it started, and so on. Agents nobody started come last."""
    telling = _Telling(found)
    begun = {number for numbers in telling.inside.values() for number in numbers}
    adrift = 0
    for number in [0, *(one for one in range(1, len(found)) if one not in begun), *sorted(begun)]:
        if number not in telling.told:
            before = len(telling.calls)
            telling.tell(number)
            adrift += (len(telling.calls) - before) * bool(number)
    notes = (f"{adrift} calls of sub-agents that no call of the file started come last",) if adrift else ()
    return Flattened(
        tuple(telling.calls),
        tuple(gap for one in found for gap in one.gaps),
        (*(warning for one in found for warning in one.warnings), *notes),
        sum(one.answered for one in found),
    )


class _Telling:
    """The calls of conversations put in order. `inside` has the conversations that each call began."""

    def __init__(self, found: list[Conversation]) -> None:
        self.calls: list[ToolCall] = []
        self.told: set[int] = set()
        self.inside = _inside(found)
        self._found = found
        counts = [max((call.message or 0 for call in one.calls), default=-1) + 1 for one in found]
        self._offsets = [0, *itertools.accumulate(counts)]

    def tell(self, first: int) -> None:
        """Append the calls of a conversation and of those inside it. Without recursion, each conversation once."""
        waiting: list[tuple[int, int, int | None, tuple[str, ...]]] = [(first, 0, None, ())]
        self.told.add(first)
        while waiting:
            number, index, parent, path = waiting.pop()
            if index == len(self._found[number].calls):
                continue
            waiting.append((number, index + 1, parent, path))
            call = self._found[number].calls[index]
            begun = [one for one in self.inside.get((number, index), ()) if one not in self.told]
            self.calls.append(_placed(call, parent, path, self._offsets[number], bool(begun)))
            self.told.update(begun)
            below = (*path, _agent(call))[-50:]
            waiting += [(one, 0, len(self.calls) - 1, below) for one in reversed(begun)]


_Place = tuple[int, int]


def _inside(found: list[Conversation]) -> dict[_Place, list[int]]:
    """The conversations that each call began: by its id, else the first that is left with an equal prompt."""
    by_id: dict[str, _Place] = {}
    by_prompt: defaultdict[str, deque[_Place]] = defaultdict(deque)
    for number, one in enumerate(found):
        for index, call in enumerate(one.calls):
            by_id.setdefault(call.id or "", (number, index))
            given = call.arguments.get("prompt") if isinstance(call.arguments, dict) else None
            if isinstance(given, str):
                by_prompt[given].append((number, index))
    inside: dict[_Place, list[int]] = {}
    for number, one in enumerate(found[1:], 1):
        waiting = by_prompt[one.prompt] if isinstance(one.prompt, str) else deque[_Place]()
        place = by_id.get(one.caller) if one.caller else next(iter(waiting), None)
        if place is not None and place[0] != number:
            inside.setdefault(place, []).append(number)
            if place in waiting:
                waiting.remove(place)
    return inside


def _agent(call: ToolCall) -> str:
    kind = call.arguments.get("subagent_type") if isinstance(call.arguments, dict) else None
    return kind if isinstance(kind, str) and kind else call.name


def _placed(call: ToolCall, parent: int | None, path: tuple[str, ...], offset: int, begins: bool) -> ToolCall:
    return msgspec.structs.replace(
        call,
        parent=parent,
        agent=path[-1] if path else None,
        agent_path=path,
        message=None if call.message is None else call.message + offset,
        kind="agent" if begins and call.kind == "client" else call.kind,
    )
