"""Messages of Anthropic, which Claude Code records too: content blocks into what happens in them.

Calls are `tool_use` (the client runs it), `server_tool_use` and `mcp_tool_use` (the provider does, and the result
stands in the same message). A result joins its call by `tool_use_id`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rightcall.core.calls import CallKind, ToolCall, Trajectory
from rightcall.errors import TraceError, Where, join_path
from rightcall.traces import shapes
from rightcall.traces.conversation import Answered, Asked, Event, Said, structured

ROLES: Final = frozenset({"user", "assistant", "system"})

_CALLS: Final[dict[str, CallKind]] = {"tool_use": "client", "server_tool_use": "server", "mcp_tool_use": "mcp"}
_SILENT: Final = frozenset(
    {
        "text",
        "thinking",
        "redacted_thinking",
        "image",
        "document",
        "search_result",
        "container_upload",
        "compaction",
        "tool_reference",
    }
)
_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})


def _kind(block: Any) -> str:
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) else ""


def is_call(block: Any) -> bool:
    """Whether a block is a call, of a known type or of a newer one."""
    return _kind(block) in _CALLS or _kind(block).endswith("_tool_use")


def is_result(block: Any) -> bool:
    """Whether a block is the result of a call, of the client's or of a tool of the provider's."""
    return _kind(block).endswith("tool_result")


def is_message(value: Any) -> bool:
    """Whether a value is a message of which every block is known."""
    if not isinstance(value, dict) or str(value.get("role")) not in ROLES or value.keys() & {"tool_calls", "parts"}:
        return False
    content = value.get("content")
    if isinstance(content, str):
        return True
    return isinstance(content, list) and all(is_call(one) or is_result(one) or _kind(one) in _SILENT for one in content)


def is_own(value: Any) -> bool:
    """Whether a message has what only this format has: a call, a result, a thought or a stop reason."""
    if not is_message(value):
        return False
    content = value["content"] if isinstance(value["content"], list) else []
    return "stop_reason" in value or any(is_call(one) or is_result(one) or _kind(one) in _THOUGHTS for one in content)


class Reading:
    """Reads messages one after another: what there is to warn about, and which call made which."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._callers: dict[str, str] = {}

    def events(self, message: Any, at: str) -> Iterator[Event]:
        """What happens in one message; `TraceError` if it is none."""
        blocks = list(_blocks(message, at))
        role = message.get("role")
        if role == "assistant":
            yield from self._asked(blocks)
        elif role == "user":
            yield from self._said(blocks, at)
        elif role != "system":
            raise TraceError(f"unknown role {role!r}", Where(path=join_path(at, "role")))

    def _asked(self, blocks: list[tuple[dict[str, Any], str]]) -> Iterator[Event]:
        """The calls of a message. What follows a result that stands between was asked after it."""
        calls: list[ToolCall] = []
        told = False
        for block, place in blocks:
            if is_call(block):
                calls.append(self._call(block, place))
            elif is_result(block):
                if calls:
                    yield Asked(tuple(calls))
                calls, told = [], True
                yield _answered(block, place)
            elif _kind(block) not in _SILENT:
                self.warnings.append(f"{place} is a block of the unknown type `{_kind(block)[:60]}` and is not read")
        if calls or not told:
            yield Asked(tuple(calls))

    def _said(self, blocks: list[tuple[dict[str, Any], str]], at: str) -> Iterator[Event]:
        """Results, or words of the user: text beside results is no turn of its own."""
        results = [(block, place) for block, place in blocks if is_result(block)]
        yield from (_answered(block, place) for block, place in results)
        if not results:
            yield Said()
        if any(is_call(block) for block, _ in blocks):
            self.warnings.append(f"{at} has calls although it is no message of the model; they are not read".strip())

    def _call(self, block: dict[str, Any], at: str) -> ToolCall:
        made, notes = call(block, at)
        self.warnings += notes
        caller = block.get("caller")
        if isinstance(caller, dict) and isinstance(caller.get("tool_id"), str):
            self._callers[at] = caller["tool_id"]
        return made

    def nested(self, made: Trajectory) -> Trajectory:
        """The same trajectory, in which calls that another call made have it as their parent."""
        calls, latest = [], dict[str | None, int]()
        for index, one in enumerate(made.tool_calls or ()):
            caller = self._callers.get(one.sources[0]) if one.sources else None
            if caller is not None and caller in latest:
                one = msgspec.structs.replace(one, parent=latest[caller])
            latest[one.id] = index
            calls.append(one)
        return made if made.tool_calls is None else msgspec.structs.replace(made, tool_calls=tuple(calls))


