"""Envelopes and conventions of spans: mixed in one file, from every product, each call once."""

from __future__ import annotations

import base64
import csv
import io
import json
import sys
from typing import Any

import pytest

from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import MissingExtraError, TraceError
from support import corpus
from support.spanning import asked, one, ran, read, read_bytes, read_lines, span, told

ENTRY = {"id": "1", "type": "function", "function": {"name": "a", "arguments": '{"x": 1}'}}
PLAIN = {"name": "a", "args": {"x": 1}, "id": "1"}
VERCEL = {"toolCallId": "1", "toolName": "a"}
ITEM = {"type": "function_call", "call_id": "1", "name": "a", "arguments": '{"x": 1}'}
OPENAI = {"role": "assistant", "tool_calls": [ENTRY]}
ANTHROPIC = {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "a", "input": {"x": 1}}]}
GEMINI = {"content": {"role": "model", "parts": [{"functionCall": {"name": "a", "args": {"x": 1}}}]}}
BEDROCK = {"role": "assistant", "content": [{"toolUse": {"name": "a", "input": {"x": 1}}}]}
KWARGS: dict[str, Any] = {"content": "", "tool_calls": [PLAIN]}
LANGCHAIN = {"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"], "kwargs": KWARGS}
GENERATION = {"text": "", "message": LANGCHAIN}

OUTPUTS: dict[str, Any] = {
    "openai": OPENAI,
    "openai response": {"choices": [{"index": 0, "message": OPENAI}, {"index": 1, "message": OPENAI}]},
    "openai calls alone": [ENTRY],
    "text of json": json.dumps(OPENAI),
    "responses": {"object": "response", "output": [ITEM]},
    "anthropic": ANTHROPIC,
    "gemini": {"candidates": [GEMINI]},
    "bedrock": {"output": {"message": BEDROCK}},
    "genai": [{"role": "assistant", "parts": [{"type": "tool_call", "name": "a", "arguments": {"x": 1}}]}],
    "langchain": LANGCHAIN,
    "langchain dump": {"type": "ai", "data": KWARGS},
    "langchain both": {**KWARGS, "type": "ai", "additional_kwargs": {"tool_calls": [ENTRY]}},
    "langchain generations": {"generations": [[GENERATION, GENERATION]]},
    "vercel": [{**VERCEL, "input": '{"x": 1}'}],
    "vercel message": {"role": "assistant", "content": [{"type": "tool-call", **VERCEL, "args": {"x": 1}}]},
    "calls as text": [{"role": "assistant", "finish_reason": "tool_calls", "content": json.dumps([ENTRY])}],
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_outputs_are_read_in_the_shape_of_any_framework(output: str) -> None:
    """Of several choices the first counts; copies of a call in one message do not."""
    observed = {"langfuse.observation.type": "generation", "langfuse.observation.output": OUTPUTS[output]}
    assert told(one(span(1, observed))) == [("a", {"x": 1})]


def test_text_that_mentions_a_call_is_no_call() -> None:
    """Only a message that stopped for calls may have written them as text."""
    said = [{"role": "assistant", "content": json.dumps([ENTRY])}]
    observed = {"langfuse.observation.type": "generation", "langfuse.observation.output": said}
    assert one(span(1, observed)).tool_calls == ()


def test_an_output_of_unknown_shape_is_said() -> None:
    """It is read as an answer without calls, with a warning that names the span."""
    observed = {"langfuse.observation.type": "generation", "langfuse.observation.output": {"mood": "good"}}
    trajectory = one(span(1, observed))
    assert (trajectory.tool_calls, trajectory.output) == ((), {"mood": "good"})
    assert trajectory.warnings == (
        "span 0000000000000001 puts out an object of an unknown shape; it is read as an answer without calls",
    )


def test_one_file_may_mix_conventions() -> None:
    """A model span of OpenLLMetry, tools of OpenInference, Vercel, ADK, Traceloop and Langfuse: one conversation."""
    tools = [
        {"openinference.span.kind": "TOOL", "tool.name": "t0", "input.value": "{}"},
        {"ai.operationId": "ai.toolCall", "ai.toolCall.name": "t1", "ai.toolCall.args": "{}"},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t2", "gcp.vertex.agent.tool_call_args": "{}"},
        {"traceloop.span.kind": "tool", "traceloop.entity.name": "t3", "traceloop.entity.input": "{}"},
        {"langfuse.observation.type": "tool", "gen_ai.tool.name": "t4", "langfuse.observation.input": "{}"},
        {"mlflow.spanType": '"TOOL"', "gen_ai.tool.name": "t5", "mlflow.spanInputs": "{}"},
    ]
    model: dict[str, Any] = {f"gen_ai.completion.0.tool_calls.{n}.name": f"t{n}" for n in range(6)}
    spans = [span(1, model), *(span(2 + n, attributes) for n, attributes in enumerate(tools))]
    for name in (None, "openinference", "otel-genai", "langfuse"):
        trajectory = one(spans, name)
        found = [(call.name, call.arguments, call.status) for call in trajectory.tool_calls or ()]
        assert found == [(f"t{n}", {}, "ok") for n in range(6)]


def test_a_span_of_two_conventions_is_one_span() -> None:
    """The first convention that shows anything of it decides."""
    both = {**asked(("a", {"x": 1})), "openinference.span.kind": "LLM"}
    call = "llm.output_messages.0.message.tool_calls.0.tool_call.function"
    told_twice = {f"{call}.name": "a", f"{call}.arguments": '{"x": 1}'}
    assert told(one(span(1, both))) == told(one(span(1, {**both, **told_twice}))) == [("a", {"x": 1})]


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ('{"input_str": "{\'x\': 1}", "tags": [], "metadata": {}}', {"x": 1}),
        ('{"input_str": "{\'x\'", "tags": [], "metadata": {}}', "not_captured"),
        ('{"input_str": "", "inputs": {"x": 1}, "tags": []}', {"x": 1}),
        ('{"args": [], "kwargs": {"x": 1}}', {"x": 1}),
        ('{"args": [1], "kwargs": {}}', "not_captured"),
        ('{"input_str": "own argument"}', {"input_str": "own argument"}),
        ('"Paris"', "not_captured"),
        ("__import__('os')", "not_captured"),
    ],
)
def test_carriers_of_arguments_are_taken_off(given: str, arguments: Any) -> None:
    """What is inside is read strictly; positional arguments have no names, so they are unknown."""
    tool = {"traceloop.span.kind": "tool", "traceloop.entity.name": "a", "traceloop.entity.input": given}
    assert told(one(span(1, tool))) == [("a", arguments)]


