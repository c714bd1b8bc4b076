"""Events of `codex exec --json`: items that begin, change and end, each told by its id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rightcall.core.calls import CallKind, CallStatus, ToolCall, Trajectory
from rightcall.errors import TraceError
from rightcall.traces import documents, shapes
from rightcall.traces.conversation import structured

_PREFIXES: Final = ("thread.", "turn.", "item.")
_STATUSES: Final[dict[str, CallStatus]] = {"completed": "ok", "failed": "error", "declined": "refused"}
_KINDS: Final[dict[str, CallKind]] = {"mcp_tool_call": "mcp", "web_search": "server", "collab_tool_call": "agent"}
_SILENT: Final = frozenset({"agent_message", "assistant_message", "reasoning", "error", "todo_list", "user_message"})
_ARGUMENTS: Final = {
    "command_execution": ("command",),
    "file_change": ("changes",),
    "web_search": ("query", "action"),
    "collab_tool_call": ("prompt", "receiver_thread_ids"),
}


def is_event(value: Any) -> bool:
    """Whether a value is an event of a run."""
    kind = value.get("type") if isinstance(value, dict) else None
    if kind == "error":
        return isinstance(value.get("message"), str)
    return isinstance(kind, str) and kind.startswith(_PREFIXES) and (kind[:5] != "item." or _has_item(value))


def _has_item(value: dict[str, Any]) -> bool:
    return isinstance(value.get("item"), dict)


def is_own(value: Any) -> bool:
    """Whether a value is an event that no other format has."""
    return is_event(value) and value["type"] != "error"


def trajectories(events: Iterable[dict[str, Any]]) -> Iterator[Trajectory | TraceError]:
    """Each run: it begins with `thread.started`. The same thread, begun again, is resumed."""
    run = _Run()
    for event in events:
        if event["type"] == "thread.started" and run.began and run.thread != event.get("thread_id"):
            yield run.trajectory()
            run = _Run()
        run.add(event)
    yield run.trajectory()


class _Run:
    """A run as it goes on: its calls in the order in which they began."""

    def __init__(self) -> None:
        self.began = False
        self.thread: Any = None
        self._calls: dict[tuple[int, str], tuple[dict[str, Any], int, int]] = {}
        self._again: dict[tuple[int, str], tuple[int, str]] = {}
        self._warnings: list[str] = []
        self._output: Any = None
        self._part, self._turn, self._message = -1, -1, -1
        self._running: set[tuple[int, str]] = set()
        self._in_turn = False
        self._spoke = False

    def add(self, event: dict[str, Any]) -> None:
        """Take one event."""
        self.began = True
        kind = event["type"]
        if kind == "thread.started":
            self.thread, self._part = event.get("thread_id"), self._part + 1
        elif kind == "turn.started":
            self._turn, self._in_turn = self._turn + 1, True
            self._running.clear()
        elif kind in ("turn.completed", "turn.failed"):
            self._in_turn = False
        elif kind.startswith("item."):
            self._item(event["item"], kind)

    def _item(self, item: dict[str, Any], event: str) -> None:
        kind = _kind(item)
        self._spoke = self._spoke or kind != "error"
        if kind in ("agent_message", "assistant_message"):
            self._output = item.get("text")
        if kind in _SILENT:
            return
        identity = item.get("id")
        key = self._part, identity if isinstance(identity, str) else f"#{len(self._calls)}"
        own, key = key, self._again.get(key, key)
        if key in self._calls and key not in self._running and _is_another(self._calls[key][0], item):
            key = self._again[own] = self._part, f"{own[1]}, {len(self._calls)}"
        if key in self._calls:
            _, turn, message = self._calls[key]
        else:
            self._output = None
            self._message += not self._running
            turn, message = max(self._turn, 0), self._message
            self._running.add(key)
        if event == "item.completed":
            self._running.discard(key)
            item = {"status": "completed", **item}
        self._calls[key] = item, turn, message

    def trajectory(self) -> Trajectory | TraceError:
        """The run so far; one whose last turn did not end has a gap."""
        if too_many := documents.too_many_calls(len(self._calls)):
            return too_many
        calls = [self._call(*known) for known in self._calls.values()]
        thread = self.thread if isinstance(self.thread, str) else None
        return Trajectory(
            id=thread or "",
            conversation_id=thread,
            tool_calls=tuple(calls) if self._spoke else None,
            gaps=("the last turn did not end; calls may be missing",) if self._in_turn else (),
            output=self._output,
            warnings=tuple(self._warnings) if self._spoke else ("there is no item of the model",),
        )

    def _call(self, item: dict[str, Any], turn: int, message: int) -> ToolCall:
        made, notes = call(item)
        self._warnings += notes
        return msgspec.structs.replace(made, turn=turn, message=message)


def _is_another(known: dict[str, Any], item: dict[str, Any]) -> bool:
    """Whether an item is another call than the one that ended under its id."""
    return (_kind(known), known.get("tool")) != (_kind(item), item.get("tool"))


def _kind(item: dict[str, Any]) -> str:
    return str(item.get("type") or item.get("item_type"))


def call(item: dict[str, Any]) -> tuple[ToolCall, tuple[str, ...]]:
    """The call that an item tells of, and what there is to warn about.

    Only tools of MCP servers have their own name here; others are called by the type of the item.
    """
    kind, at = _kind(item), str(item.get("id"))
    name = item.get("tool") if kind in ("mcp_tool_call", "collab_tool_call") else kind
    known = kind in _ARGUMENTS or kind == "mcp_tool_call"
    notes = () if known else (f"{at} is of the unknown type `{kind[:60]}`",)
    made, more = shapes.named(name, _arguments(item, kind), id=item.get("id"), absent="not_captured", at=at)
    outcome = {**_outcome(item), "server": shapes.label(item.get("server"))}
    return msgspec.structs.replace(made, kind=_KINDS.get(kind, "client"), **outcome), (*notes, *more)


def _arguments(item: dict[str, Any], kind: str) -> Any:
    if kind == "mcp_tool_call":
        return item.get("arguments", UNSET)
    return {key: item[key] for key in _ARGUMENTS.get(kind, ()) if item.get(key) is not None} or UNSET


def _outcome(item: dict[str, Any]) -> dict[str, Any]:
    """Status, result and error of an item as it was last seen."""
    status = _STATUSES.get(str(item.get("status")), "requested")
    error, code = item.get("error"), item.get("exit_code")
    if error is not None or (isinstance(code, int) and code != 0 and status != "refused"):
        status = "error"
    result = structured(item.get("aggregated_output", item.get("result")))
    message = error.get("message") if isinstance(error, dict) else error
    if status == "error" and message is None and isinstance(result, str):
        message = result
    return {"status": status, "result": result, "error": message if isinstance(message, str) else None}
