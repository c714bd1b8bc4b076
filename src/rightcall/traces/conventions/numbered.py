"""What was said, in numbered attributes (OpenLLMetry) or as whole JSON in two attributes (the oldest GenAI)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from rightcall.traces.conventions import foreign, parts
from rightcall.traces.conventions.model import Message, Said
from rightcall.traces.spans import Span, child, items, text


def said(span: Span) -> Said:
    """`gen_ai.prompt.0.role` and its like, or all messages as JSON in `gen_ai.prompt` and `gen_ai.completion`."""
    given, put_out = (child(span.attributes, key) for key in ("gen_ai.prompt", "gen_ai.completion"))
    if isinstance(put_out, str) or isinstance(given, str):
        return msgspec.structs.replace(foreign.choice(put_out), history=foreign.messages(given, "user"))
    completions = [node for node in items(put_out) if isinstance(node, dict)]
    output = tuple(map(_message, completions))
    reasons = tuple(reason for node in completions[:1] if (reason := text(node, "finish_reason")))
    warnings: tuple[str, ...] = ()
    if _are_alternatives(completions, output):
        output, warnings = output[:1], (f"puts out {len(output)} alternatives; the first is read",)
    return Said(history=_messages(given), output=output, reasons=reasons, warnings=warnings)


def _are_alternatives(completions: list[dict[str, Any]], output: tuple[Message, ...]) -> bool:
    """Whether completions answer the same request: each says why it stopped, and the first has all that counts."""
    if len(completions) < 2 or not all(text(node, "finish_reason") for node in completions):
        return False
    return bool(output[0].calls) or not any(message.calls for message in output)


def _messages(branch: Any) -> tuple[Message, ...]:
    return tuple(_message(node) for node in items(branch) if isinstance(node, dict))


def _message(node: dict[str, Any]) -> Message:
    role = text(node, "role") or ""
    content = child(node, "content")
    listed = items(child(node, "tool_calls"))
    legacy = child(node, "function_call")
    if not listed and isinstance(legacy, dict):
        listed = [legacy]
    calls = tuple(parts.entry(_nested(entry), "not_captured") for entry in listed)
    if not calls and role == "assistant" and isinstance(content, str) and content.lstrip()[:1] == "[":
        calls = tuple(call for message in foreign.messages(content, role) for call in message.calls)
    return Message(
        role="tool" if role == "function" else role,
        content=None if content is UNSET else content,
        calls=calls,
        tool_call_id=text(node, "tool_call_id"),
    )


def _nested(entry: Any) -> Any:
    """An entry whose function may be written `function.name` rather than nested."""
    function = child(entry, "function")
    return {**entry, "function": function} if isinstance(function, dict) else entry