def test_an_agent_beside_its_call_is_put_inside_by_time() -> None:
    """Only where one call alone lasted long enough."""
    kinds = [{"traceloop.span.kind": kind} for kind in ("workflow", "agent", "agent")]

    def spans(second_lasts: int) -> list[dict[str, Any]]:
        long: dict[str, Any] = {"endTimeUnixNano": "9000000"}
        return [
            span(1, kinds[0], **long),
            span(2, kinds[1], parent=1, **long),
            span(3, ran("research", {}), parent=2, endTimeUnixNano="8000000"),
            span(4, ran("other", {}), parent=2, endTimeUnixNano=str(second_lasts)),
            span(5, kinds[2], parent=1, endTimeUnixNano="7000000"),
            span(6, ran("search", {}), parent=5),
        ]

    parents = [[call.parent for call in one(spans(lasts)).tool_calls or ()] for lasts in (4_500_000, 8_000_000)]
    assert parents == [[None, 0, None], [None, None, None]]


def test_spans_named_like_a_call_are_its_execution_and_never_a_call() -> None:
    """In exports of Langfuse most tools are plain spans."""
    observations = [
        observation("g", "GENERATION", 1, output=OPENAI),
        observation("s", "SPAN", 2, name="tool.a", input={"x": 1}, output="A"),
        observation("t", "SPAN", 3, name="b", input={"x": 1}),
    ]
    (call,) = one({"trace": {"id": "t"}, "observations": observations}).tool_calls or ()
    assert (call.name, call.status, call.result) == ("a", "ok", "A")
    early = [observation("s", "SPAN", 0, name="tool.a", input={"x": 1}), observations[0]]
    assert told(one({"trace": {"id": "t"}, "observations": early})) == [("a", {"x": 1})]
    twice = [*observations, observation("u", "SPAN", 4, name="a", input={"x": 2})]
    assert told(one({"trace": {"id": "t"}, "observations": twice})) == [("a", {"x": 1})]


def observation(id: str, kind: str, second: int, **more: Any) -> dict[str, Any]:
    known = {"id": id, "traceId": "t", "type": kind, "name": id, "parentObservationId": None, "level": "DEFAULT"}
    return {**known, "startTime": f"2026-11-30T10:00:{second:02}Z", **more}


def test_observations_in_any_order_and_by_page() -> None:
    """A page that is not the only one is a gap (G12)."""
    tools = [observation(name, "TOOL", second, input={}) for name, second in (("b", 2), ("a", 1))]
    page = one({"data": tools, "meta": {"page": 1, "totalPages": 2}})
    assert told(page) == told(one(tools)) == [("a", {}), ("b", {})]
    assert page.gaps == ("the file is one page of several",)


