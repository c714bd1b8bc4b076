"""The Vercel AI SDK until version 6: spans with `ai.operationId`."""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from rightcall.core.calls import CallStatus
from rightcall.traces import toolspecs
from rightcall.traces.conventions import foreign, genai
from rightcall.traces.conventions.carriers import carried, outcome
from rightcall.traces.conventions.model import Around, Asked, Part, Said, asked
from rightcall.traces.conversation import structured
from rightcall.traces.merging import Execution
from rightcall.traces.spans import Span, child, decoded, items, text


def read(span: Span) -> Part | None:
    """What the span is, if it has `ai.operationId`."""
    operation = text(span.attributes, "ai.operationId")
    if operation is None:
        return None
    if operation == "ai.toolCall":
        return _execution(span)
    if operation.endswith((".doGenerate", ".doStream")):
        return _asked(span)
    return Around(agent=text(span.attributes, "ai.telemetry.functionId"))


def _asked(span: Span) -> Asked:
    reason = text(span.attributes, "ai.response.finishReason")
    said = msgspec.structs.replace(
        _output(span),
        history=foreign.messages(child(span.attributes, "ai.prompt.messages"), "user"),
        reasons=(reason,) if reason else (),
    )
    return asked(
        said,
        toolspecs.tools([decoded(tool) for tool in items(decoded(child(span.attributes, "ai.prompt.tools")))]),
    )


def _output(span: Span) -> Said:
    said = child(span.attributes, "ai.response.text")
    listed = decoded(child(span.attributes, "ai.response.toolCalls"))
    if said is UNSET and listed is UNSET:
        return Said()
    if isinstance(listed, str):
        return foreign.choice(listed)
    given = {"role": "assistant", "content": said if isinstance(said, str) else None, "tool_calls": listed}
    return Said(output=foreign.messages(given, "assistant", "not_captured"))


def _execution(span: Span) -> Execution:
    came = outcome(child(span.attributes, "ai.toolCall.result"))
    status: CallStatus = "error" if span.failed else "ok"
    return Execution(
        name=text(span.attributes, "ai.toolCall.name") or span.name,
        arguments=carried(child(span.attributes, "ai.toolCall.args")),
        id=text(span.attributes, "ai.toolCall.id"),
        result=structured(came.value),
        status=status,
        error=genai.error(span, came.value) if span.failed else None,
    )
