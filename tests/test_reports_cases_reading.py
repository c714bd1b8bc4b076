"""Public bug reports about reading: parallel calls, repeated calls, traces and messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rightcall
from rightcall.errors import TraceError
from support.bug_reports import Case, chat, check, document, expectations, extracted, json_lines, judge, names, report
from support.command_line import run_here
from support.openinference import model, request, span, tool

BAD_ESCAPE = '{"t":"\\ubn12"}'


@report("B048")
def test_duplicates_of_a_resumed_session(case: Case) -> None:
    """A line that a resumed session copies is one line, whatever stands beside its message."""
    lines = [
        {**line, "type": "assistant", "sessionId": "s", "message": _answer(line)} for line in case["input"]["lines"]
    ]
    assert case["expect"]["extracted"] == extracted(json_lines(lines))


def _answer(sketch: dict[str, Any]) -> dict[str, Any]:
    """Sketched calls as the content of an answer."""
    calls = sketch["tool_calls"]
    content = [{"type": "tool_use", "id": one["id"], "name": one["name"], "input": one["arguments"]} for one in calls]
    return {"role": sketch["role"], "content": content}


@report("B049")
def test_duplicates_of_a_growing_history(case: Case) -> None:
    """Requests that repeat the conversation so far are one conversation; its turns keep their own calls."""
    first, second = (turn["cumulative_calls"][-1] for turn in case["input"]["turn_payloads"])
    start: list[dict[str, Any]] = [{"role": "user", "content": "Compile it."}]
    asked: list[dict[str, Any]] = chat([{"role": "assistant", "tool_calls": [first]}])["messages"]
    then = [{"role": "tool", "tool_call_id": first["id"], "content": "done"}, {"role": "user", "content": "Write."}]
    answer = chat([{"role": "assistant", "tool_calls": [second]}])["messages"]
    log = [_exchange(start, asked), _exchange([*start, *asked, *then], answer)]
    calls = rightcall.read(json_lines(log)).tool_calls or ()
    assert case["expect"]["extracted_names"] == [call.name for call in calls]
    assert case["expect"]["turn_2_names"] == [call.name for call in calls if call.turn == 1]


def _exchange(messages: list[dict[str, Any]], answer: list[dict[str, Any]]) -> dict[str, Any]:
    choice = {"index": 0, "message": answer[0], "finish_reason": "tool_calls"}
    return {"request": {"model": "m", "messages": messages}, "response": {"choices": [choice]}}


@report("B050")
def test_duplicates_of_earlier_messages(case: Case) -> None:
    """The input messages of a model span are history; calls are what it put out."""
    spans = [
        model(one["id"], one["output_calls"], one["input_calls"], start=one["start"]) for one in case["input"]["spans"]
    ]
    assert case["expect"]["extracted_names"] == names(request(*spans))


@report("B051")
def test_duplicates_of_message_and_span(case: Case) -> None:
    """A call that a model span asks for and a tool span runs is one call."""
    (asked,) = case["input"]["messages"]
    (ran,) = case["input"]["tool_spans"]
    run = tool("run", ran["name"], ran["arguments"], start=2, tool_call__id=ran["call_id"])
    assert case["expect"]["extracted_names"] == names(request(model("ask", asked["tool_calls"], start=1), run))


@report("B052")
def test_duplicates_of_content(case: Case) -> None:
    """Equal name and arguments do not make two calls one."""
    assert case["expect"]["extracted_names"] == names(chat(case["input"]["messages"]))


@report("B056")
def test_order_of_requests(case: Case) -> None:
    """Where the model's own list is known it gives the order, whatever clocks and file order say."""
    given = case["input"]
    runs = [
        tool(one["call_id"], one["name"], start=one["start"], tool_call__id=one["call_id"])
        for one in given["tool_spans"]
    ]
    ask = model("ask", given["model_output_calls"], start=1)
    for spans in ([ask, *runs], [*runs[::-1], ask], [runs[0], ask, runs[1]]):
        assert case["expect"]["extracted_names"] == names(request(*spans))


@report("B058")
def test_parallel_calls_in_another_order(case: Case) -> None:
    """Calls of one message keep their order unless the test says that they have none (G18)."""
    given, expect = case["input"], case["expect"]
    assert expect["verdict"] == judge(given).status
    assert expect["without_option"] == judge(given, parallel="ordered").status
    assert expect["any_order"] == judge(given, match="any_order", parallel="ordered").status


