"""The events of GenAI until 1.36, on a span, in log records that belong to it, or as a list in an attribute."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rightcall.traces.conventions import foreign, parts
from rightcall.traces.conventions.model import Message, Said
from rightcall.traces.spans import Event, Span, child, decoded, text

_ROLES: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_CHOICE: Final = "gen_ai.choice"
_LISTS: Final = ("events", "all_messages_events")
DETAILS: Final = "gen_ai.client.inference.operation.details"


def answered(span: Span) -> bool:
    """Whether an event of the span says what the model put out."""
    return any(name == _CHOICE for name, _ in _bodies(span))


def detailed(span: Span) -> Span:
    """The span with the attributes that its events of details hold; its own go first."""
    details = [event.attributes for event in span.events if event.name == DETAILS]
    if not details:
        return span
    merged: dict[str, Any] = {}
    for attributes in (*details, span.attributes):
        merged |= attributes
    return msgspec.structs.replace(span, attributes=merged)


def outputs(span: Span) -> Iterator[Any]:
    """What each event of details says that the model put out."""
    found = (child(event.attributes, "gen_ai.output.messages") for event in span.events if event.name == DETAILS)
    return (value for value in found if value is not UNSET)


def conversation(span: Span) -> Said:
    """What the model was given, what it put out, and why it stopped. Of several choices the one of index 0 counts."""
    history: list[Message] = []
    output: list[Message] = []
    reasons: list[str] = []
    for name, body in _bodies(span):
        if name in _ROLES:
            history += _message(body, _ROLES[name])
        elif name == _CHOICE and body.get("index") in (None, 0, "0"):
            output += _choice(body)
            reasons += [reason] if (reason := text(body, "finish_reason")) else []
    return Said(history=tuple(history), output=tuple(output), reasons=tuple(reasons))


def _bodies(span: Span) -> Iterator[tuple[str, dict[str, Any]]]:
    for event in span.events:
        yield event.name, _body(event)
    for key in _LISTS:
        listed = decoded(child(span.attributes, key))
        for entry in listed if isinstance(listed, list) else ():
            if isinstance(entry, dict):
                yield str(entry.get("event.name")), entry


def _body(event: Event) -> dict[str, Any]:
    """The content of an event; older versions wrote it as JSON into one attribute."""
    packed = decoded(child(event.attributes, "gen_ai.event.content"))
    return packed if isinstance(packed, dict) else event.attributes


def _message(body: dict[str, Any], role: str) -> tuple[Message, ...]:
    content = _content(body.get("content"))
    return foreign.messages({"role": role, **body, "content": content}, role, "not_captured")


def _content(value: Any) -> Any:
    """Content as text, or as the list of blocks that Strands writes as JSON."""
    found = decoded(value)
    return found if isinstance(found, list) else value


def _choice(body: dict[str, Any]) -> tuple[Message, ...]:
    inner = decoded(body.get("message"))
    if isinstance(inner, dict):
        return foreign.messages({"role": "assistant", **inner}, "assistant", "not_captured")
    if inner is None and not body.keys() - {"index", "finish_reason", "event.name", "gen_ai.system"}:
        return ()
    if inner is None:
        flat = {"role": "assistant", **{key: decoded(value) for key, value in body.items()}}
        return foreign.messages(flat, "assistant", "not_captured")
    return foreign.messages({"role": "assistant", "content": inner}, "assistant", "not_captured")


def executed(span: Span) -> tuple[Any, Any]:
    """The arguments and the result of a tool span as its events hold them, `UNSET` where they do not (Strands)."""
    given, result = UNSET, UNSET
    for event in span.events:
        if event.name == "gen_ai.tool.message":
            given = _body(event).get("content", UNSET)
        elif event.name == _CHOICE:
            result = parts.result(decoded(_body(event).get("message")))
    return given, result
