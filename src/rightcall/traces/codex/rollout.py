"""Rollout files, `{"timestamp": …, "type": …, "payload": …}`: what the model said are the `response_item` lines.

Events (`event_msg`) tell of the same calls once more, as they end: they only say what became of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import CallStatus, ToolCall, Trajectory
from rightcall.errors import TraceError
from rightcall.traces import conversation, responses, toolspecs

_TYPES: Final = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_ENDS: Final = frozenset({"exec_command_end", "mcp_tool_call_end", "patch_apply_end", "dynamic_tool_call_response"})
_REJECTED: Final = frozenset({"exec command rejected by user", "patch rejected by user", "rejected by user"})
"""What a session says as the result of a call that its user did not allow."""

_ASKS: Final = frozenset({"exec_approval_request", "apply_patch_approval_request"})


def is_line(value: Any) -> bool:
    """Whether a value is a line of a rollout, of a known type or a newer one."""
    return isinstance(value, dict) and isinstance(value.get("type"), str) and isinstance(value.get("payload"), dict)


def is_own(value: Any) -> bool:
    """Whether a value is a line of a known type."""
    return is_line(value) and value["type"] in _TYPES


def trajectories(lines: Iterable[dict[str, Any]]) -> Iterator[Trajectory | TraceError]:
    """Each session. One that was forked begins with the lines, and the heads, of those it comes from."""
    session: list[dict[str, Any]] = []
    for line in lines:
        if _begins_another(session, line):
            yield from _told(session)
            session = []
        session.append(line)
    yield from _told(session)


def _begins_another(session: list[dict[str, Any]], line: dict[str, Any]) -> bool:
    if line["type"] != "session_meta":
        return False
    head = _head(session)
    return bool(head) and "forked_from_id" not in head and line["payload"].get("id") != head.get("id")


def _head(session: list[dict[str, Any]]) -> dict[str, Any]:
    return next((line["payload"] for line in session if line["type"] == "session_meta"), {})


def _told(session: list[dict[str, Any]]) -> Iterator[Trajectory | TraceError]:
    try:
        yield _trajectory(session)
    except TraceError as error:
        error.record_id = str(_head(session).get("id") or "") or None
        yield error


def _trajectory(session: list[dict[str, Any]]) -> Trajectory:
    items = [line["payload"] for line in session if line["type"] == "response_item"]
    head, warnings = _head(session), list[str]()
    told = conversation.trajectory(
        items,
        responses.events(items, "response_item", warnings),
        warnings,
        path="response_item",
        tools=toolspecs.tools(head.get("dynamic_tools")),
        output=responses.output(items),
    )
    gaps = (*told.gaps, *_replaced(session))
    ends, asked = _events(session, _ENDS), _events(session, _ASKS)
    ids = Counter(call.id for call in told.tool_calls or ())
    known = {call_id: payload for call_id, payload in ends.items() if ids[call_id] == 1}
    unknown = [call_id for call_id, end in ends.items() if not ids[call_id] and end.get("source") != "user_shell"]
    identity = head.get("id")
    return msgspec.structs.replace(
        told,
        id=identity if isinstance(identity, str) else "",
        conversation_id=identity if isinstance(identity, str) else None,
        gaps=gaps,
        tool_calls=told.tool_calls and tuple(_ended(call, known, call.id in asked) for call in told.tool_calls),
        warnings=(*told.warnings, *(f"an event tells of a call `{one[:60]}` that no item asks for" for one in unknown)),
    )


def _replaced(session: list[dict[str, Any]]) -> Iterator[str]:
    """The gap of a summary that stands in the place of what the model said, if that is not in the file (G12)."""
    for line in session:
        if line["type"] == "response_item" and not responses.is_compaction(line["payload"]):
            if str(line["payload"].get("role")) not in responses.OTHER_ROLES:
                return
        elif line["type"] == "compacted" or line["type"] == "response_item":
            yield "the session begins with a summary of messages that are not recorded"
            return


def _events(session: list[dict[str, Any]], kinds: frozenset[str]) -> dict[str, dict[str, Any]]:
    """The events of some kinds by the id of their call."""
    payloads = (line["payload"] for line in session if line["type"] == "event_msg")
    found = (payload for payload in payloads if str(payload.get("type")) in kinds)
    return {payload["call_id"]: payload for payload in found if isinstance(payload.get("call_id"), str)}


def _ended(call: ToolCall, ends: dict[str, dict[str, Any]], asked: bool) -> ToolCall:
    end = ends.get(call.id or "")
    if (isinstance(call.result, str) and call.result in _REJECTED) or (end or {}).get("status") == "declined":
        return msgspec.structs.replace(call, status="refused")
    if end is None:
        status: CallStatus = "pending" if asked and call.status == "requested" else call.status
        return msgspec.structs.replace(call, status=status)
    error = _error(end)
    if error is None:
        return msgspec.structs.replace(call, status="ok" if call.status == "requested" else call.status)
    return msgspec.structs.replace(call, status="error", error=call.error or error or None)


def _error(end: dict[str, Any]) -> str | None:
    """What an event says went wrong, empty if it only says that something did; `None` if nothing did."""
    result = end.get("result")
    if isinstance(result, dict) and "Err" in result:
        return str(result["Err"])
    inner = result.get("Ok") if isinstance(result, dict) else None
    flagged = isinstance(inner, dict) and (inner.get("isError") is True or inner.get("is_error") is True)
    code = end.get("exit_code")
    if flagged or end.get("success") is False or (isinstance(code, int) and code != 0):
        text = end.get("stderr") or end.get("aggregated_output")
        return text if isinstance(text, str) else ""
    return None