@report("B059")
def test_parallel_calls_by_number(case: Case) -> None:
    """Indices are numbers: the tenth call comes after the second."""
    assert case["expect"]["extracted_names"] == names(case["input"]["span_attributes"])


@report("B061")
def test_parallel_calls_and_their_results(case: Case) -> None:
    """One message may ask for several calls and get several answers."""
    assert case["expect"]["extracted"] == extracted(chat(case["input"]["messages"]))


@report("B062")
def test_parallel_calls_keep_their_own_result(case: Case) -> None:
    """Results belong to calls by id, in whatever order they come."""
    given = case["input"]
    results = [
        {"role": "tool", "tool_call_id": one["id"], "content": "…", "status": one["status"]}
        for one in given["one_message_with_results"]
    ]
    calls = rightcall.read(chat([{"role": "assistant", "tool_calls": given["model_calls"]}, *results])).tool_calls
    assert case["expect"]["statuses"] == {call.name: call.status for call in calls or ()}


@report("B063")
def test_parallel_calls_in_a_stream(case: Case) -> None:
    """The pieces of a streamed call are joined by its index, with or without an id."""
    parts = [[_delta(piece) for piece in pieces] for pieces in case["input"]["stream_chunks"]]
    chunks = [_chunk({"tool_calls": part}, None) for part in parts] + [_chunk({}, "tool_calls")]
    assert case["expect"]["extracted"] == extracted(json_lines(chunks))


def _delta(piece: dict[str, Any]) -> dict[str, Any]:
    outer: dict[str, Any] = {key: piece[key] for key in ("index", "id") if key in piece}
    return {**outer, "function": {key: piece[key] for key in ("name", "arguments") if key in piece}}


def _chunk(delta: dict[str, Any], reason: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "c1", "object": "chat.completion.chunk", "choices": [choice]}


@report("B064")
def test_parallel_calls_with_results_between(case: Case) -> None:
    """Where results stand in the log changes nothing."""
    for number in (1, 2):
        given = {**case["input"], "messages": _shaped(case["input"][f"shape_{number}"])}
        assert case["expect"][f"verdict_shape_{number}"] == judge(given).status


def _shaped(steps: list[str]) -> list[dict[str, Any]]:
    """Steps such as `call a` and `result a` as messages; calls that follow one another are of one message."""
    messages: list[dict[str, Any]] = []
    for kind, name in (step.split() for step in steps):
        if kind == "result":
            messages.append({"role": "tool", "tool_call_id": name, "content": "…"})
        elif messages and messages[-1]["role"] == "assistant":
            messages[-1]["tool_calls"].append({"id": name, "name": name})
        else:
            messages.append({"role": "assistant", "tool_calls": [{"id": name, "name": name}]})
    return messages


@report("B065")
def test_parsing_of_traces_or_messages_with_tool_definitions(case: Case) -> None:
    """The tools on offer are no calls."""
    trace = case["input"]["spans"]
    assert case["expect"]["extracted_names"] == names(trace)
    (verdict,) = rightcall.grade(trace, expectations(case["input"]))
    assert case["expect"]["verdict"] == verdict.status


@report("B066")
def test_parsing_of_traces_or_messages_in_any_wrapping(case: Case) -> None:
    """A call alone, as text or in a list is the same call; calls inside prose are refused, not missed."""
    outputs = [variant["output"] for variant in case["input"]["variants"]]
    assert [case["expect"]["extracted_first_three"]] * 3 == [extracted(output) for output in outputs[:3]]
    with pytest.raises(TraceError, match='expected JSON text, found "Some text'):
        rightcall.read(outputs[3])


@report("B067")
def test_parsing_of_traces_or_messages_with_two_sets_of_arguments(case: Case) -> None:
    """Of two places for arguments one has precedence, and a difference is noted."""
    attributes = case["input"]["span_attributes"]
    call = {"name": attributes["tool.name"], "args": attributes["tool.args"], "arguments": attributes["tool.arguments"]}
    for written in (call, dict(reversed(call.items()))):
        trajectory = rightcall.read({"tool_calls": [written]})
        assert case["expect"]["extracted"] == extracted(trajectory)
        (warning,) = trajectory.warnings
        assert warning.startswith("tool_calls[0] has differing")


