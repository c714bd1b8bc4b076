"""Whatever stands where an attribute, a message or an envelope was expected: declared errors or trajectories."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from rightcall.traces import conventions
from support import corpus

KEYS = st.sampled_from(
    [
        "gen_ai.operation.name", "gen_ai.output.messages", "gen_ai.input.messages", "gen_ai.tool.name",
        "gen_ai.tool.call.arguments", "gen_ai.completion", "gen_ai.prompt", "0.tool_calls", "0.role",
        "gen_ai.response.finish_reasons", "gen_ai.tool.definitions", "traceloop.span.kind",
        "traceloop.entity.input", "traceloop.entity.output", "ai.operationId", "ai.response.toolCalls",
        "ai.prompt.tools", "langfuse.observation.type", "langfuse.observation.input",
        "langfuse.observation.output", "mlflow.spanType", "mlflow.spanInputs", "langsmith.span.kind",
        "langsmith.outputs", "gcp.vertex.agent.llm_response", "logfire.msg_template", "response",
        "request_data", "events", "event.name", "all_messages_events", "llm.request.functions", "session.id",
        "agent_name", "role", "content", "parts", "tool_calls", "function", "name", "arguments", "id", "type",
        "toolUse", "input", "kwargs", "data", "message", "messages", "choices", "candidates", "generations",
        "output", "lc", "finish_reason", "tool_call_id", "index",
    ]
)  # fmt: skip
WORDS = st.sampled_from(
    [
        "chat", "execute_tool", "invoke_agent", "tool", "agent", "generation", "ai.toolCall",
        "ai.streamText.doStream", "assistant", "user", "TOOL", "LLM", "tool_call", "tool_use", "function",
        "tool_calls", "Function: x", "gen_ai.choice", "a", '{"x": 1}', "[[]]", "{'x': 1}", "[", "ai",
        "AIMessage",
    ]
)  # fmt: skip
VALUES = st.recursive(
    WORDS | st.none() | st.booleans() | st.integers(-1, 3) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.dictionaries(KEYS, inner, max_size=3).map(json.dumps)
        | st.lists(inner, max_size=3).map(json.dumps)
    ),
    max_leaves=12,
)
ATTRIBUTES = st.dictionaries(KEYS, VALUES, max_size=6)
EVENTS = st.lists(st.fixed_dictionaries({"name": WORDS, "attributes": ATTRIBUTES}), max_size=2)
SPANS = st.fixed_dictionaries(
    {
        "attributes": ATTRIBUTES,
        "spanId": st.sampled_from(["1", "2", "3"]),
        "parentSpanId": st.sampled_from(["", "1", "2"]),
    },
    optional={
        "events": EVENTS | VALUES,
        "name": WORDS,
        "startTimeUnixNano": st.integers(0, 5) | VALUES,
        "status": VALUES,
    },
)


def read_quietly(data: bytes, name: str | None) -> None:
    """Read to the end; only declared errors may come."""
    with contextlib.suppress(TraceError):
        assert all(isinstance(item, Trajectory | TraceError) for item in traces.read([data], format=name))


@given(st.lists(SPANS, min_size=1, max_size=5))
def test_any_attributes_give_declared_errors_or_trajectories(spans: list[Any]) -> None:
    """Never a traceback (G5)."""
    read_quietly(json.dumps(spans).encode(), "otel-genai")


ENVELOPE_KEYS = st.sampled_from(
    [
        "resourceSpans", "scopeSpans", "spans", "batches", "resourceLogs", "scopeLogs", "logRecords",
        "resource", "scope", "attributes", "data", "traceID", "spanID", "tags", "logs", "references",
        "operationName", "startTime", "trace", "observations", "traceId", "parentObservationId", "type",
        "metadata", "info", "trace_metadata", "run_type", "id", "post", "patch", "child_runs", "inputs",
        "extra", "context", "span_id", "trace_id", "span_kind", "attributes.x", "context.span_id", "body",
        "severity_number", "event_name", "span_name", "meta", "key", "value", "stringValue", "arrayValue",
        "kvlistValue", "values", "events", "status",
    ]
)  # fmt: skip
ENVELOPES = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ENVELOPE_KEYS | KEYS, inner, max_size=6),
    max_leaves=20,
)


@given(ENVELOPES, st.sampled_from([None, *conventions.NAMES]))
def test_any_envelope_gives_declared_errors_or_trajectories(value: Any, name: str | None) -> None:
    """Whatever part of it has another type (G5)."""
    read_quietly(json.dumps(value).encode(), name)


TABLE = corpus.OWN.joinpath("phoenix-dataframe", "1.parquet").read_bytes()
CSV = corpus.OWN.joinpath("phoenix-dataframe", "2.csv").read_bytes()


@given(st.sampled_from([TABLE, CSV]), st.integers(0, 40_000), st.integers(0, 40), st.binary(max_size=6))
def test_damaged_tables_give_declared_errors_or_trajectories(data: bytes, start: int, length: int, put: bytes) -> None:
    """Bytes cut out and put in at any place (G5)."""
    read_quietly(data[:start] + put + data[start + length :], "openinference")
