"""GenAI in all its versions: each call once, content that was not captured is said, nothing is guessed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.spanning import asked, one, ran, read, read_lines, span, told

CALL = {"id": "c1", "type": "function", "function": {"name": "a", "arguments": '{"x": 1}'}}
CHOICE = {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [CALL]}}
BEDROCK = [{"text": "So."}, {"toolUse": {"toolUseId": "c1", "name": "a", "input": {"x": 1}}}]

WAYS: dict[str, dict[str, Any]] = {
    "parts": asked(("a", {"x": 1}, "c1")),
    "parts as data": {
        "gen_ai.output.messages": [
            {"role": "assistant", "parts": [{"type": "tool_call", "name": "a", "arguments": {"x": 1}}]}
        ]
    },
    "arguments as text": asked(("a", '{"x": 1}', "c1")),
    "numbered": {
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.tool_calls.0.name": "a",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"x": 1}',
    },
    "numbered function": {
        "gen_ai.completion.0.tool_calls.0.function.name": "a",
        "gen_ai.completion.0.tool_calls.0.function.arguments": '{"x": 1}',
    },
    "numbered, legacy": {
        "gen_ai.completion.0.function_call.name": "a",
        "gen_ai.completion.0.function_call.arguments": '{"x": 1}',
    },
    "whole": {"gen_ai.completion": json.dumps({"choices": [CHOICE]})},
    "whole message": {"gen_ai.prompt": "[]", "gen_ai.completion": json.dumps([CHOICE["message"]])},
    "list of events": {"events": json.dumps([{"event.name": "gen_ai.choice", **CHOICE}])},
    "anthropic": {
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "a", "input": {"x": 1}}]}]
        )
    },
}


@pytest.mark.parametrize("way", WAYS)
def test_a_call_is_read_however_it_was_written(way: str) -> None:
    """Structured messages, numbered attributes, whole JSON, events in an attribute."""
    assert told(one(span(1, WAYS[way]))) == [("a", {"x": 1})]


EVENTS: dict[str, dict[str, Any]] = {
    "body": CHOICE,
    "packed": {"gen_ai.event.content": json.dumps(CHOICE)},
    "message as text": {"finish_reason": "tool_calls", "message": json.dumps(CHOICE["message"])},
    "blocks": {"finish_reason": "tool_use", "message": json.dumps(BEDROCK)},
    "flat": {"role": "assistant", "tool_calls": json.dumps([CALL])},
}


@pytest.mark.parametrize("way", EVENTS)
def test_events_of_a_span_tell_what_it_put_out(way: str) -> None:
    """In every form in which choices were written."""
    event = {"name": "gen_ai.choice", "attributes": EVENTS[way]}
    trajectory = one(span(1, {"gen_ai.operation.name": "chat"}, events=[event]))
    assert told(trajectory) == [("a", {"x": 1})]


def record(name: str, body: Any, number: int = 1, **attributes: Any) -> dict[str, Any]:
    """A log record of the console exporter, of the span of that number."""
    return {
        "trace_id": f"0x{'ab' * 16}",
        "span_id": f"0x{number:016x}",
        "severity_number": 9,
        "observed_timestamp": f"2026-11-30T10:00:{number:02}Z",
        "event_name": name,
        "attributes": {"gen_ai.system": "openai", **attributes},
        "body": body,
    }


def test_log_records_alone_tell_the_calls() -> None:
    """What is in the history of later requests is not a second call."""
    history = record("gen_ai.assistant.message", {"tool_calls": [CALL]}, 2)
    answer = record("gen_ai.tool.message", {"id": "c1", "content": "A"}, 2)
    end = record("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"content": "Done."}}, 2)
    (trajectory,) = read_lines([record("gen_ai.choice", CHOICE), history, answer, end])
    assert told(trajectory) == [("a", {"x": 1})]
    assert [call.result for call in trajectory.tool_calls or ()] == ["A"]
    assert trajectory.output == "Done."


def test_log_records_belong_to_the_spans_of_the_same_file() -> None:
    """Joined by trace and span id, in whatever order lines come; a repeated record adds nothing."""
    spans = {
        "resourceSpans": [{"scopeSpans": [{"spans": [span(1, {"gen_ai.operation.name": "chat"}), span(2, ran("a"))]}]}]
    }
    records = [record("gen_ai.choice", CHOICE)] * 2
    for lines in ([spans, *records], [*records, spans]):
        (trajectory,) = read_lines(lines)
        assert told(trajectory) == [("a", {"x": 1})]
        assert [call.status for call in trajectory.tool_calls or ()] == ["ok"]


def test_log_records_of_otlp_are_read() -> None:
    """Bodies are any-values there, and the name of the event may be an attribute."""
    body = {"kvlistValue": {"values": [{"key": "message", "value": {"stringValue": json.dumps(CHOICE["message"])}}]}}
    entry = {
        "timeUnixNano": "5",
        "traceId": "ab" * 16,
        "spanId": "01" * 8,
        "attributes": [{"key": "event.name", "value": {"stringValue": "gen_ai.choice"}}],
        "body": body,
    }
    assert told(one({"resourceLogs": [{"scopeLogs": [{"logRecords": [entry]}]}]})) == [("a", {"x": 1})]


def test_details_of_an_inference_are_attributes_of_its_span() -> None:
    """As a log record, and as an event on the span."""
    attributes = WAYS["parts"]
    name = "gen_ai.client.inference.operation.details"
    (logged,) = read_lines([record(name, None, **attributes)])
    on_span = one(span(1, {"gen_ai.operation.name": "chat"}, events=[{"name": name, "attributes": attributes}]))
    assert told(logged) == told(on_span) == [("a", {"x": 1})]


def test_records_without_a_span_end_with_each_answer() -> None:
    """Two answers without ids are two model calls, equal though they are."""
    loose = [{**record("gen_ai.choice", CHOICE, number), "span_id": None} for number in (1, 2)]
    (trajectory,) = read_lines(loose)
    assert told(trajectory) == [("a", {"x": 1})] * 2


def test_content_that_was_not_captured_is_said() -> None:
    """Names that executions show are calls with unknown arguments; else there is a gap (G10, G12)."""
    model = span(1, {"gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": ["tool_calls"]})
    shown = one([model, span(2, ran("a"))])
    hidden = one([model])
    silent = one([span(1, {"gen_ai.operation.name": "chat"})])
    assert (told(shown), shown.gaps) == ([("a", "not_captured")], ())
    assert (hidden.tool_calls, len(hidden.gaps)) == ((), 1)
    assert silent.gaps == ("span 0000000000000001 shows nothing of what the model put out: content was not captured",)


def test_a_model_that_stopped_of_itself_made_no_calls() -> None:
    """Without content its finish reason still says so (G3)."""
    trajectory = one(span(1, {"gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": ["stop"]}))
    assert (trajectory.tool_calls, trajectory.gaps) == ((), ())


@pytest.mark.parametrize(
    ("part", "state"),
    [
        ({"type": "tool_call", "name": "a"}, "not_captured"),
        ({"type": "tool_call", "name": "a", "arguments": '{"x": '}, "malformed"),
        ({"type": "tool_call", "name": "a", "arguments": "[Scrubbed due to 'auth']"}, "redacted"),
        ({"type": "tool_call", "name": "a", "arguments": "[redacted]"}, "redacted"),
        ({"type": "tool_call", "name": "a", "arguments": "[redacted:63ad5346a7ee]"}, "redacted"),
        ({"type": "tool_call", "name": "a", "arguments": {}}, {}),
    ],
)
def test_arguments_have_their_state(part: dict[str, Any], state: Any) -> None:
    """Malformed arguments stay a call, absent ones are unknown (G9, G10)."""
    assert told(one(span(1, asked(part)))) == [("a", state)]


def test_tools_on_offer_are_no_calls() -> None:
    """They are the tools that were available."""
    offer = {
        "gen_ai.tool.definitions": json.dumps([{"type": "function", "name": "a", "parameters": {"type": "object"}}])
    }
    trajectory = one(span(1, {**asked(), **offer, "gen_ai.response.finish_reasons": ["stop"]}))
    assert trajectory.tool_calls == ()
    assert [tool.name for tool in trajectory.available_tools] == ["a"]


def test_choices_are_alternatives() -> None:
    """The first is read, with a warning; answers that only together hold the calls are no alternatives.

    As many as there are reasons to stop. Where no reasons are told, the others may be calls as well: a gap.
    """
    part = {"type": "tool_call", "name": "a", "arguments": {}}
    call = {"role": "assistant", "parts": [part], "finish_reason": "tool_call"}
    text = {"role": "assistant", "parts": [{"type": "text", "content": "Hm."}], "finish_reason": "stop"}
    output = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": [call, call]}
    two = one(span(1, {**output, "gen_ai.response.finish_reasons": ["tool_call", "tool_call"]}))
    parallel = one(span(1, {**output, "gen_ai.response.finish_reasons": ["tool_call"]}))
    unknown = one(span(1, output))
    split = one(span(1, {"gen_ai.operation.name": "chat", "gen_ai.output.messages": [text, call]}))
    assert (told(two), len(two.warnings), two.gaps) == ([("a", {})], 1, ())
    assert (told(parallel), parallel.warnings, parallel.gaps) == ([("a", {})] * 2, (), ())
    assert (told(unknown), len(unknown.gaps)) == ([("a", {})], 1)
    assert (told(split), split.warnings) == ([("a", {})], ())


def test_batches_of_tools_are_no_calls() -> None:
    """Google ADK writes a span for the merged answer of a parallel batch."""
    spans = [span(1, asked(("a", {}, "a_0"), ("b", {}, "b_1"))), span(2, ran("a", {})), span(3, ran("b", {}))]
    trajectory = one([*spans, span(4, ran("(merged tools)"))])
    assert [(call.name, call.status) for call in trajectory.tool_calls or ()] == [("a", "ok"), ("b", "ok")]


def test_ids_of_message_parts_are_no_identity() -> None:
    """Calls of different turns may carry the same id (R4)."""
    turns = [span(1, asked(("a", {"n": 1}, "a_0"))), span(2, ran("a", {"n": 1}))]
    turns += [span(3, asked(("a", {"n": 1}, "a_0"))), span(4, ran("a", {"n": 1}))]
    assert told(one(turns)) == [("a", {"n": 1})] * 2


def test_a_client_of_the_model_context_protocol_inside_a_tool_span_is_the_same_call() -> None:
    """Alone it is a call of kind `mcp`."""
    client = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "a", "gen_ai.tool.call.arguments": '{"x": 1}'}
    nested = one([span(1, ran("a", {"x": 1})), span(2, client, parent=1), span(3, client, parent=2)])
    (alone,) = one(span(2, client)).tool_calls or ()
    assert told(nested) == [("a", {"x": 1})]
    assert (alone.name, alone.kind) == ("a", "mcp")


def test_the_server_of_a_call_is_that_of_its_innermost_client() -> None:
    """A span of the protocol inside a tool span makes the call one of that server."""
    client = {**ran("a", {"x": 1}), "mcp.method.name": "tools/call", "mcp.server.name": "docs"}
    (call,) = (
        one([span(1, ran("a", {"x": 1})), span(2, ran("a"), parent=1), span(3, client, parent=2)]).tool_calls or ()
    )
    assert (call.kind, call.server) == ("mcp", "docs")


@pytest.mark.parametrize(
    ("attributes", "status"),
    [({"gen_ai.tool.call.result": '{"content": [], "isError": true}'}, "error"), ({}, "ok")],
)
def test_a_result_of_the_protocol_says_whether_it_is_an_error(attributes: dict[str, Any], status: str) -> None:
    """As JSON, whatever the status of the span."""
    (call,) = one(span(1, {**ran("a"), "mcp.method.name": "tools/call", **attributes})).tool_calls or ()
    assert call.status == status


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"endTimeUnixNano": None}, "requested"),
        ({"endTimeUnixNano": None, "status": {"code": 2}}, "error"),
        ({"endTimeUnixNano": None, "startTimeUnixNano": None}, "ok"),
        ({}, "ok"),
    ],
)
def test_an_execution_without_an_end_need_not_have_succeeded(more: dict[str, Any], status: str) -> None:
    """Its outcome is not known, unless it says that it failed, or spans have no times at all."""
    (call,) = one(span(1, ran("a", {}), **more)).tool_calls or ()
    assert call.status == status


def test_server_side_calls_have_their_kind() -> None:
    """The provider ran them; what they did is their arguments."""
    part = {"type": "server_tool_call", "id": "s", "name": "search", "server_tool_call": {"type": "web", "query": "q"}}
    (call,) = one(span(1, asked(part))).tool_calls or ()
    assert (call.name, call.arguments, call.kind) == ("search", {"query": "q"}, "server")


def test_what_an_agent_sums_up_counts_only_alone() -> None:
    """Its messages repeat those of the model spans inside."""
    summary = {**asked(("a", {"x": 1}, "1")), "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "boss"}
    alone = one(span(1, summary))
    inside = one([span(1, summary), span(2, asked(("a", {"x": 1}, "1")), parent=1)])
    assert told(alone) == told(inside) == [("a", {"x": 1})]
    assert (len(alone.warnings), [call.agent for call in inside.tool_calls or ()]) == (1, ["boss"])


def test_a_model_span_without_content_hides_no_second_instrumentation() -> None:
    """Around, between or beside spans with content it changes nothing (R7)."""
    empty = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    calls = asked(("a", {"x": 1}, "1"))
    nested = [span(1, calls), span(2, empty, parent=1), span(3, calls, parent=2), span(4, ran("a", {"x": 1}), parent=2)]
    assert told(one(nested)) == [("a", {"x": 1})]


def test_agents_inside_a_call_are_part_of_its_conversation() -> None:
    """Whatever conversation id they have of their own: the outermost counts."""
    outer, inner = {"gen_ai.conversation.id": "one"}, {"gen_ai.conversation.id": "two"}
    spans = [
        span(1, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "boss", **outer}),
        span(2, {**asked(("research", {}, "1")), **outer}, parent=1),
        span(3, {**ran("research", {}), **outer}, parent=1),
        span(4, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "aide", **inner}, parent=3),
        span(5, {**asked(("search", {}, "2")), **inner}, parent=4),
    ]
    trajectory = one(spans)
    found = [(call.name, call.parent, call.kind) for call in trajectory.tool_calls or ()]
    assert trajectory.conversation_id == "one"
    assert found == [("research", None, "agent"), ("search", 0, "client")]


def test_conversations_of_one_file_are_told_apart() -> None:
    """One trajectory an id, although they share a trace."""
    spans = [span(n, {**asked(("a", {"n": n})), "gen_ai.conversation.id": str(n)}) for n in (1, 2)]
    assert [(item.conversation_id, told(item)) for item in read(spans)] == [
        ("1", [("a", {"n": 1})]),
        ("2", [("a", {"n": 2})]),
    ]


def test_traces_beside_the_point_are_left_out_with_a_warning() -> None:
    """A health check is no conversation; a file of nothing else is not recorded (G3)."""
    noise = {**span(7, {"http.route": "/health"}), "traceId": "cd" * 16}
    trajectory = one([noise, span(1, asked(("a", {})))])
    assert told(trajectory) == [("a", {})]
    assert trajectory.warnings == ("traces that hold no span of an agent, and are not read: 1",)
    request = {"resourceSpans": [{"scopeSpans": [{"spans": [noise]}]}]}
    assert one(request).tool_calls is None


@pytest.mark.parametrize("status", [{"tool.status": "error"}, {"error.type": "ValueError"}])
def test_a_tool_that_says_so_has_failed(status: dict[str, Any]) -> None:
    """Even if the status of its span is not an error."""
    (call,) = one([span(1, asked(("a", {}, "1"))), span(2, {**ran("a", {}), **status})]).tool_calls or ()
    assert call.status == "error"


def test_tool_spans_of_strands_have_their_content_in_events() -> None:
    """Arguments and result are events; the cycle around repeats the model's choice."""
    choice = {"name": "gen_ai.choice", "attributes": {"message": json.dumps(BEDROCK), "finish_reason": "tool_use"}}
    given = {"name": "gen_ai.tool.message", "attributes": {"role": "tool", "content": '{"x": 1}', "id": "c1"}}
    result = {"name": "gen_ai.choice", "attributes": {"message": '[{"text": "A"}]', "id": "c1"}}
    cycle = span(1, {"event_loop.cycle_id": "c"}, events=[choice])
    model = span(2, {"gen_ai.operation.name": "chat"}, parent=1, events=[choice])
    tool = span(3, ran("a"), parent=1, events=[given, result])
    for spans in ([cycle, model, tool], [cycle, tool]):
        (call,) = one(spans).tool_calls or ()
        assert (call.name, call.arguments, call.result) == ("a", {"x": 1}, "A")
