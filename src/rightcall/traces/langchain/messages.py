"""Messages of LangChain in each form they are dumped in, into one trajectory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import ToolCall, ToolSpec, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import chat, conversation, shapes, stopping
from rightcall.traces.conversation import Answered, Asked, Event, Said

_MEANINGS: Final = {
    "human": "human",
    "HumanMessage": "human",
    "HumanMessageChunk": "human",
    "ai": "ai",
    "AIMessage": "ai",
    "AIMessageChunk": "ai",
    "tool": "tool",
    "ToolMessage": "tool",
    "ToolMessageChunk": "tool",
    "function": "tool",
    "FunctionMessage": "tool",
    "system": "other",
    "SystemMessage": "other",
    "chat": "other",
    "ChatMessage": "other",
    "remove": "other",
    "RemoveMessage": "other",
}
"""What each name of a message means: in `type`, or as class of a constructor."""

_ROLES: Final = {"user": "human", "assistant": "ai", "developer": "other"}
"""What roles mean beside those; states of LangGraph take messages of OpenAI's form too."""

_REMOVALS: Final = frozenset({"remove", "RemoveMessage"})
_ALL: Final = "__remove_all__"
"""What a removal has for its id if it is one of everything before."""

_OF_OTHERS: Final = frozenset({"role", "uuid", "sessionId", "timestamp", "message", "payload"})


def is_message(value: Any) -> bool:
    """Whether a value is a message in one of LangChain's own forms, not one that only has a role."""
    if not isinstance(value, dict) or str(fields(value).get("type")) not in _MEANINGS:
        return False
    return "data" in value or "lc" in value or ("content" in value and not _OF_OTHERS & value.keys())


def has_role(value: Any) -> bool:
    """Whether a value is a message that only has a role, as a mapping or as a pair of texts."""
    return _meaning(fields(value)) is not None and not is_message(value)


def fields(message: Any) -> dict[str, Any]:
    """The fields of a message, whatever form it is dumped in, with its `type` among them."""
    if isinstance(message, list) and len(message) == 2 and all(isinstance(part, str) for part in message):
        return {"type": message[0], "content": message[1]}
    if not isinstance(message, dict):
        return {}
    if str(message.get("type")) in _MEANINGS and "data" in message and "content" not in message:
        data = conversation.structured(message["data"])
        return {**data, "type": message["type"]} if isinstance(data, dict) else {"type": None}
    if isinstance(message.get("kwargs"), dict) and message.get("type") == "constructor":
        names = message.get("id")
        return {**message["kwargs"], "type": names[-1] if isinstance(names, list) and names else None}
    return message if "type" in message else {**message, "type": message.get("role")}


def _meaning(message: dict[str, Any]) -> str | None:
    name = str(message.get("type"))
    return _MEANINGS.get(name) or _ROLES.get(name)


def trajectory(
    messages: list[Any], tools: tuple[ToolSpec, ...] = (), gaps: tuple[str, ...] = (), path: str = "messages"
) -> Trajectory:
    """The trajectory of one conversation."""
    warnings: list[str] = []
    told = _events(messages, path, warnings)
    output = _output(fields(messages[-1])) if messages else None
    gaps = (*gaps, *_stopped(messages, path), *_rewritten(messages, path))
    searched = ((fields(message), f"{path}[{index}]") for index, message in enumerate(messages))
    return conversation.trajectory(
        messages, told, warnings, path=path, tools=tools, gaps=gaps, output=output, searched=searched
    )


def _stopped(messages: list[Any], path: str) -> Iterator[str]:
    """Messages of the model that stopped for calls which are not there, or that were cut off."""
    for index, message in enumerate(messages):
        known = fields(message)
        metadata = known.get("response_metadata")
        if _meaning(known) == "ai" and isinstance(metadata, dict):
            at = f"{path}[{index}]"
            reason = metadata.get("finish_reason") or metadata.get("stop_reason") or metadata.get("done_reason")
            calls = bool(entries(known, at))
            yield from stopping.gaps(reason, calls=calls, text=bool(known.get("content")), at=at)


def _rewritten(messages: list[Any], path: str) -> Iterator[str]:
    """Gaps where a list writes over a conversation: what it removes is not in it, or one id has differing calls.

    In a state a message takes the place of an earlier one with its id, so a list that has both is no state. What was
    asked for and then removed was asked for, and stays.
    """
    seen: dict[str, list[Any]] = {}
    for index, message in enumerate(messages):
        known, at = fields(message), f"{path}[{index}]"
        identity, meaning = known.get("id"), _meaning(known)
        if str(known.get("type")) in _REMOVALS:
            if not (index if identity == _ALL else identity in seen):
                yield f"{at} removes messages that are not recorded"
        elif meaning is not None and isinstance(identity, str) and identity:
            calls = [entry for entry, _ in entries(known, at)] if meaning == "ai" else []
            if seen.setdefault(identity, calls) != calls:
                yield f"{at} has the id of an earlier message and other calls: which of them were made is not recorded"


