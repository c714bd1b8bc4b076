"""A list of items into what happens in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import UNSET

from rightcall.core.calls import ToolCall
from rightcall.errors import TraceError, Where
from rightcall.traces import shapes
from rightcall.traces.conversation import Answered, Asked, Event, Said
from rightcall.traces.responses.items import (
    ASIDE,
    MODEL_ROLES,
    OTHER_ROLES,
    SILENT,
    answered,
    call,
    is_item,
    kind_of,
    text_or_none,
)

_WRAPPERS: Final = frozenset({"parallel", "multi_tool_use", "multi_tool_use.parallel"})


def events(items: Iterable[Any], path: str, warnings: list[str], offered: Iterable[str] = ()) -> Iterator[Event]:
    """What happens in a list of items. Calls that stand together, without a result between, are of one message."""
    listed = list(items)
    story = _Story(warnings, frozenset(offered), _approved(listed))
    for index, item in enumerate(listed):
        yield from story.events(item, f"{path}[{index}]")
    yield from story.flushed()


def _approved(items: list[Any]) -> frozenset[str]:
    """The requests for approval that an executed call refers to: call and request are one."""
    found = (item.get("approval_request_id") for item in items if kind_of(item) == "mcp_call")
    return frozenset(one for one in found if isinstance(one, str))


class _Story:
    """Reads items one after another; holds the calls of the message of the model that is not over yet."""

    def __init__(self, warnings: list[str], offered: frozenset[str], approved: frozenset[str]) -> None:
        self._warnings = warnings
        self._offered = offered
        self._approved = approved
        self._calls: list[ToolCall] = []
        self._speaking = False
        self._unwrapped: dict[str, int] = {}

    def flushed(self) -> Iterator[Event]:
        """The message of the model that is over now."""
        if self._speaking:
            yield Asked(tuple(self._calls))
        self._calls, self._speaking = [], False

    def events(self, item: Any, at: str) -> Iterator[Event]:
        kind = kind_of(item)
        if not kind:
            raise TraceError(f"expected an item, an object with a type; found {_found(item)}", Where(path=at))
        if kind == "message":
            yield from self._message(item, at)
        elif kind.endswith("_output") and (kind not in ASIDE or _is_answer(item)):
            yield from self.flushed()
            yield from self._answers(item, at)
        elif kind == "mcp_approval_response":
            yield from self.flushed()
            if item.get("approve") is False:
                yield Answered(id=text_or_none(item.get("approval_request_id")), status="refused", place=at)
        elif kind in SILENT or (kind == "mcp_approval_request" and str(item.get("id")) in self._approved):
            self._speaking = True
        elif kind.endswith("_call") or kind == "mcp_approval_request":
            yield from self._asks(item, at)
        elif kind not in ASIDE:
            self._warnings.append(f"{at} is an item of the unknown type `{kind[:60]}` and is not read")

    def _message(self, item: dict[str, Any], at: str) -> Iterator[Event]:
        role = str(item.get("role"))
        if role in MODEL_ROLES | OTHER_ROLES and not is_item(item):
            raise TraceError("expected an item; found a message of another format", Where(path=at))
        if role in MODEL_ROLES:
            self._speaking = True
        elif role in OTHER_ROLES:
            yield from self.flushed()
            yield from [Said()] if role == "user" else []
        else:
            raise TraceError(f"unknown role {role!r}", Where(path=f"{at}.role"))

    def _asks(self, item: dict[str, Any], at: str) -> Iterator[Event]:
        self._speaking = True
        made, notes = call(item, at)
        self._warnings += notes
        parts = self._parts(made)
        self._calls += parts
        if made.status not in ("requested", "pending"):
            yield from self.flushed()

    def _parts(self, made: ToolCall) -> list[ToolCall]:
        """The calls inside a wrapper of parallel calls, or the call itself."""
        if made.name not in _WRAPPERS or made.name in self._offered:
            return [made]
        uses = made.arguments.get("tool_uses") if isinstance(made.arguments, dict) else None
        if not isinstance(uses, list) or not uses or not all(map(_is_use, uses)):
            return [made]
        self._unwrapped[made.id or ""] = len(uses)
        self._warnings.append(f"{made.sources[0]} wraps {len(uses)} parallel calls; each is read as a call")
        return [_unwrapped(made, use, number) for number, use in enumerate(uses)]

    def _answers(self, item: dict[str, Any], at: str) -> Iterator[Event]:
        answer = answered(item, at)
        for _ in range(self._unwrapped.pop(answer.id or "", 1)):
            yield answer


def _is_answer(item: dict[str, Any]) -> bool:
    """Whether the tools that a search found answer a search that the client ran."""
    return kind_of(item) == "tool_search_output" and isinstance(item.get("call_id"), str)


def _is_use(use: Any) -> bool:
    return isinstance(use, dict) and isinstance(use.get("recipient_name"), str)


def _unwrapped(made: ToolCall, use: dict[str, Any], number: int) -> ToolCall:
    inner, _ = shapes.named(
        use["recipient_name"].removeprefix("functions."),
        use.get("parameters", UNSET),
        id=made.id,
        absent="not_captured",
        at=f"{made.sources[0]}.tool_uses[{number}]",
    )
    return inner


def _found(item: Any) -> str:
    if not isinstance(item, dict):
        return shapes.kind(item)
    keys = ", ".join(f"`{key[:40]}`" for key in list(item)[:8])
    return f"an object with the keys {keys}" if keys else "an empty object"