@report("B068")
def test_parsing_of_traces_or_messages_behind_a_wrapper(
    case: Case, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The label of a wrapper's span is told as one, unless the name of the tool inside is mapped."""
    given = case["input"]["span"]
    attributes = {"mlflow.spanType": given["kind"].upper(), "mlflow.spanInputs": json.dumps(given["inputs"])}
    trace = {**span("", "run"), "name": given["name"], "attributes": attributes}
    assert names(trace) == [given["name"]]
    (tmp_path / "t.json").write_text(json.dumps(request(trace)))
    shown = run_here(capfdbinary, "show", tmp_path / "t.json").out
    assert f"  named by the label of their span alone: `{given['name']}`" in shown.splitlines()
    (wanted,) = case["expect"]["extracted"]
    (verdict,) = rightcall.grade(request(trace), {"expected_tool_calls": [wanted]})
    assert (verdict.status, verdict.reason) == ("fail", "Expected list_rows; it was never called.")
    paths = case["input"]["config"]["name_path"], case["input"]["config"]["arguments_path"]
    mapped = rightcall.read(trace, tool_name_at=paths[0], tool_arguments_at=paths[1])
    assert case["expect"]["extracted"] == extracted(mapped)
    options = ["--tool-name-at", paths[0], "--tool-arguments-at", paths[1]]
    assert "list_rows(n=2)" in run_here(capfdbinary, "show", tmp_path / "t.json", *options).out


@report("B073")
def test_parsing_of_traces_or_messages_of_a_call_that_threw(case: Case) -> None:
    """A run has the same calls, by the same names, whether its messages or its spans are read."""
    (part,), (recorded,) = case["input"]["from_messages"], case["input"]["from_trace"]
    invocation = {"state": part["state"], "toolCallId": part["id"], "toolName": part["name"], "args": {}}
    message = {"role": "assistant", "parts": [{"type": "tool-invocation", "toolInvocation": invocation}]}
    spans = {
        "traceId": "ab" * 16,
        "spans": [
            {
                "traceId": "ab" * 16,
                "spanId": "cd" * 8,
                "name": recorded["label"],
                "spanType": "tool_call",
                "entityType": "tool",
                "entityId": recorded["entity_id"],
                "attributes": {"success": recorded["success"]},
                "input": {},
                "startedAt": "2026-11-30T10:00:00.000Z",
                "endedAt": "2026-11-30T10:00:01.000Z",
            }
        ],
    }
    for document_ in ([message], spans):
        calls = rightcall.read(document_).tool_calls or ()
        assert case["expect"]["extracted_names"] == [call.name for call in calls]
        assert case["expect"]["statuses"] == {call.name: call.status for call in calls}


@report("B069", "B070")
def test_parsing_of_traces_or_messages_around_arguments(case: Case) -> None:
    """Arguments inside a list of one message are taken out of it, as an object or as text."""
    given = case["input"]["span"]
    carried = json.dumps(given.get("inputs") or given["input"])
    trace = request(span("TOOL", "run", tool__name=given["name"], input__value=carried))
    assert case["expect"]["extracted"] == extracted(trace)


@report("B074")
def test_parsing_of_traces_or_messages_in_all_spans(case: Case) -> None:
    """A trace is a tree: the calls of all descendants are read."""
    root, *models = case["input"]["spans"]
    spans = [model(one["id"], one["calls"], parent=one["parent"], start=number) for number, one in enumerate(models, 1)]
    assert case["expect"]["extracted_names"] == names(request(span("CHAIN", root["id"]), *spans))


@report("B076")
def test_parsing_of_traces_or_messages_of_nested_agents(case: Case) -> None:
    """The calls of an agent used as a tool are read too; a test can count those of the outer agent alone (G13)."""
    (outer,) = case["input"]["trace_tree"]["calls"]
    trace = request(
        span("AGENT", "top", start=0),
        model("ask", [{"id": "h", "name": outer["name"]}], parent="top", start=1),
        tool("run", outer["name"], parent="top", start=2, tool_call__id="h"),
        span("AGENT", "inner", parent="run", start=3),
        model("think", outer["children"], parent="inner", start=4),
    )
    assert case["expect"]["extracted_names_all"] == names(trace)
    expected = {"expected_tool_calls": case["expect"]["extracted_names_top"], "match": "exact"}
    (verdict,) = rightcall.grade(trace, {**expected, "count": {"agents": ["top"]}})
    assert verdict.status == "pass"


@report("B077")
def test_parsing_of_traces_or_messages_with_handovers(case: Case) -> None:
    """A hand-over that the model asked for is a call of its own kind; its span is not a second one."""
    (asked,) = case["input"]["messages"]
    handover = span("TOOL", "handoff to billing", start=2)
    (call,) = rightcall.read(request(model("ask", asked["tool_calls"], start=1), handover)).tool_calls or ()
    assert case["expect"]["extracted_names"] == [call.name]
    assert call.kind == "handoff"


@report("B078")
def test_parsing_of_traces_or_messages_with_calls_of_the_provider(case: Case) -> None:
    """Tools that the provider runs are calls by a name of their own; unknown ones are calls with a warning."""
    items = case["input"]["output_items"]
    assert case["expect"]["call_count"] == len(names(items))
    assert [(call["name"], call["arguments"]) for call in extracted(items)] == [
        ("code_interpreter", {"code": "print(1)"}),
        ("geo", {}),
    ]
    trajectory = rightcall.read([*items, {"type": "teleport_call", "id": "t1"}])
    assert [*names(items), "teleport"] == [call.name for call in trajectory.tool_calls or ()]
    assert trajectory.warnings == ("[2] is a call of the unknown type `teleport_call`",)


@report("B079")
def test_parsing_of_traces_or_messages_without_execution(case: Case) -> None:
    """A call that was never run was still asked for."""
    (asked,) = case["input"]["messages"]
    for recorded in (request(model("ask", asked["tool_calls"])), chat([asked])):
        (call,) = rightcall.read(recorded).tool_calls or ()
        assert (case["expect"]["extracted_names"], call.status) == ([call.name], "requested")


@report("B081")
def test_parsing_of_traces_or_messages_with_a_nameless_call(case: Case) -> None:
    """A call without a name counts, a warning has its place, and other rows are graded as ever (G9)."""
    found = [judge(row) for row in case["input"]["rows"]]
    assert case["expect"]["row_verdicts"] == [verdict.status for verdict in found]
    (warning,) = rightcall.read(document(case["input"]["rows"][0])).warnings
    assert warning.startswith("messages[0].content[0] has no string for its name")


@report("B082")
def test_parsing_of_traces_or_messages_with_calls_as_text(case: Case) -> None:
    """Text that is JSON is decoded; other text is a call without a name, and fails (G9)."""
    assert case["expect"]["extracted_names"] == names(document(case["input"]))
    assert judge(case["input"]).status == "pass"
    assert judge({**case["input"], "tool_calls": ["search it"]}).status == "fail"


@report("B083")
def test_parsing_of_traces_or_messages_without_arguments(case: Case) -> None:
    """No arguments may be written in four ways in a native record; values inside are kept (G10)."""
    for call in case["input"]["actual_raw"]:
        assert case["expect"]["each"] == judge({**case["input"], "actual_raw": [call]}).status
    kept = {"a": 0, "b": False, "c": ""}
    assert [{"name": "ping", "arguments": kept}] == extracted([{"name": "ping", "arguments": kept}])


@report("B084", "B085", "B087")
def test_parsing_of_traces_or_messages(case: Case) -> None:
    """Messages without calls have none, broken arguments keep their call, and results are no calls."""
    parts = {part: want for part, want in case["expect"].items() if part != "extracted_names"}
    check({**case, "expect": parts})


@report("B085")
def test_parsing_of_traces_or_messages_repairs_nothing(case: Case) -> None:
    """Unreadable arguments are kept as text and flagged; they match only "any" (G9)."""
    (call,) = rightcall.read(document(case["input"])).tool_calls or ()
    assert (call.arguments_state, call.arguments_text) == ("malformed", '{}""')
    wanted = {**case["input"], "expected": [{"name": "list_all", "arguments": {}}]}
    assert judge(wanted, arguments="exact").status == "fail"


@report("B087")
def test_parsing_of_traces_or_messages_with_calls_on_results(case: Case) -> None:
    """Calls are those of the model's messages; what stands on other messages is named in a warning."""
    trajectory = rightcall.read(document(case["input"]))
    assert case["expect"]["extracted_names"] == names(trajectory)
    assert len(trajectory.warnings) == 2


@report("B088")
def test_parsing_of_traces_or_messages_with_failures_of_the_protocol(case: Case) -> None:
    """A result that the protocol flags as an error is one."""
    log: list[dict[str, Any]] = []
    for one in case["input"]["calls"]:
        asked = {"jsonrpc": "2.0", "id": one["id"], "method": "tools/call", "params": {"name": one["name"]}}
        log += [asked, {"jsonrpc": "2.0", "id": one["id"], "result": one["result"]}]
    calls = rightcall.read(json_lines(log)).tool_calls or ()
    assert case["expect"]["statuses"] == {call.name: call.status for call in calls}
