"""JSON-RPC messages of the Model Context Protocol, in both directions: calls are the requests `tools/call`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rightcall.core.calls import CallStatus, ToolCall, ToolSpec, Trajectory
from rightcall.errors import TraceError
from rightcall.traces import conversation, families, heads, shapes, toolspecs
from rightcall.traces.conversation import Answered, Asked, Event, structured

_CALL: Final = "tools/call"
_OF_CALLS: Final = frozenset({"content", "structuredContent", "isError", "toolResult", "task"})


def claims(head: bytes) -> bool:
    """Whether the first value is a message of JSON-RPC 2.0 or a batch, and some message is of this protocol."""
    found = heads.elements(head)
    return families.claims(FAMILY, head) and any(_is_of_protocol(one) for one in found if isinstance(one, dict))


def _is_of_protocol(message: dict[str, Any]) -> bool:
    method, result = message.get("method"), message.get("result")
    if isinstance(method, str):
        return method in ("initialize", "ping") or "/" in method
    return isinstance(result, dict) and bool(result.keys() & {"protocolVersion", "tools", *_OF_CALLS})


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """The one trajectory of a log."""
    return families.read(FAMILY, chunks, file)


def _kind(value: Any) -> str | None:
    if isinstance(value, list):
        return families.MESSAGE if value and all(map(_is_message, value)) else None
    return families.MESSAGE if _is_message(value) else None


def _is_message(value: Any) -> bool:
    known = isinstance(value, dict) and value.get("jsonrpc") == "2.0"
    return known and bool(value.keys() & {"method", "result", "error"})


def _whole(value: Any) -> Iterator[Trajectory]:
    """A log, in order. Connections that follow one another are one conversation."""
    log = _Log()
    told = [event for message, at in _messages(value) for event in log.events(message, at)]
    heard = [*told, *log.flushed()]
    made = conversation.trajectory(value, heard, log.warnings, path="", tools=log.tools, searched=_asking(value))
    notes = tuple(note for note in made.warnings if note != conversation.SILENT)
    yield msgspec.structs.replace(made, messages=None, tool_calls=made.tool_calls or (), warnings=notes)


def _asking(values: list[Any]) -> Iterator[tuple[Any, str]]:
    """The requests that call a tool, with their places: others may have a name and arguments, such as prompts."""
    return ((message, at) for message, at in _messages(values) if message.get("method") == _CALL)


def _messages(values: list[Any]) -> Iterator[tuple[Any, str]]:
    """Every message with its place, those of batches too."""
    for index, value in enumerate(values):
        if isinstance(value, list):
            yield from ((message, f"[{index}][{number}]") for number, message in enumerate(value))
        else:
            yield value, f"[{index}]"


class _Log:
    """Reads messages one after another. Requests with no response between them are parallel."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._tools: dict[str, ToolSpec] = {}
        self._calls: list[ToolCall] = []
        self._others: Counter[str] = Counter()
        self._open: Counter[str] = Counter()
        self._server: str | None = None

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools that servers listed."""
        return tuple(self._tools.values())

    def flushed(self) -> Iterator[Event]:
        """The requests since the last response."""
        if self._calls:
            yield Asked(tuple(self._calls))
        self._calls = []

    def events(self, message: Any, at: str) -> Iterator[Event]:
        """What happens in one message."""
        if not _is_message(message):
            raise TraceError(f"expected a message of JSON-RPC 2.0; found {shapes.kind(message)}").within(path=at)
        if message.get("method") == _CALL:
            self._calls.append(self._call(message, at))
        elif "method" in message:
            self._others[_id(message)] += "id" in message
            if message["method"] == "initialize":
                yield from self.flushed()
                self._server = None
        else:
            yield from self._response(message, at)

    def _call(self, message: dict[str, Any], at: str) -> ToolCall:
        params = message.get("params")
        given = params if isinstance(params, dict) else {}
        made, notes = shapes.named(given.get("name"), given.get("arguments", UNSET), id=_id(message), at=at)
        self.warnings += notes
        self._open[_id(message)] += 1
        return msgspec.structs.replace(made, kind="mcp", server=self._server)

    def _response(self, message: dict[str, Any], at: str) -> Iterator[Event]:
        """A response: of a call, unless another request with its id waits and it does not look like that of a call."""
        identity, result = _id(message), message.get("result")
        if isinstance(result, dict) and isinstance(result.get("tools"), list):
            self._tools |= {tool.name: tool for tool in toolspecs.tools(result["tools"])}
        if isinstance(result, dict) and isinstance(result.get("serverInfo"), dict):
            self._server = shapes.label(result["serverInfo"].get("name"))
        looks = isinstance(result, dict) and bool(result.keys() & _OF_CALLS) and "role" not in result
        if self._others[identity] and not (looks and self._open[identity]):
            self._others[identity] -= 1
        elif self._open[identity] or looks:
            self._open[identity] -= self._open[identity] > 0
            yield from self.flushed()
            yield _answered(message, identity, at)
        else:
            self.warnings.append(f"{at} answers no request of the log and is not read")


def _id(message: dict[str, Any]) -> str:
    """The id of a message as text."""
    identity = message.get("id")
    return str(identity) if isinstance(identity, str | int) and not isinstance(identity, bool) else ""


def _answered(message: dict[str, Any], identity: str, at: str) -> Answered:
    error = message.get("error")
    if error is not None:
        text = error.get("message") if isinstance(error, dict) else error
        return Answered(id=identity or None, status="error", error=text if isinstance(text, str) else None, place=at)
    result = message.get("result")
    told, status = _result(result), _status(result)
    failed = status == "error" and isinstance(told, str)
    return Answered(id=identity or None, result=told, status=status, error=told if failed else None, place=at)


def _status(result: Any) -> CallStatus:
    if not isinstance(result, dict):
        return "ok"
    if "task" in result and "content" not in result:
        return "pending"
    return "error" if result.get("isError") is True else "ok"


def _result(result: Any) -> Any:
    """What a tool gave back: structured content if there is any, else the text, else all of it."""
    if not isinstance(result, dict):
        return result
    if result.get("structuredContent") is not None:
        return result["structuredContent"]
    content = result.get("content", result.get("toolResult", result))
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    whole = len(texts) == len(blocks) > 0 and all(isinstance(text, str) for text in texts)
    return structured("\n".join(map(str, texts))) if whole else content


FAMILY = families.Family(
    expected="messages of JSON-RPC 2.0",
    kind=_kind,
    whole=_whole,
)