def test_dataframes_of_phoenix_are_read_row_by_row_and_column_by_column() -> None:
    """Pandas writes columns unless it is told otherwise; the id of a span may be the index alone."""
    asked = [{"message.tool_calls": [{"tool_call.function.name": "a", "tool_call.function.arguments": '{"x": 1}'}]}]
    kinds = {"name": "m", "span_kind": "LLM", "parent_id": None, "context.trace_id": "t"}
    rows: list[dict[str, Any]] = [
        {**kinds, "context.span_id": "s2", "start_time": 1700000002000, "attributes.llm.output_messages": None},
        {**kinds, "context.span_id": "s1", "start_time": 1700000001000, "attributes.llm.output_messages": asked},
    ]
    columns = {key: {row["context.span_id"]: row[key] for row in rows} for key in rows[0]}
    bare = {key: column for key, column in columns.items() if key != "context.span_id"}
    assert [told(one(way)) for way in (rows, columns, bare)] == [[("a", {"x": 1})]] * 3
    assert [call.sources for way in (columns, bare) for call in one(way).tool_calls or ()] == [("span s1",)] * 2


def test_runs_of_langsmith_are_completed_by_patches() -> None:
    """Nested, in batches, or line by line."""
    started = {"id": "r", "trace_id": "r", "run_type": "llm", "name": "m", "start_time": "2026-11-30T10:00:00Z"}
    post, patch = {**started, "inputs": {"messages": []}, "outputs": {}}, {**started, "outputs": {"output": OPENAI}}
    nested = {**post, "run_type": "chain", "id": "q", "child_runs": [{**post, **patch}]}
    bare = {key: patch[key] for key in ("id", "trace_id", "outputs")}
    batches = [{"post": [post], "patch": []}, {"post": [], "patch": [bare]}]
    ways = [read({"post": [post], "patch": [patch]}), read_lines([post, patch]), read([nested]), read_lines(batches)]
    assert [told(trajectory) for (trajectory,) in ways] == [[("a", {"x": 1})]] * 4


def test_traces_of_mlflow_in_both_schemas() -> None:
    """And as rows of a table."""
    new = {"name": "a", "span_id": "s", "attributes": {"mlflow.spanType": '"TOOL"', "mlflow.spanInputs": '{"x": 1}'}}
    old = {**new, "context": {"span_id": "0x1", "trace_id": "0x2"}, "parent_id": None, "status_code": "OK"}
    trace = {"info": {"trace_metadata": {"mlflow.trace.session": "s1"}}, "data": {"spans": [new]}}
    ways = [trace, {"info": {"request_id": "r"}, "data": {"spans": [old]}}, [{"trace": json.dumps(trace)}]]
    assert [told(one(way)) for way in ways] == [[("a", {"x": 1})]] * 3
    assert one(trace).conversation_id == "s1"


TOOL = {"openinference.span.kind": "TOOL", "tool.name": "a", "input.value": '{"x": 1}'}
JAEGER_SPAN = {
    "traceID": "ab" * 16,
    "spanID": "01" * 8,
    "operationName": "a",
    "startTime": 5,
    "duration": 2,
    "tags": [{"key": key, "type": "string", "value": value} for key, value in TOOL.items()],
}
ENVELOPES: dict[str, Any] = {
    "jaeger": {"data": [{"traceID": "ab" * 16, "spans": [JAEGER_SPAN], "processes": {}}]},
    "tempo": {"batches": [{"resource": {}, "instrumentationLibrarySpans": [{"spans": [span(1, TOOL)]}]}]},
    "tempo, second version": {"trace": {"resourceSpans": [{"scopeSpans": [{"spans": [span(1, TOOL)]}]}]}},
    "collector with metrics": [
        {"resourceMetrics": []},
        {"resource_spans": [{"scope_spans": [{"spans": [span(1, TOOL)]}]}]},
    ],
    "phoenix page": {"data": [{"context": {"trace_id": "a", "span_id": "b"}, "span_kind": "TOOL", "attributes": TOOL}]},
    "phoenix row": {"context.span_id": "b", **{f"attributes.{key}": value for key, value in TOOL.items()}},
    "logfire row": {"span_name": "a", "trace_id": "1", "span_id": "2", "attributes": json.dumps(TOOL)},
}


@pytest.mark.parametrize("name", ENVELOPES)
def test_envelopes_are_read(name: str) -> None:
    """By detection; in each of them stands the same span."""
    assert told(one(ENVELOPES[name])) == [("a", {"x": 1})]


def test_times_of_jaeger_are_microseconds() -> None:
    """So are those of calls."""
    (call,) = one(ENVELOPES["jaeger"]).tool_calls or ()
    assert (call.started_at, call.ended_at) == ("1970-01-01T00:00:00.000005Z", "1970-01-01T00:00:00.000007Z")


