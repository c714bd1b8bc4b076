"""Requests, responses and logs of exchanges into trajectories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import ToolSpec, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import conversation, exchanges, records, responses, shapes
from rightcall.traces.openai_responses import stream

_REQUEST_KEYS: Final = frozenset(
    {"instructions", "tools", "previous_response_id", "conversation", "reasoning", "max_output_tokens", "store", "text"}
)
_UNFINISHED: Final = frozenset({"in_progress", "queued", "failed", "cancelled"})


def is_body(value: Any) -> bool:
    """Whether a value is a request or a response body."""
    if not isinstance(value, dict) or value.keys() & {"messages", "choices", "role", "request"}:
        return False
    return _is_response(value) or _is_request(value)


def _is_response(value: dict[str, Any]) -> bool:
    output = value.get("output")
    if value.get("object") == "response":
        return True
    if not isinstance(output, list) or not output or "type" in value:
        return False
    return all(responses.is_item(item) and "type" in item for item in output)


def _is_request(value: dict[str, Any]) -> bool:
    given = value.get("input")
    if "type" in value or "name" in value:
        return False
    if isinstance(given, list):
        known = "model" in value or bool(_REQUEST_KEYS & value.keys()) or any(map(responses.is_own, given))
        return known and bool(given) and all(map(responses.is_item, given))
    return isinstance(given, str) and "model" in value and bool(_REQUEST_KEYS & value.keys())


def is_exchange(value: dict[str, Any]) -> bool:
    """Whether a request and its response are of this format."""
    response = value["response"]
    if isinstance(response, list):
        answered = bool(response) and all(map(stream.is_event, response))
    else:
        answered = isinstance(response, dict) and _is_response(response)
    if answered:
        return _has_input(value["request"])
    failed = not response or (isinstance(response, dict) and "error" in response)
    return failed and is_body(value["request"])


def _has_input(request: dict[str, Any]) -> bool:
    given = request.get("input")
    return given is None or isinstance(given, str) or (isinstance(given, list) and all(map(responses.is_item, given)))


def trajectory(value: Any) -> Trajectory:
    """The trajectory of a list of items, one item, or a body."""
    if isinstance(value, list):
        return _told(value, responses.offered(None, value), path="")
    if not isinstance(value, dict) or (not is_body(value) and responses.is_item(value)):
        return _told([value], (), path="")
    history, reply = _items(value, "input"), _items(value, "output")
    items = [*history, *(reply or ())]
    gaps = (*_gaps(value), *_earlier(value))
    path = "input" if history else "output"
    made = _told(items, responses.offered(value.get("tools"), items), gaps, path)
    if value.get("status") == "completed" and made.tool_calls is None:
        made = msgspec.structs.replace(made, tool_calls=(), warnings=made.warnings[:-1])
    return msgspec.structs.replace(made, **{**records.beside(value), **_identity(value)})


def _told(items: list[Any], tools: tuple[ToolSpec, ...], gaps: tuple[str, ...] = (), path: str = "input") -> Trajectory:
    warnings: list[str] = []
    events = responses.events(items, path, warnings, (tool.name for tool in tools))
    gaps = (*gaps, *responses.replaced(items, path))
    return conversation.trajectory(
        items, events, warnings, path=path, tools=tools, gaps=gaps, output=responses.output(items)
    )


def _items(body: dict[str, Any], key: str) -> list[Any]:
    items = conversation.structured(body.get(key))
    if isinstance(items, str):
        return [{"role": "user" if key == "input" else "assistant", "content": items}]
    if items is not None and not isinstance(items, list):
        raise TraceError(f"expected an array of items; found {shapes.kind(items)}", Where(path=key))
    return items or []


def _gaps(body: dict[str, Any]) -> tuple[str, ...]:
    """What the status says is missing."""
    status, output = body.get("status"), body.get("output")
    last = output[-1] if isinstance(output, list) and output else None
    cut = status == "incomplete" and responses.kind_of(last) != "message"
    if str(status) not in _UNFINISHED and not cut:
        silent = body.get("object") == "response" and output is None
        return ("the response has no `output`; calls may be missing",) if silent else ()
    return (f"the response has the status `{status}`; calls may be missing",)


def _earlier(body: dict[str, Any]) -> tuple[str, ...]:
    """That a body continues something which is not in it."""
    if isinstance(identity := body.get("previous_response_id"), str):
        return (f"what came before, the response `{identity[:60]}`, is not recorded",)
    return ()


def _identity(body: dict[str, Any]) -> dict[str, str]:
    found = records.identity(body)
    conversation_id = body.get("conversation")
    if isinstance(conversation_id, dict):
        conversation_id = conversation_id.get("id")
    return {"conversation_id": conversation_id, **found} if isinstance(conversation_id, str) else found


def log(values: list[Any]) -> Iterator[Trajectory | TraceError]:
    """The conversations of a log, each by its longest history; `None` is an exchange of another format."""
    known = _Known()
    told = [None if value is None else known.exchange(value) for value in values]
    yield from exchanges.log(told, responses.key, _told)


class _Known:
    """What earlier exchanges of a log told: whole conversations by response id, and items by their id."""

    def __init__(self) -> None:
        self._conversations: dict[str, list[Any]] = {}
        self._items: dict[str, Any] = {}

    def exchange(self, value: dict[str, Any]) -> exchanges.Exchange:
        """An exchange with all that it builds upon."""
        request, response = value["request"], _response(value["response"])
        given, lost = self._resolved(_items(request, "input"))
        before, gaps = self._before(request)
        items = [*given, *_items(response, "output")]
        self._items |= {item["id"]: item for item in items if isinstance(item.get("id"), str)}
        made = exchanges.Exchange(
            history=[*before, *filter(responses.is_told, given)],
            reply=list(filter(responses.is_told, _items(response, "output"))) if response else None,
            gaps=(*gaps, *lost, *responses.replaced(given, "input"), *_gaps(response)),
            tools=responses.offered(request.get("tools"), items),
            identity=_identity(request),
            continues=any(responses.is_own(item) or item.get("role") == "assistant" for item in given),
        )
        if isinstance(response.get("id"), str):
            self._conversations[response["id"]] = made.whole
        if identity := made.identity.get("conversation_id"):
            self._conversations[identity] = made.whole
        return made

    def _before(self, request: dict[str, Any]) -> tuple[list[Any], tuple[str, ...]]:
        """What a request continues: an earlier response, or a conversation that the server keeps."""
        identity = request.get("previous_response_id")
        if isinstance(identity, str):
            found = self._conversations.get(identity)
            return (found, ()) if found is not None else ([], _earlier(request))
        return self._conversations.get(_identity(request).get("conversation_id", ""), []), ()

    def _resolved(self, items: list[Any]) -> tuple[list[Any], tuple[str, ...]]:
        """The items of a request, with those that it refers to in their place."""
        lost: list[str] = []
        resolved = []
        for item in items:
            if responses.kind_of(item) != "item_reference":
                resolved.append(item)
            elif (found := self._items.get(str(item.get("id")))) is not None:
                resolved.append(found)
            else:
                lost.append(f"the item `{str(item.get('id'))[:60]}` that a request refers to is not recorded")
        return resolved, tuple(lost)


def _response(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return next(iter(stream.responses(value)), {})
    return value if isinstance(value, dict) and "error" not in value.keys() - _is_null(value) else {}


def _is_null(value: dict[str, Any]) -> set[str]:
    return {key for key, part in value.items() if part is None}
