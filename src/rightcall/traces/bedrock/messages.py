"""One list of Converse messages into one trajectory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import ToolCall, ToolSpec, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import conversation, shapes, stopping
from rightcall.traces.conversation import Answered, Asked, Event, Said

_BLOCKS: Final = frozenset(
    {
        "text",
        "toolUse",
        "toolResult",
        "image",
        "document",
        "video",
        "audio",
        "reasoningContent",
        "cachePoint",
        "guardContent",
        "citationsContent",
        "searchResult",
    }
)
_FAILED_CALLS: Final = frozenset({"malformed_tool_use"})


def is_message(value: Any) -> bool:
    """Whether a value is a message whose blocks are told by their key, not by a type."""
    if not isinstance(value, dict) or value.get("role") not in ("user", "assistant"):
        return False
    content = value.get("content")
    return isinstance(content, list) and bool(content) and all(map(_is_block, content))


def _is_block(block: Any) -> bool:
    return isinstance(block, dict) and "type" not in block and bool(_BLOCKS & block.keys())


def trajectory(
    messages: list[Any], tools: tuple[ToolSpec, ...] = (), gaps: tuple[str, ...] = (), path: str = "messages"
) -> Trajectory:
    """The trajectory of one conversation."""
    warnings: list[str] = []
    told = _events(messages, path, warnings)
    return conversation.trajectory(
        messages, told, warnings, path=path, tools=tools, gaps=gaps, output=_output(messages)
    )


def gaps(response: dict[str, Any]) -> tuple[str, ...]:
    """What the stop reason of a response says is missing."""
    content = response["output"]["message"].get("content")
    return tuple(stopped(response.get("stopReason"), content if isinstance(content, list) else []))


def stopped(reason: Any, blocks: list[Any]) -> Iterator[str]:
    """What the reason why a message of these blocks ended says is missing."""
    if str(reason) in _FAILED_CALLS:
        yield f"the stop reason is `{reason}`: the model wrote a call that is not recorded"
    calls = any(isinstance(block, dict) and "toolUse" in block for block in blocks)
    text = bool(blocks) and isinstance(blocks[-1], dict) and "text" in blocks[-1]
    yield from stopping.gaps(reason, calls=calls, text=text, word="stop reason")


def _events(messages: list[Any], path: str, warnings: list[str]) -> Iterator[Event]:
    for index, message in enumerate(messages):
        yield from _told(message, f"{path}[{index}]", warnings)


def _told(message: Any, at: str, warnings: list[str]) -> Iterator[Event]:
    blocks = _blocks(message, at)
    role = message.get("role")
    if role == "assistant":
        yield Asked(tuple(_call(block["toolUse"], place, warnings) for block, place in blocks if "toolUse" in block))
    elif role == "user":
        if any("toolResult" not in block for block, _ in blocks):
            yield Said()
        if any("toolUse" in block for block, _ in blocks):
            warnings.append(f"{at} has calls although it is no message of the model; they are not read")
    elif role != "system":
        raise TraceError(f"unknown role {role!r}", Where(path=f"{at}.role"))
    for block, place in blocks:
        if "toolResult" in block:
            yield _answered(block["toolResult"], place)
        elif not _BLOCKS & block.keys():
            warnings += shapes.unknown(place, block)


def _blocks(message: Any, at: str) -> list[tuple[dict[str, Any], str]]:
    if not isinstance(message, dict):
        raise TraceError(f"expected a message, an object; found {shapes.kind(message)}", Where(path=at))
    content = message.get("content")
    if isinstance(content, str):
        content = [{"text": content}]
    if not isinstance(content, list):
        raise TraceError(f"expected an array of blocks; found {shapes.kind(content)}", Where(path=f"{at}.content"))
    return [(_block(block, f"{at}.content[{index}]"), f"{at}.content[{index}]") for index, block in enumerate(content)]


def _block(block: Any, place: str) -> dict[str, Any]:
    if not isinstance(block, dict):
        raise TraceError(f"expected a block, an object; found {shapes.kind(block)}", Where(path=place))
    if str(block.get("type")) in ("tool_use", "tool_result", "tool-call", "function_call"):
        raise TraceError(f"expected a block of Bedrock Converse; found type `{block['type']}`", Where(path=place))
    return block


def _call(use: Any, place: str, warnings: list[str]) -> ToolCall:
    entry = use if isinstance(use, dict) else {}
    source = entry.get("input", msgspec.UNSET)
    call, notes = shapes.named(
        entry.get("name"), source, id=entry.get("toolUseId"), absent="not_captured", at=f"{place}.toolUse"
    )
    warnings += notes
    if source == "":
        call = msgspec.structs.replace(call, arguments={}, arguments_state="ok")
    return msgspec.structs.replace(call, kind="server") if entry.get("type") == "server_tool_use" else call


def _answered(result: Any, place: str) -> Answered:
    entry = result if isinstance(result, dict) else {}
    identity, content = entry.get("toolUseId"), _content(entry.get("content"))
    failed = entry.get("status") == "error"
    return Answered(
        id=identity if isinstance(identity, str) and identity else None,
        result=content,
        status="error" if failed else "ok",
        error=content if failed and isinstance(content, str) else None,
        place=place,
    )


def _content(content: Any) -> Any:
    """The content of a result: its text, its one JSON value, or the blocks as they stand."""
    blocks = content if isinstance(content, list) and all(isinstance(one, dict) for one in content) else []
    texts = [block["text"] for block in blocks if isinstance(block.get("text"), str)]
    if blocks and len(texts) == len(blocks):
        return "".join(texts)
    return blocks[0]["json"] if len(blocks) == 1 and "json" in blocks[0] else content


def _output(messages: list[Any]) -> str | None:
    """The text of the last message, if the model wrote it and asked for no call."""
    last = messages[-1] if messages and isinstance(messages[-1], dict) else {}
    content = last.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    if last.get("role") != "assistant" or any("toolUse" in block for block in blocks):
        return None
    return "".join(block["text"] for block in blocks if isinstance(block.get("text"), str)) or None


def key(message: Any) -> Any:
    """What makes two messages of a history the same: all but ids and places for caching."""
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return message
    return message.get("role"), [_block_key(block) for block in content if not _is_bookkeeping(block)]


def _is_bookkeeping(block: Any) -> bool:
    return isinstance(block, dict) and bool({"cachePoint", "reasoningContent"} & block.keys())


def _block_key(block: Any) -> Any:
    for name in ("toolUse", "toolResult"):
        if isinstance(block, dict) and isinstance(block.get(name), dict):
            return name, {key: part for key, part in block[name].items() if key not in ("toolUseId", "status")}
    return block
