"""OpenLLMetry: spans of workflows, agents, tasks and tools; its model spans follow GenAI."""

from __future__ import annotations

from msgspec import UNSET

from rightcall.core.calls import CallStatus
from rightcall.traces.conventions import genai
from rightcall.traces.conventions.carriers import carried, outcome, unboxed
from rightcall.traces.conventions.model import Around, Part
from rightcall.traces.conversation import structured
from rightcall.traces.merging import Execution
from rightcall.traces.spans import Span, child, text


def read(span: Span) -> Part | None:
    """What the span is, if it has `traceloop.span.kind`."""
    kind = text(span.attributes, "traceloop.span.kind")
    if kind == "tool":
        return _execution(span)
    if kind is None:
        return None
    name = text(span.attributes, "gen_ai.agent.name") or text(span.attributes, "traceloop.entity.name")
    return Around(agent=name, loose=True) if kind == "agent" else Around()


def _execution(span: Span) -> Execution:
    name = text(span.attributes, "gen_ai.tool.name") or text(span.attributes, "traceloop.entity.name")
    given = child(span.attributes, "traceloop.entity.input")
    given = child(span.attributes, "gen_ai.tool.call.arguments") if given is UNSET else given
    result = child(span.attributes, "traceloop.entity.output")
    came = outcome(unboxed(child(span.attributes, "gen_ai.tool.call.result") if result is UNSET else result))
    failed = span.failed or came.failed
    status: CallStatus = "error" if failed else "ok"
    return Execution(
        name=name or span.name.removesuffix(".tool"),
        arguments=carried(given),
        id=text(span.attributes, "gen_ai.tool.call.id") or came.id,
        result=structured(came.value),
        status=status,
        error=genai.error(span, came.value) if failed else None,
    )