def _blocks(message: Any, at: str) -> Iterator[tuple[dict[str, Any], str]]:
    if not isinstance(message, dict):
        raise TraceError(f"expected a message, an object; found {shapes.kind(message)}", Where(path=at))
    if message.get("tool_calls"):
        raise TraceError("expected a message of Anthropic; found `tool_calls`, as in OpenAI Chat", Where(path=at))
    content = message.get("content", UNSET)
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        found = "none" if content is UNSET else shapes.kind(content)
        raise TraceError(f"expected text or an array of blocks; found {found}", Where(path=join_path(at, "content")))
    for index, block in enumerate(content):
        place = join_path(at, f"content[{index}]")
        if not isinstance(block, dict):
            raise TraceError(f"expected a block, an object; found {shapes.kind(block)}", Where(path=place))
        yield block, place


def call(block: dict[str, Any], at: str) -> tuple[ToolCall, tuple[str, ...]]:
    """The call that a block writes, and what there is to warn about."""
    source = block.get("input", UNSET)
    made, notes = shapes.named(block.get("name"), source, id=block.get("id"), absent="not_captured", at=at)
    if _kind(block) not in _CALLS:
        notes = (*notes, f"{at} is a call of the unknown type `{_kind(block)[:60]}`")
    server = shapes.label(block.get("server_name"))
    return msgspec.structs.replace(made, kind=_CALLS.get(_kind(block), "server"), server=server), notes


def _answered(block: dict[str, Any], at: str) -> Answered:
    content = block.get("content")
    result = structured(text(content))
    failed = block.get("is_error") is True or _failed(content)
    identity = block.get("tool_use_id")
    return Answered(
        id=identity if isinstance(identity, str) and identity else None,
        result=result,
        status="error" if failed else "ok",
        error=_error(result) if failed else None,
        place=at,
    )


def _failed(content: Any) -> bool:
    """Whether the result of a tool of the provider's says that it failed."""
    if not isinstance(content, dict):
        return False
    code = content.get("return_code")
    return _kind(content).endswith("_error") or (isinstance(code, int) and code != 0)


def _error(result: Any) -> str | None:
    if isinstance(result, dict):
        result = result.get("error_message") or result.get("error_code") or result.get("stderr")
    return result if isinstance(result, str) and result else None


def text(content: Any) -> Any:
    """The text of a content: its string, or its text blocks joined; other content as it stands."""
    if not isinstance(content, list) or not content:
        return content
    texts = [block["text"] for block in content if _kind(block) == "text" and isinstance(block.get("text"), str)]
    return "".join(texts) if len(texts) == len(content) else content


def ends_in_text(content: Any) -> bool:
    """Whether the last thing that a content says is text, rather than a call or nothing."""
    return bool(content) and (isinstance(content, str) or _kind(content[-1]) == "text")


def replaced(messages: Iterable[Any], places: Iterable[str]) -> Iterator[str]:
    """The gap of a summary that stands in the place of messages of the model which are not there (G12)."""
    spoken = False
    for message, place in zip(messages, places, strict=True):
        content = message.get("content")
        kinds = list(map(_kind, content)) if isinstance(content, list) else ["text"]
        if "compaction" in kinds and not spoken:
            yield f"{place} sums up messages that are not recorded".strip()
        spoken = spoken or message.get("role") == "assistant"


def output(messages: Iterable[Any]) -> Any:
    """The text of the last message, if it is of the model and asks for no call that is still open."""
    last = list(messages)[-1:]
    if not last or last[0].get("role") != "assistant":
        return None
    content = last[0].get("content")
    if isinstance(content, str):
        return content or None
    if any(_kind(block) == "tool_use" for block in content):
        return None
    texts = [block["text"] for block in content if _kind(block) == "text" and isinstance(block.get("text"), str)]
    return "".join(texts) or None


def key(message: Any) -> Any:
    """What makes two messages of a history the same: all but identifiers, thoughts and marks of a cache."""
    if not isinstance(message, dict):
        return message
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    listed = blocks if isinstance(blocks, list) else [blocks]
    told = [_block_key(block) for block in listed if _kind(block) not in _THOUGHTS]
    return message.get("role"), [one for one in told if one != ("text", "")]


def _block_key(block: Any) -> Any:
    if is_call(block):
        return "call", block.get("name"), block.get("input")
    if is_result(block):
        return "result", text(block.get("content"))
    if _kind(block) == "text":
        return "text", block.get("text")
    return {name: part for name, part in block.items() if name != "cache_control"} if isinstance(block, dict) else block