def test_a_table_of_spans_is_read_from_csv_and_parquet() -> None:
    """Cells hold Python in CSV; a quote that is not closed is an error with its place."""
    table = corpus.OWN / "phoenix-dataframe"
    names = [[call.name for call in one_of(table / file).tool_calls or ()] for file in ("1.parquet", "2.csv")]
    assert names == [["lookup_order", "get_weather", "issue_refund", "issue_refund"]] * 2
    text = io.StringIO()
    csv.writer(text).writerows(
        [["context.span_id", "attributes.openinference.span.kind", "attributes.tool.name"], ["1", "TOOL", 'a "b",\nc']]
    )
    (trajectory,) = read_bytes(text.getvalue().encode())
    assert told(trajectory) == [('a "b",\nc', "not_captured")]
    with pytest.raises(TraceError, match="row 2 has 2 cells; the header has 3"):
        read_bytes(b"context.span_id,attributes.a.b,name\n1,2\n", "openinference")
    with pytest.raises(TraceError, match="a quote is not closed"):
        read_bytes(b'context.span_id,attributes.a.b,name\n1,2,"3\n', "openinference")


def one_of(path: Any) -> Trajectory:
    (trajectory,) = read_bytes(path.read_bytes())
    return trajectory


def test_parquet_without_its_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the file, since it may be one of a directory."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"^f: Parquet needs the extra `bulk`: pip install 'rightcall\[bulk\]'"):
        read_bytes(corpus.OWN.joinpath("phoenix-dataframe", "1.parquet").read_bytes())


def test_parquet_that_holds_something_else_is_refused() -> None:
    """Broken files and other tables."""
    with pytest.raises(TraceError, match="the Parquet file cannot be read"):
        read_bytes(b"PAR1 and nothing more")


@pytest.mark.parametrize("name", ["otel-genai", "langfuse", "openinference"])
def test_a_file_without_spans_is_refused(name: str) -> None:
    """Nothing that was found is not the same as nothing that was called."""
    with pytest.raises(TraceError, match="f: no spans were found: the value on line 1 was rejected: it is no span"):
        read_bytes(b'{"hello": 1}', name)


def test_ids_in_base64_are_the_same_ids() -> None:
    """Half a file may have them."""
    raw = base64.b64encode(bytes.fromhex(f"{1:016x}")).decode()
    spans = [span(1, ran("outer", {})), {**span(2, ran("inner", {})), "parentSpanId": raw}]
    spans = [{**item, "traceId": base64.b64encode(b"\xab" * 16).decode()} for item in spans]
    found = traces.read_object({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).tool_calls or ()
    assert [(call.name, call.parent) for call in found] == [("outer", None), ("inner", 0)]


CUT = json.dumps([OPENAI])[:-8]


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.operation.name": "chat", "gen_ai.output.messages": CUT},
        {"gen_ai.completion": CUT},
        {"ai.operationId": "ai.generateText.doGenerate", "ai.response.toolCalls": CUT},
        {"gcp.vertex.agent.llm_response": CUT},
        {"langfuse.observation.type": "generation", "langfuse.observation.output": f"{CUT}…"},
    ],
)
def test_an_output_that_was_cut_off_is_a_gap(attributes: dict[str, Any]) -> None:
    """Its calls are not known, which is not the same as none (G12)."""
    trajectory = one(span(1, attributes))
    expected = "span 0000000000000001 puts out JSON that is cut off or broken: its calls are not known"
    assert (trajectory.tool_calls, trajectory.gaps) == ((), (expected,))


def test_dropped_events_are_a_gap() -> None:
    """They may have held the answer of the model (G12)."""
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": ["stop"]}
    trajectory = one(span(1, attributes, droppedEventsCount=2))
    assert trajectory.gaps == ("span 0000000000000001 lost 2 attributes or events to a limit of the exporter",)


def test_calls_that_langfuse_copied_count_only_without_the_output() -> None:
    """An export may leave outputs out."""
    copies = {"toolCalls": ['{"id": "1", "arguments": "{\\"x\\": 1}", "index": 0}'], "toolCallNames": ["a"]}
    for output in (None, OPENAI):
        observations = [observation("g", "GENERATION", 1, output=output, **copies)]
        assert told(one({"trace": {"id": "t"}, "observations": observations})) == [("a", {"x": 1})]


@pytest.mark.parametrize(
    ("known", "kinds"),
    [
        ({"model_request_parameters": '{"output_tools": [{"name": "a"}]}'}, ["output", "client"]),
        ({"logfire.json_schema": "{}"}, ["client", "output"]),
        ({}, ["client", "client"]),
    ],
)
def test_output_tools_of_pydantic_ai_have_their_kind(known: dict[str, Any], kinds: list[str]) -> None:
    """By what the request says, else by their name, and only there: they do not count by default (G13)."""
    calls = one(span(1, {**asked(("a", {}), ("final_result", {})), **known})).tool_calls or ()
    assert [call.kind for call in calls] == kinds
