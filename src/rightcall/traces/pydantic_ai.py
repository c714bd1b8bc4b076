"""Pydantic AI messages: requests and responses with parts, as `all_messages_json` writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core import jsontext
from rightcall.core.calls import CallStatus, ToolCall, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import conversation, families, records, shapes, stopping
from rightcall.traces.conversation import Answered, Asked, Event, Said

_CALLS: Final = frozenset({"tool-call", "builtin-tool-call"})
_KNOWN: Final = _CALLS | {
    "builtin-tool-return",
    "capability-load-delta",
    "compaction",
    "file",
    "instruction",
    "instruction-baseline",
    "instruction-delta",
    "instruction-digest",
    "model-settings-delta",
    "retry-feedback",
    "retry-prompt",
    "speech",
    "system-prompt",
    "text",
    "thinking",
    "tool-availability-delta",
    "tool-return",
    "user-prompt",
}
_OUTCOMES: Final[dict[str, CallStatus]] = {"success": "ok", "failed": "error", "retried": "error", "denied": "refused"}
"""What became of a call by the outcome of its return; `interrupted` says that nothing is known of it."""


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("kind") not in ("request", "response"):
        return False
    parts = value.get("parts")
    return isinstance(parts, list) and all(
        isinstance(part, dict) and isinstance(part.get("part_kind"), str) for part in parts
    )


def _kind(value: Any) -> str | None:
    if _is_message(value):
        return families.MESSAGE
    history = value.get("messages") if isinstance(value, dict) else None
    known = isinstance(history, list) and bool(history) and all(map(_is_message, history))
    return families.RECORD if known else None


def _whole(value: Any) -> Iterable[Trajectory]:
    if isinstance(value, list):
        return [_trajectory(value, path="")]
    made = _trajectory(value["messages"], path="messages")
    return [msgspec.structs.replace(made, **records.beside(value))]


def _trajectory(messages: list[Any], path: str) -> Trajectory:
    warnings: list[str] = []
    told = _events(messages, path, warnings)
    made = conversation.trajectory(messages, told, warnings, path=path)
    identity = next((one["conversation_id"] for one in messages if isinstance(one.get("conversation_id"), str)), None)
    return msgspec.structs.replace(
        made, gaps=(*made.gaps, *_gaps(messages, path)), conversation_id=identity, output=_output(messages)
    )


def _events(messages: list[Any], path: str, warnings: list[str]) -> Iterator[Event]:
    for index, message in enumerate(messages):
        at = f"{path}[{index}]"
        if not _is_message(message):
            raise TraceError(f"expected a message of Pydantic AI; found {shapes.kind(message)}", Where(path=at))
        parts = [(part, f"{at}.parts[{number}]") for number, part in enumerate(message["parts"])]
        if message["kind"] == "response":
            yield Asked(tuple(_call(part, place, warnings) for part, place in parts if part["part_kind"] in _CALLS))
        elif any(part["part_kind"] == "user-prompt" for part, _ in parts):
            yield Said()
        for part, place in parts:
            yield from _answered(part, place)
            if part["part_kind"] not in _KNOWN:
                warnings += shapes.unknown(place, part)


def _call(part: dict[str, Any], place: str, warnings: list[str]) -> ToolCall:
    """A call; empty or missing `args` are those of a tool that takes none."""
    call, notes = shapes.named(part.get("tool_name"), part.get("args"), id=part.get("tool_call_id"), at=place)
    warnings += notes
    if part["part_kind"] == "builtin-tool-call":
        return msgspec.structs.replace(call, kind="server")
    return msgspec.structs.replace(call, kind="output") if _is_output(call.name, part) else call


def _is_output(name: str, part: dict[str, Any]) -> bool:
    """Whether a call hands over the final result: such tools are named `final_result` unless the user names them."""
    return part.get("tool_kind") == "output" or name == "final_result" or name.startswith("final_result_")


def _answered(part: dict[str, Any], place: str) -> Iterator[Answered]:
    kind, name = part["part_kind"], part.get("tool_name")
    if kind in ("tool-return", "builtin-tool-return"):
        status = _OUTCOMES.get(str(part.get("outcome") or "success"), "requested")
    elif kind == "retry-prompt" and name:
        status = "error"
    else:
        return
    content, identity = part.get("content"), part.get("tool_call_id")
    yield Answered(
        id=identity if isinstance(identity, str) and identity else None,
        name=name if isinstance(name, str) and name else None,
        result=content,
        status=status,
        error=_text(content) if status in ("error", "refused") else None,
        place=place,
    )


def _text(content: Any) -> str:
    return content if isinstance(content, str) else jsontext.encode(content).decode("utf-8", "replace")


def _gaps(messages: list[Any], path: str) -> Iterator[str]:
    """Responses that were interrupted, that stopped for calls which are not there, or that sum up others."""
    spoken = False
    for index, message in enumerate(messages):
        if message["kind"] != "response":
            continue
        if not spoken and any(part["part_kind"] == "compaction" for part in message["parts"]):
            yield f"{path}[{index}] sums up messages that are not recorded"
        spoken = True
        if message.get("state") not in (None, "complete"):
            yield f"{path}[{index}] is a response in state `{message['state']}`"
        kinds = [part["part_kind"] for part in message["parts"]]
        text = bool(kinds) and kinds[-1] == "text"
        calls = any(kind in _CALLS for kind in kinds)
        yield from stopping.gaps(message.get("finish_reason"), calls=calls, text=text, at=f"{path}[{index}]")


def _output(messages: list[Any]) -> str | None:
    """The text of the last response, if it asks for no call."""
    last: dict[str, Any] = messages[-1] if messages else {"kind": "request"}
    if last["kind"] != "response" or any(part["part_kind"] in _CALLS for part in last["parts"]):
        return None
    texts = [part.get("content") for part in last["parts"] if part["part_kind"] == "text"]
    return "".join(text for text in texts if isinstance(text, str)) or None


_FAMILY: Final = families.Family(expected="messages of Pydantic AI, with `kind` and `parts`", kind=_kind, whole=_whole)


def claims(head: bytes) -> bool:
    """Whether the first value is a message, a list of messages, or a record that holds them."""
    return families.claims(_FAMILY, head)


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every conversation, in order; one that cannot be read is yielded as an error."""
    return families.read(_FAMILY, chunks, file)
