"""Model messages, UI messages, those of Mastra, and steps, into one trajectory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import ToolCall, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import conversation, shapes, stopping
from rightcall.traces.conversation import Asked, Event, Said
from rightcall.traces.vercel_ai import parts

_ROLES: Final = frozenset({"system", "user", "assistant", "tool"})
_PARTS: Final = frozenset(
    {
        "text",
        "reasoning",
        "redacted-reasoning",
        "file",
        "image",
        "source",
        "source-url",
        "source-document",
        "custom",
        "step-start",
        "dynamic-tool",
        "error",
    }
)


def is_message(value: Any) -> bool:
    """Whether a value may be a message of the SDK: a role, and parts that no other format writes."""
    if not isinstance(value, dict) or str(value.get("role")) not in _ROLES or "tool_calls" in value:
        return False
    if isinstance(value.get("content"), str) and "parts" not in value:
        return True
    listed = _listed(value)
    return listed is not None and all(isinstance(part, dict) and _is_part(part) for part, _ in listed)


def _is_part(part: dict[str, Any]) -> bool:
    kind = part.get("type")
    return isinstance(kind, str) and (kind in _PARTS or kind.startswith(("tool-", "data-", "reasoning-")))


def is_distinctive(value: Any) -> bool:
    """Whether a message says more than that it has a role and text: it has calls or results of the SDK."""
    if not is_message(value):
        return False
    if isinstance(value.get("toolInvocations"), list):
        return True
    return any(parts.is_call(part) or str(part.get("type")) in parts.RESULTS for part, _ in _listed(value) or ())


def is_step(value: Any) -> bool:
    """Whether a value is a step of `generateText`, or a whole result that repeats its last step.

    As JSON, steps of newer versions have only their content.
    """
    if not isinstance(value, dict) or "role" in value:
        return False
    if isinstance(value.get("toolCalls"), list):
        return bool({"finishReason", "steps", "text"} & value.keys())
    content = value.get("content")
    if not isinstance(content, list) or not isinstance(value.get("finishReason"), str):
        return False
    return all(isinstance(part, dict) and _is_part(part) for part in content)


def steps(value: dict[str, Any]) -> list[Any] | None:
    """The steps of a whole result, the first of which tells whether it is one."""
    found = value.get("steps")
    return found if "role" not in value and isinstance(found, list) and found and is_step(found[0]) else None


def trajectory(messages: list[Any], gaps: tuple[str, ...] = (), path: str = "messages") -> Trajectory:
    """The trajectory of one conversation of messages or steps."""
    warnings: list[str] = []
    told = _events(messages, path, warnings)
    output = _output(messages[-1]) if messages else None
    gaps = (*gaps, *(gap for index, message in enumerate(messages) for gap in _stopped(message, f"{path}[{index}]")))
    return conversation.trajectory(messages, told, warnings, path=path, gaps=gaps, output=output)


def _stopped(step: Any, at: str) -> Iterator[str]:
    """A step that stopped for calls which are not there, or that was cut off."""
    if is_step(step):
        calls = any(parts.is_call(part) for part, _ in _step(step, at))
        yield from stopping.gaps(step.get("finishReason"), calls=calls, text=bool(_text(step)), at=at)


def _text(step: dict[str, Any]) -> str:
    """What the model said in a step."""
    texts = [part.get("text") for part, _ in _step(step, "") if part.get("type") == "text"]
    return str(step.get("text") or "".join(text for text in texts if isinstance(text, str)))


def _events(messages: list[Any], path: str, warnings: list[str]) -> Iterator[Event]:
    for index, message in enumerate(messages):
        at = f"{path}[{index}]"
        if not isinstance(message, dict):
            raise TraceError(f"expected a message, an object; found {shapes.kind(message)}", Where(path=at))
        role = "assistant" if is_step(message) else message.get("role")
        if str(role) not in _ROLES:
            raise TraceError(f"unknown role {role!r}", Where(path=f"{at}.role"))
        if message.get("tool_calls"):
            raise TraceError("expected a message of the Vercel AI SDK; found `tool_calls`", Where(path=at))
        if role == "user":
            yield Said()
        yield from _told(message, role, at, warnings)


def _told(message: dict[str, Any], role: Any, at: str, warnings: list[str]) -> Iterator[Event]:
    """The calls and the results of a message; a UI message holds several messages of the model."""
    listed = _step(message, at) if is_step(message) else _parts(message, at)
    for step in _steps(listed):
        calls = [(part, place) for part, place in step if parts.is_call(part)]
        if role == "assistant":
            yield Asked(tuple(_calls(calls, [part for part, _ in step], warnings)))
        elif calls:
            warnings.append(f"{at} has calls although it is no message of the model; they are not read")
        yield from (parts.answered(part, place) for part, place in step if str(part.get("type")) in parts.RESULTS)


def _calls(calls: list[tuple[dict[str, Any], str]], step: list[Any], warnings: list[str]) -> Iterator[ToolCall]:
    pending = parts.waiting(step)
    for part, place in parts.unique(calls):
        made, notes = parts.call(part, place)
        warnings += notes
        waits = made.status == "requested" and made.id in pending
        yield msgspec.structs.replace(made, status="pending") if waits else made


def _steps(listed: list[tuple[dict[str, Any], str]]) -> list[list[tuple[dict[str, Any], str]]]:
    """Parts, cut where a UI message begins the next step."""
    steps: list[list[tuple[dict[str, Any], str]]] = [[]]
    for part, place in listed:
        if part.get("type") == "step-start" and steps[-1]:
            steps.append([])
        elif part.get("type") != "step-start":
            steps[-1].append((part, place))
    return steps


def _parts(message: dict[str, Any], at: str) -> list[tuple[dict[str, Any], str]]:
    """The parts of a message; `TraceError` for what belongs to another format."""
    listed = _listed(message)
    if listed is None and isinstance(message.get("content"), str | None):
        return []
    if listed is None:
        found = shapes.kind(message.get("content"))
        raise TraceError(f"expected text or an array of parts; found {found}", Where(path=f"{at}.content"))
    for part, place in listed:
        if not isinstance(part, dict) or not _is_part(part):
            found = f"type `{part['type']}`" if isinstance(part, dict) and "type" in part else shapes.kind(part)
            raise TraceError(f"expected a part of the Vercel AI SDK; found {found}", Where(path=f"{at}.{place}"))
    return [(part, f"{at}.{place}") for part, place in listed]


def _listed(message: dict[str, Any]) -> list[tuple[Any, str]] | None:
    """Every part with its place: of `content`, of `parts`, and of the older `toolInvocations`."""
    content = message.get("content")
    holders = [(message, "parts"), (message, "content"), (message, "toolInvocations")]
    if isinstance(content, dict):
        holders += [(content, "parts"), (content, "toolInvocations")]
    found: list[tuple[Any, str]] = []
    known = False
    for holder, key in holders:
        entries = holder.get(key)
        if isinstance(entries, list):
            known = True
            name = key if holder is message else f"content.{key}"
            found += [(_typed(entry, key), f"{name}[{index}]") for index, entry in enumerate(entries)]
    return found if known else None


def _typed(entry: Any, key: str) -> Any:
    if key == "toolInvocations" and isinstance(entry, dict):
        return {**entry, "type": "tool-invocation"}
    return entry


def _step(step: dict[str, Any], at: str) -> list[tuple[dict[str, Any], str]]:
    """The parts of a step: its content, or the calls and results of older versions."""
    keys = ("content",) if isinstance(step.get("content"), list) else ("toolCalls", "toolResults")
    kinds = {"toolCalls": "tool-call", "toolResults": "tool-result"}
    return [
        ({"type": kinds.get(key), **entry}, f"{at}.{key}[{index}]")
        for key in keys
        for index, entry in enumerate(step[key] if isinstance(step.get(key), list) else ())
        if isinstance(entry, dict)
    ]


def _output(message: Any) -> str | None:
    """The text of the last message, if the model wrote it and asked for no call."""
    if not isinstance(message, dict):
        return None
    if is_step(message):
        return None if any(parts.is_call(part) for part, _ in _step(message, "")) else _text(message) or None
    content = message.get("content")
    if message.get("role") != "assistant" or any(parts.is_call(part) for part, _ in _listed(message) or ()):
        return None
    if isinstance(content, str):
        return content or None
    texts = [part.get("text") for part, _ in _listed(message) or () if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str)) or None
