"""Spans of OpenTelemetry's SDK in memory: they are what the exporters write of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import INVALID_SPAN, Status, StatusCode, Tracer

import rightcall
from rightcall.errors import TraceError
from rightcall.traces import spans
from rightcall.traces.spans import readable
from support.objects import ASKED, RETRY, asked, became
from support.staged.server import serve

MESSAGES = json.dumps(
    [
        {
            "role": "assistant",
            "parts": [
                {"type": "tool_call", "id": "c1", "name": "add", "arguments": {"to": 1}},
                {"type": "tool_call", "id": "c2", "name": "add", "arguments": {"to": 2}},
            ],
        }
    ]
)


def recorded(tell: Callable[[Tracer], None], limits: SpanLimits | None = None) -> InMemorySpanExporter:
    """The exporter, after a program told a tracer what it did."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(span_limits=limits)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tell(provider.get_tracer("scope of the test"))
    provider.shutdown()
    return exporter


def agent(tracer: Tracer) -> None:
    """An agent whose model asks for two calls; the second fails."""
    with tracer.start_as_current_span("invoke_agent adder", attributes={"gen_ai.operation.name": "invoke_agent"}):
        told = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": MESSAGES}
        with tracer.start_as_current_span("chat m", attributes=told) as span:
            span.add_event("said", {"words": ["a", "b"]})
        for to in (1, 2):
            ran = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "add", "gen_ai.tool.call.id": f"c{to}"}
            with tracer.start_as_current_span("execute_tool add", attributes=ran) as span:
                span.set_attribute("gen_ai.tool.call.arguments", json.dumps({"to": to}))
                if to == 2:
                    span.set_status(Status(StatusCode.ERROR, "not two"))


ADDED = [("add", {"to": 1}), ("add", {"to": 2})]


def test_spans_are_read_in_any_order_and_as_any_list() -> None:
    """The exporter itself, its spans as they ended, reversed, and as a list (G9, G13)."""
    exporter = recorded(agent)
    ended = exporter.get_finished_spans()
    for value in (exporter, ended, list(ended), ended[::-1]):
        assert asked(value) == ADDED
        assert became(value) == [("add", "ok"), ("add", "error")]
        assert rightcall.read(value) == rightcall.read(ended)


def test_a_span_alone_tells_its_calls() -> None:
    """A span of the model, and a span of a tool."""
    tool, model = recorded(agent).get_finished_spans()[1], recorded(agent).get_finished_spans()[0]
    assert asked(model) == ADDED
    assert asked(tool) == ADDED[:1]


def test_spans_read_like_what_the_console_exporter_writes() -> None:
    """Names, arguments, order and statuses are those of the printed spans, whose times are cut to microseconds."""
    ended = recorded(agent).get_finished_spans()
    printed = "\n".join(span.to_json() for span in ended)
    read, dumped = rightcall.read(ended), rightcall.read(printed)
    assert (asked(ended), became(ended), read.gaps) == (asked(printed), became(printed), dumped.gaps)
    assert [call.sources for call in read.tool_calls or ()] == [call.sources for call in dumped.tool_calls or ()]


def test_spans_may_stand_among_those_of_a_file_and_be_read_by_name() -> None:
    """A mixture of spans in memory and printed ones, and a format that is named (G9)."""
    first, *rest = recorded(agent).get_finished_spans()
    assert asked([*rest, json.loads(first.to_json())]) == ADDED
    (named, known) = (rightcall.read([first, *rest], format="otel-genai"), rightcall.read([first, *rest]))
    assert [call.name for call in named.tool_calls or ()] == [call.name for call in known.tool_calls or ()]


def otlp(span: ReadableSpan) -> dict[str, Any]:
    """A span by the field names of OTLP, as the protocol says what each of them holds."""
    context, parent, scope = span.get_span_context(), span.parent, span.instrumentation_scope
    assert context is not None
    assert scope is not None
    own = {
        "traceId": f"{context.trace_id:032x}",
        "spanId": f"{context.span_id:016x}",
        "parentSpanId": f"{parent.span_id:016x}" if parent else "",
        "name": span.name,
        "startTimeUnixNano": str(span.start_time),
        "endTimeUnixNano": str(span.end_time),
        "attributes": {key: list(v) if isinstance(v, tuple) else v for key, v in (span.attributes or {}).items()},
        "events": [{"name": event.name, "attributes": {"words": ["a", "b"]}} for event in span.events],
        "status": {"code": span.status.status_code.value, "message": span.status.description},
        "droppedAttributesCount": span.dropped_attributes,
    }
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": scope.name}, "spans": [own]}]}]}


@pytest.mark.parametrize("limits", [None, SpanLimits(max_span_attributes=1)], ids=["whole", "dropped attributes"])
def test_a_span_in_memory_is_the_span_that_otlp_tells(limits: SpanLimits | None) -> None:
    """Ids, times, attributes, events, the status, the scope and what was dropped are the same."""
    for span in recorded(agent, limits).get_finished_spans():
        (told,) = spans.read([json.dumps(otlp(span)).encode()], [])
        assert readable.span(span) == told


def test_attributes_that_the_sdk_dropped_are_a_gap() -> None:
    """A span that lost attributes may have lost calls, which its console print does not tell."""
    ended = recorded(agent, SpanLimits(max_span_attributes=1)).get_finished_spans()
    assert rightcall.read(ended).gaps != ()


ATTRIBUTES = st.dictionaries(
    st.text(min_size=1),
    st.one_of(
        st.text(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.lists(st.text())
    ),
)


@given(attributes=ATTRIBUTES)
def test_attributes_are_those_that_the_console_exporter_writes(attributes: dict[str, Any]) -> None:
    """Whatever a program sets, the plain values are those of the SDK's own JSON."""
    (span,) = recorded(lambda tracer: tracer.start_span("s", attributes=attributes).end()).get_finished_spans()
    assert json.loads(span.to_json())["attributes"] == readable.span(span).attributes


def test_two_traces_are_two_conversations() -> None:
    """Traces that no session joins are several, and one must be chosen."""

    def twice(tracer: Tracer) -> None:
        agent(tracer)
        agent(tracer)

    exporter = recorded(twice)
    with pytest.raises(TraceError, match="expected one trajectory; found 2"):
        rightcall.read(exporter)


def test_no_spans_are_no_conversation_without_calls() -> None:
    """An exporter that got nothing recorded nothing; a span that records nothing is none."""
    with pytest.raises(TraceError, match="`InMemorySpanExporter` holds nothing that a model said"):
        rightcall.read(recorded(lambda tracer: None))
    with pytest.raises(TraceError, match="an object of type `NonRecordingSpan`"):
        rightcall.read(INVALID_SPAN)


def test_spans_of_an_instrumentation_tell_the_calls_of_the_model() -> None:
    """What OpenInference records of OpenAI's client, without a file between (G9)."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrumentor = OpenAIInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    try:
        with serve(RETRY) as model, openai.OpenAI(api_key="none", base_url=f"{model.url}/v1", max_retries=0) as client:
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Weather?"}])
    finally:
        instrumentor.uninstrument()
    assert asked(exporter.get_finished_spans()) == ASKED
