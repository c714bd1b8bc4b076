"""The parts of messages, steps and streams of the Vercel AI SDK: calls and what became of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import CallStatus, ToolCall
from rightcall.traces import conversation, shapes
from rightcall.traces.conversation import Answered

_OUTPUTS: Final = frozenset({"text", "json", "error-text", "error-json", "content", "execution-denied"})
_STATES: Final[dict[str, CallStatus]] = {
    "output-available": "ok",
    "result": "ok",
    "output-error": "error",
    "output-denied": "refused",
    "approval-requested": "pending",
}
RESULTS: Final = frozenset({"tool-result", "tool-error", "tool-output-denied"})
_NO_TOOLS: Final = RESULTS | {"tool-call", "tool-approval-request", "tool-approval-response"}


def is_call(part: Any) -> bool:
    """Whether a part is a call: of model messages, of UI messages, or of older UI messages and Mastra."""
    if not isinstance(part, dict):
        return False
    kind = str(part.get("type"))
    return kind in ("tool-call", "dynamic-tool", "tool-invocation") or (
        kind.startswith("tool-") and kind not in _NO_TOOLS and bool({"state", "toolCallId"} & part.keys())
    )


def call(part: dict[str, Any], place: str) -> tuple[ToolCall, tuple[str, ...]]:
    """The call that a part writes, with its outcome where the part says it."""
    inner = part["toolInvocation"] if isinstance(part.get("toolInvocation"), dict) else part
    source = next((inner[key] for key in ("input", "args", "rawInput") if inner.get(key) is not None), msgspec.UNSET)
    name = _name(part, inner)
    made, notes = shapes.named(name, source, id=_id(inner), absent="not_captured", at=place)
    if inner.get("state") in ("input-streaming", "partial-call"):
        made = _cut(made, source)
    if part.get("providerExecuted") is True:
        made = msgspec.structs.replace(made, kind="server")
    return _with_outcome(made, inner), notes


def _name(part: dict[str, Any], inner: dict[str, Any]) -> Any:
    kind = str(part.get("type"))
    known = inner.get("toolName", inner.get("name"))
    if known is None and kind.startswith("tool-") and kind not in ("tool-call", "tool-invocation"):
        return kind.removeprefix("tool-")
    return known


def _id(inner: dict[str, Any]) -> Any:
    return inner.get("toolCallId") or inner.get("id")


def _cut(made: ToolCall, source: Any) -> ToolCall:
    """A call whose input was still on its way."""
    text = source if isinstance(source, str) else None
    return msgspec.structs.replace(made, arguments=None, arguments_state="truncated", arguments_text=text)


def _with_outcome(made: ToolCall, inner: dict[str, Any]) -> ToolCall:
    status = _STATES.get(str(inner.get("state")), "requested")
    approval = inner.get("approval")
    if status == "ok" and inner.get("isError") is True:
        status = "error"
    if isinstance(approval, dict) and approval.get("approved") is False:
        status = "refused"
    if status == "requested":
        return made
    result = inner.get("output", inner.get("result"))
    error = inner.get("errorText") if status == "error" else None
    return msgspec.structs.replace(
        made,
        status=status,
        result=conversation.structured(result),
        error=error if isinstance(error, str) else None,
    )


def cut_call(name: str, id: str, text: str) -> dict[str, Any]:
    """A part for a call of a stream whose input never came whole."""
    return {"type": "tool-call", "toolCallId": id, "toolName": name, "input": text, "state": "input-streaming"}


def answered(part: dict[str, Any], place: str) -> Answered:
    """The result, error or refusal that a part tells."""
    result, status = _result(part)
    name, identity = part.get("toolName"), part.get("toolCallId")
    failed = status == "error"
    return Answered(
        id=identity if isinstance(identity, str) and identity else None,
        name=name if isinstance(name, str) and name else None,
        result=result,
        status=status,
        error=(result if isinstance(result, str) else str(result)) if failed else None,
        place=place,
    )


def _result(part: dict[str, Any]) -> tuple[Any, CallStatus]:
    """The value and the status; only messages, which do not repeat the input, wrap the output in a type."""
    kind = part.get("type")
    if kind == "tool-output-denied":
        return None, "refused"
    output = part.get("output", part.get("result", part.get("error")))
    if kind == "tool-error" or part.get("isError") is True:
        return output, "error"
    if "input" in part or not isinstance(output, dict) or str(output.get("type")) not in _OUTPUTS:
        return output, "ok"
    if output["type"] == "execution-denied":
        return output.get("reason"), "refused"
    return output.get("value"), "error" if output["type"].startswith("error") else "ok"


def waiting(parts: list[Any]) -> frozenset[str]:
    """The ids of calls for which somebody's approval is asked."""
    asked = (part for part in parts if isinstance(part, dict) and part.get("type") == "tool-approval-request")
    return frozenset(str(part.get("toolCallId")) for part in asked)


def unique(parts: list[tuple[dict[str, Any], str]]) -> Iterator[tuple[dict[str, Any], str]]:
    """Calls of one message without those that an older field repeats under the same id."""
    seen: set[str] = set()
    for part, place in parts:
        inner = part["toolInvocation"] if isinstance(part.get("toolInvocation"), dict) else part
        identity = _id(inner)
        if "toolInvocations" in place and isinstance(identity, str) and identity in seen:
            continue
        seen.add(str(identity))
        yield part, place
