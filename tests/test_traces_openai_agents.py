"""The OpenAI Agents SDK: its own spans, and saved states of runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError


def span(id: str, parent: str | None = None, start: int = 0, error: Any = None, **data: Any) -> dict[str, Any]:
    """One span; `start` is its second, and it lasts one."""
    return {
        "object": "trace.span",
        "id": id,
        "trace_id": "trace_1",
        "parent_id": parent,
        "started_at": f"2026-11-30T10:00:{start:02}+00:00",
        "ended_at": f"2026-11-30T10:00:{start + 1:02}+00:00",
        "span_data": data,
        "error": error,
    }


def runs(name: str, id: str, given: Any = "{}", output: Any = "ok", **more: Any) -> dict[str, Any]:
    return span(id, type="function", name=name, input=given, output=output, **more)


def items(*parts: Any) -> list[Trajectory | TraceError]:
    return list(traces.read([json.dumps(list(parts)).encode()], format="openai-agents", file="f"))


def one(*parts: Any) -> Trajectory:
    (item,) = items(*parts)
    if isinstance(item, TraceError):
        raise item
    return item


TRACE = {"object": "trace", "id": "trace_1", "workflow_name": "w", "group_id": "chat-1", "metadata": {"test_id": "t1"}}
ANSWER: dict[str, Any] = {"type": "response", "response_id": "resp_1"}


def test_functions_are_calls_in_the_order_of_their_start() -> None:
    """Those after one answer of the model are parallel; the group is the conversation."""
    read = one(
        runs("b", "s3", '{"x": 1}', start=3, parent="a"),
        runs("a", "s2", start=2, parent="a"),
        span("m1", "a", 1, **ANSWER),
        runs("c", "s5", start=5, parent="a"),
        span("m2", "a", 4, **ANSWER),
        span("a", None, 0, type="agent", name="boss", tools=["a", "b"], handoffs=["Other Agent"]),
        TRACE,
    )
    assert [(call.name, call.arguments, call.message, call.agent) for call in read.tool_calls or ()] == [
        ("a", {}, 0, "boss"),
        ("b", {"x": 1}, 0, "boss"),
        ("c", {}, 1, "boss"),
    ]
    assert (read.conversation_id, read.trace_ids, read.test_id) == ("chat-1", ("trace_1",), "t1")
    assert [tool.name for tool in read.available_tools] == ["a", "b", "transfer_to_other_agent"]


@pytest.mark.parametrize(
    ("given", "state", "value"),
    [('{"x": 1}', "ok", {"x": 1}), ("", "ok", {}), (None, "not_captured", None), ('{"x": ', "malformed", None)],
)
def test_arguments_have_their_state(given: Any, state: str, value: Any) -> None:
    """Without sensitive data they are not captured (G10)."""
    (call,) = one(runs("a", "s1", given)).tool_calls or ()
    assert (call.arguments_state, call.arguments) == (state, value)


def test_failures_are_told() -> None:
    """With the innermost message."""
    failed = {"message": "Error running tool", "data": {"tool_name": "a", "error": "boom"}}
    (call,) = one(runs("a", "s1", error=failed)).tool_calls or ()
    assert (call.status, call.error) == ("error", "boom")


def test_a_run_that_failed_may_lack_a_call() -> None:
    """A tool that the SDK does not know leaves no span (G12)."""
    failed = {"message": "Tool not found", "data": {"tool_name": "nope"}}
    read = one(span("a", error=failed, type="agent", name="boss"), span("m", "a", 1, **ANSWER))
    assert (read.tool_calls, read.gaps) == ((), ("span a failed, and a call may be missing: Tool not found",))


def test_agents_as_tools_and_servers_are_kinds_of_calls() -> None:
    """A function that holds an agent delegates; one with data of a server is of that server."""
    read = one(
        runs("research", "s1", start=1),
        span("b", "s1", 2, type="agent", name="inner"),
        runs("look", "s2", start=3, parent="b"),
        runs("far", "s3", start=5, mcp_data={"server": "s"}),
        span("h", start=6, type="handoff", from_agent="A", to_agent="Refund Agent"),
    )
    assert [(call.name, call.kind, call.parent) for call in read.tool_calls or ()] == [
        ("research", "agent", None),
        ("look", "client", 0),
        ("far", "mcp", None),
        ("transfer_to_refund_agent", "handoff", None),
    ]


def test_answers_in_generation_spans_and_their_runs_are_one_call() -> None:
    """What the model asked for and the function that ran it; what never ran is kept."""
    asked = [{"id": n, "type": "function", "function": {"name": n, "arguments": "{}"}} for n in ("a", "b")]
    output = [{"role": "assistant", "tool_calls": asked}]
    read = one(span("g", type="generation", output=output), runs("a", "s1", start=2))
    assert [(call.name, call.status) for call in read.tool_calls or ()] == [("a", "ok"), ("b", "requested")]


def test_traces_without_calls() -> None:
    """An answer of the model is recorded; without any, nothing is (G3)."""
    assert one(span("m", **ANSWER)).tool_calls == ()
    assert one(span("c", type="custom", name="x", data={})).tool_calls is None
    assert one(TRACE).tool_calls is None


def test_batches_of_the_api_and_lines_are_read() -> None:
    """Whatever the exporter writes around the spans."""
    for text in (
        json.dumps({"data": [TRACE, runs("a", "s1")]}),
        f"{json.dumps(TRACE)}\n{json.dumps(runs('a', 's1'))}",
    ):
        assert traces.detect(text.encode()) == "openai-agents"
        (read,) = traces.read([text.encode()])
        assert isinstance(read, Trajectory)
        assert [call.name for call in read.tool_calls or ()] == ["a"]


def call(name: str, id: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": id, "name": name, "arguments": "{}"}


def wrapped(raw: dict[str, Any], kind: str = "tool_call_item", agent: str = "boss") -> dict[str, Any]:
    return {"type": kind, "agent": {"name": agent}, "raw_item": raw}


def result(id: str, output: str) -> dict[str, Any]:
    raw = {"type": "function_call_output", "call_id": id, "output": output}
    return wrapped(raw, "tool_call_output_item")


def state(**more: Any) -> Trajectory:
    base = {"$schemaVersion": "1.13", "original_input": "hi", "model_responses": [], "generated_items": []}
    return traces.read_object({**base, **more})


def test_a_state_tells_each_call_once() -> None:
    """Answers of the model hold the calls; items repeat them and add results, also where ids repeat."""
    read = state(
        model_responses=[{"output": [call("a", "1"), call("b", "2")]}, {"output": [call("c", "1")]}],
        generated_items=[wrapped(call("a", "1")), wrapped(call("b", "2")), result("1", "A"), result("2", "B")],
        session_items=[wrapped(call("c", "1"), agent="other"), result("1", "C")],
    )
    assert [(made.name, made.result, made.message) for made in read.tool_calls or ()] == [
        ("a", "A", 0),
        ("b", "B", 0),
        ("c", None, 1),
    ]


def test_items_count_where_answers_are_missing() -> None:
    """Old states hold no answers."""
    read = state(generated_items=[wrapped(call("a", "1")), result("1", "A")])
    assert [(made.name, made.result, made.agent) for made in read.tool_calls or ()] == [("a", "A", "boss")]


def test_approvals_are_awaited_or_denied() -> None:
    """An interruption names the calls that wait; a decision those that were refused."""
    waiting = {"data": {"interruptions": [wrapped(call("a", "1"), "tool_approval_item")]}}
    answers = [{"output": [call("a", "1"), call("b", "2")]}]
    denied = {"approvals": {"b": {"approved": [], "rejected": ["2"]}}}
    read = state(model_responses=answers, current_step=waiting, context=denied)
    assert [made.status for made in read.tool_calls or ()] == ["pending", "refused"]


@pytest.mark.parametrize(
    ("more", "place"),
    [({"model_responses": [{"output": 5}]}, "model_responses[0].output"), ({"original_input": 5}, "original_input")],
)
def test_a_broken_state_says_where(more: dict[str, Any], place: str) -> None:
    """The JSON path of what is wrong."""
    with pytest.raises(TraceError) as caught:
        state(**more)
    assert caught.value.where.path == place
