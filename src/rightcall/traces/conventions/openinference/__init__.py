"""OpenInference: spans of kind LLM, TOOL, AGENT, CHAIN and others, with flat or nested attributes."""

from __future__ import annotations

from msgspec import UNSET

from rightcall.traces.conventions.model import Around, Asked, Part, Said
from rightcall.traces.conventions.openinference import executions, messages
from rightcall.traces.spans import Span, child, text

__all__ = ["messages", "read"]


def read(span: Span) -> Part | None:
    """What the span is, if it has `openinference.span.kind`."""
    kind = messages.kind(span.attributes)
    if not kind:
        return None
    if kind == "LLM":
        return _asked(span)
    if kind == "TOOL":
        return executions.execution(span) or Around(phantom=True)
    return Around(agent=_agent(span) if kind == "AGENT" else None)


def _agent(span: Span) -> str:
    """The name of an agent, also where GenAI's conventions tell it: processors leave those attributes in place."""
    return text(span.attributes, "agent.name") or text(span.attributes, "gen_ai.agent.name") or span.name


def _asked(span: Span) -> Asked:
    output = messages.messages(span.attributes, "output", span.dropped)
    listed = tuple(call for message in output for call in message.calls)
    calls = (*listed, *messages.invalid_calls(span, listed))
    reason = child(span.attributes, "llm.finish_reason")
    said = Said(
        history=messages.messages(span.attributes, "input", span.dropped),
        output=output,
        reasons=() if reason in (UNSET, None) else (str(reason),),
        gaps=tuple(messages.gaps(span, calls)),
    )
    return Asked(said=said, calls=calls, tools=messages.tools(span.attributes))