def _events(messages: list[Any], path: str, warnings: list[str]) -> Iterator[Event]:
    for index, message in enumerate(messages):
        at = f"{path}[{index}]"
        known = fields(message)
        meaning = _meaning(known)
        if meaning is None:
            found = f"type {known['type']!r}" if known.get("type") is not None else shapes.kind(message)
            raise TraceError(f"expected a LangChain message; found {found}", Where(path=at))
        if meaning == "ai":
            yield Asked(tuple(_calls(known, at, warnings)))
        elif meaning == "human":
            yield Said()
        elif meaning == "tool":
            yield _answered(known, at)


def _calls(message: dict[str, Any], at: str, warnings: list[str]) -> Iterator[ToolCall]:
    agent = message.get("name")
    for entry, place in entries(message, at):
        call, notes = _invalid(entry, place) if "invalid_tool_calls" in place else _call(entry, place)
        warnings += notes
        yield msgspec.structs.replace(call, agent=agent if isinstance(agent, str) and agent else None)


def entries(message: dict[str, Any], at: str) -> list[tuple[Any, str]]:
    """The calls of a message as they stand, those that could not be parsed among them, in the model's order.

    Copies that integrations keep are read only where a message has nothing else.
    """
    own = [*_listed(message, "tool_calls", at), *_listed(message, "invalid_tool_calls", at)]
    more = message.get("additional_kwargs")
    copies = _listed(more, "tool_calls", f"{at}.additional_kwargs") if isinstance(more, dict) else []
    if not own:
        return copies or _blocks(message.get("content"), at)
    order = {_id(entry): number for number, (entry, _) in enumerate(copies)}
    ids = [_id(entry) for entry, _ in own]
    if len(order) == len(copies) and set(ids) == set(order) and len(set(ids)) == len(ids):
        return [pair for _, pair in sorted(zip(ids, own, strict=True), key=lambda known: order[known[0]])]
    return own


def _id(entry: Any) -> str:
    return str(entry.get("id")) if isinstance(entry, dict) else ""


def _listed(message: dict[str, Any], key: str, at: str) -> list[tuple[Any, str]]:
    found = message.get(key)
    if found is not None and not isinstance(found, list):
        raise TraceError(f"expected an array of calls; found {shapes.kind(found)}", Where(path=f"{at}.{key}"))
    return [(entry, f"{at}.{key}[{index}]") for index, entry in enumerate(found or ())]


def _blocks(content: Any, at: str) -> list[tuple[Any, str]]:
    """Calls that stand only in the content, as Anthropic and the standard blocks of LangChain write them."""
    blocks = content if isinstance(content, list) else []
    kinds = ("tool_use", "tool_call")
    return [
        (block, f"{at}.content[{index}]")
        for index, block in enumerate(blocks)
        if isinstance(block, dict) and block.get("type") in kinds
    ]


def _call(entry: Any, place: str) -> tuple[ToolCall, list[str]]:
    call, notes = shapes.call(entry)
    missing = isinstance(entry, dict) and not {*shapes.ARGUMENT_KEYS, *shapes.WRAPPERS} & entry.keys()
    if missing:
        call = msgspec.structs.replace(call, arguments=None, arguments_state="not_captured")
    return msgspec.structs.replace(call, sources=(place,)), [f"{place} {note}" for note in notes]


def _invalid(entry: Any, place: str) -> tuple[ToolCall, list[str]]:
    """A call whose arguments LangChain could not parse: the model's text is kept."""
    known = entry if isinstance(entry, dict) else {}
    call, notes = shapes.named(known.get("name"), id=known.get("id"), at=place)
    text = known.get("args")
    text = text if isinstance(text, str) else ""
    return msgspec.structs.replace(call, arguments=None, arguments_state="malformed", arguments_text=text), [*notes]


def _answered(message: dict[str, Any], at: str) -> Answered:
    name, identity = message.get("name"), message.get("tool_call_id")
    result = chat.text(message.get("content"))
    failed = message.get("status") == "error"
    return Answered(
        id=identity if isinstance(identity, str) and identity else None,
        name=name if isinstance(name, str) and name else None,
        result=result,
        status="error" if failed else "ok",
        error=result if failed and isinstance(result, str) else None,
        place=at,
    )


def _output(message: dict[str, Any]) -> Any:
    """The text of the last message, if the model wrote it and asked for no call."""
    if _meaning(message) != "ai" or message.get("tool_calls") or message.get("invalid_tool_calls"):
        return None
    return chat.text(message.get("content")) or None
