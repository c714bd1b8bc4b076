"""Gemini and Google ADK: which calls contents, streams, sessions and eval sets hold, and what is missing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from support import reading
from support.reading import items


def call(name: str, args: Any = None, **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, **({} if args is None else {"args": args}), **more}}


def response(name: str, response: Any, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response, **more}}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


USER = user({"text": "hello"})


def one(*documents: Any, format: str = "gemini") -> Trajectory:
    return reading.one(format, *documents)


def told(trajectory: Trajectory) -> list[tuple[str, Any, str]]:
    return [(call.name, call.arguments, call.status) for call in trajectory.tool_calls or ()]


def test_parallel_calls_of_one_tool_take_their_responses_in_order() -> None:
    """Without ids the order of a name decides; a response with an id goes to its call."""
    read = one([USER, model(call("a", {"x": 1}), call("a", {"x": 2})), user(response("a", 1), response("a", 2))])
    assert [(one.arguments["x"], one.result) for one in read.tool_calls or ()] == [(1, 1), (2, 2)]
    read = one([model(call("a", id="1"), call("a", id="2")), user(response("a", "B", id="2"))])
    assert [one.result for one in read.tool_calls or ()] == [None, "B"]


@pytest.mark.parametrize(
    ("response_", "status", "result"),
    [
        ({"result": '{"id": 7}'}, "ok", {"id": 7}),
        ({"output": "hi"}, "ok", "hi"),
        ({"error": "boom"}, "error", {"error": "boom"}),
        ({"error": None, "id": 7}, "ok", {"error": None, "id": 7}),
        ({"result": 1, "error": "note"}, "ok", {"result": 1, "error": "note"}),
    ],
)
def test_a_response_says_whether_the_call_failed(response_: Any, status: str, result: Any) -> None:
    """By its key `error`, as the API documents it."""
    read = one([model(call("a")), user(response("a", response_))])
    assert [(one.status, one.result) for one in read.tool_calls or ()] == [(status, result)]


def test_snake_case_and_null_fields_are_those_of_the_sdk() -> None:
    """A dump of the Python SDK has every field, most of them null."""
    part = {"text": None, "function_call": {"id": None, "name": "a", "args": None}, "function_response": None}
    assert told(one([model(part)])) == [("a", {}, "requested")]


def test_code_that_the_provider_ran_is_a_call_of_the_server() -> None:
    """With what came of it."""
    code = {"executableCode": {"language": "PYTHON", "code": "1/0"}}
    read = one([model(code, {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "ZeroDivisionError"}})])
    assert [(one.name, one.kind, one.error) for one in read.tool_calls or ()] == [
        ("code_execution", "server", "ZeroDivisionError")
    ]


def chunk(*parts: Any, finish: str | None = None) -> dict[str, Any]:
    candidate = {"content": model(*parts), **({"finishReason": finish} if finish else {})}
    return {"responseId": "r", "candidates": [candidate]}


def piece(path: str, more: bool = True, **value: Any) -> dict[str, Any]:
    return {"functionCall": {"partialArgs": [{"jsonPath": path, **value}], "willContinue": more}}


def test_pieces_of_arguments_go_where_their_paths_say() -> None:
    """Text grows, objects and arrays are made on the way, other values are set."""
    read = one(
        chunk(call("a", willContinue=True)),
        chunk(piece("$.to.names[0]", stringValue="A")),
        chunk(piece("$.to.names[0]", stringValue="nn")),
        chunk(piece("$.to['x.y']", numberValue=2.5), piece("$.ok", boolValue=False)),
        chunk({"functionCall": {}}, finish="STOP"),
    )
    assert told(read) == [("a", {"to": {"names": ["Ann"], "x.y": 2.5}, "ok": False}, "requested")]
    assert (read.id, read.gaps) == ("r", ())


@pytest.mark.parametrize("path", ["$.x[7]", "$", "x", "$.x[*]", "$..x", "$.x[999999999999]"])
def test_a_piece_that_fits_nowhere_cuts_the_arguments(path: str) -> None:
    """Nothing is guessed and nothing huge is made."""
    read = one(chunk(call("a", willContinue=True), piece(path, False, stringValue="v"), finish="STOP"))
    assert [(one.name, one.arguments, one.arguments_state) for one in read.tool_calls or ()] == [
        ("a", None, "truncated")
    ]


def test_a_stream_that_breaks_off_has_a_gap() -> None:
    """The call that was still growing keeps what had come."""
    read = one(chunk(call("a", willContinue=True)), chunk(piece("$.x", stringValue="v")))
    assert [(one.arguments_state, one.arguments_text) for one in read.tool_calls or ()] == [("truncated", '{"x":"v"}')]
    assert read.gaps == ("the stream ends without a finish reason",)


@pytest.mark.parametrize(
    ("body", "gap"),
    [
        (chunk(finish="MALFORMED_FUNCTION_CALL"), "the finish reason is `MALFORMED_FUNCTION_CALL`"),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, "the response has no candidates"),
    ],
)
def test_a_response_that_hides_a_call_has_a_gap(body: Any, gap: str) -> None:
    """The verdict must not be built on what is missing (G12)."""
    read = one(body)
    assert (read.tool_calls or (), [found[: len(gap)] for found in read.gaps]) == ((), [gap])


def test_of_several_candidates_the_first_counts() -> None:
    """Told in a warning."""
    candidates = [{"index": 1, "content": model(call("b"))}, {"index": 0, "content": model(call("a"))}]
    read = one({"candidates": candidates})
    assert told(read) == [("a", {}, "requested")]
    assert read.warnings == ("2 candidates; only the one of index 0 is read",)


def test_calls_that_the_sdk_made_by_itself_are_read() -> None:
    """They stand in the history that the response carries."""
    history = [USER, model(call("a")), user(response("a", {"result": 1}))]
    body = {"automatic_function_calling_history": history, "candidates": [{"content": model({"text": "done"})}]}
    read = one(body)
    assert (told(read), read.output) == ([("a", {}, "ok")], "done")


def exchange(history: list[Any], answer: dict[str, Any] | None) -> dict[str, Any]:
    body = {"candidates": [{"content": answer, "finishReason": "STOP"}]} if answer else None
    return {"request": {"contents": history, "tools": [{"functionDeclarations": [{"name": "a"}]}]}, "response": body}


def test_a_log_counts_each_call_once() -> None:
    """Requests repeat the conversation so far; a last request without a response is a gap."""
    second = [USER, model(call("a")), user(response("a", {"result": 1}))]
    read = one([exchange([USER], model(call("a"))), exchange(second, model({"text": "done"}))])
    assert (told(read), read.gaps, [tool.name for tool in read.available_tools]) == ([("a", {}, "ok")], (), ["a"])
    assert one([exchange([USER], model(call("a"))), exchange(second, None)]).gaps == (
        "the last request of the log has no response",
    )


def test_a_session_of_the_command_line_tool_tells_what_became_of_calls() -> None:
    """Its own words for the states are read."""
    calls = [
        {"name": "a", "args": {}, "status": "success", "result": [response("a", {"output": "A"})]},
        {"name": "b", "args": {}, "status": "cancelled"},
        {"name": "c", "args": {}, "status": "awaiting_approval"},
    ]
    messages = [{"type": "user", "content": "hi"}, {"type": "gemini", "content": "", "toolCalls": calls}]
    read = one({"sessionId": "s", "projectHash": "p", "messages": messages})
    assert told(read) == [("a", {}, "ok"), ("b", {}, "refused"), ("c", {}, "pending")]
    assert (read.conversation_id, (read.tool_calls or ())[0].result) == ("s", "A")


def event(author: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"author": author, "invocationId": "i", "content": content, "actions": {}, **more}


def adk(*events: Any) -> Trajectory:
    return one(*events, format="google-adk")


def test_partial_events_repeat_and_are_left_out() -> None:
    """Unless nothing follows them: then something is missing (G12)."""
    partial = event("bot", model(call("a", {"x": 1})), partial=True)
    assert told(adk(event("user", USER), partial, event("bot", model(call("a", {"x": 1}))))) == [
        ("a", {"x": 1}, "requested")
    ]
    assert adk(event("user", USER), partial).gaps == ("the events end in a partial answer",)


def test_a_tool_that_takes_long_is_pending_until_it_answers() -> None:
    """Of several responses to one call the last counts."""
    asked = event("bot", model(call("a", id="1"), call("b", id="2")), longRunningToolIds=["1", "2"])
    first = event("bot", user(response("a", {"status": "started"}, id="1")))
    last = event("user", user(response("a", {"result": "done"}, id="1")))
    read = adk(asked, first, last)
    assert [(one.status, one.result) for one in read.tool_calls or ()] == [("ok", "done"), ("pending", None)]
    assert read.warnings == ()


def test_agents_handoffs_and_requests_of_the_framework() -> None:
    """The author is the agent; what the framework asks of the user is no call of the model."""
    confirm = event("bot", model(call("adk_request_confirmation", {"originalFunctionCall": {}}, id="9")))
    answer = event("user", user(response("adk_request_confirmation", {"confirmed": True}, id="9")))
    moved = event("bot", model(call("transfer_to_agent", {"agent_name": "other"})), branch="root.bot")
    read = adk(event("user", USER), confirm, answer, moved, event("other", model(call("a"))))
    assert [(one.name, one.kind, one.agent, one.agent_path) for one in read.tool_calls or ()] == [
        ("transfer_to_agent", "handoff", "bot", ("root", "bot")),
        ("a", "client", "other", ()),
    ]
    assert read.warnings == ()


def test_each_case_of_an_eval_set_is_a_trajectory() -> None:
    """With its id as test id, and a warning that the calls may be expected ones."""
    invocation = {
        "user_content": USER,
        "intermediate_data": {"invocation_events": [{"author": "bot", "content": model(call("a"))}]},
    }
    cases = [{"eval_id": "e1", "conversation": [invocation]}, {"eval_id": "e2", "conversation": []}]
    read = list(items("google-adk", {"eval_set_id": "s", "eval_cases": cases}))
    assert [(item.test_id, told(item), len(item.warnings)) for item in read if isinstance(item, Trajectory)] == [
        ("e1", [("a", {}, "requested")], 1),
        ("e2", [], 1),
    ]
    assert [item.tool_calls is None for item in read if isinstance(item, Trajectory)] == [False, True]


def test_results_of_an_eval_tell_what_was_done() -> None:
    """Not what was expected."""
    actual = {
        "intermediate_data": {
            "tool_uses": [{"name": "a", "args": {}}],
            "tool_responses": [{"name": "a", "response": {}}],
        }
    }
    expected = {"intermediate_data": {"tool_uses": [{"name": "b", "args": {}}]}}
    case = {
        "eval_id": "e",
        "session_id": "s",
        "eval_metric_result_per_invocation": [{"actual_invocation": actual, "expected_invocation": expected}],
    }
    read = one({"eval_case_results": [case]}, format="google-adk")
    assert (read.conversation_id, told(read), read.warnings) == ("s", [("a", {}, "ok")], ())


@pytest.mark.parametrize(
    ("format", "document", "place"),
    [
        ("gemini", [USER, {"role": "model", "parts": "x"}], "f:1: [1].parts: expected an array of parts"),
        ("gemini", [USER, {"role": "wizard", "parts": []}], "f:1: [1].role: unknown role"),
        ("gemini", [USER, 5], "f:1: [1]: expected a content"),
        ("gemini", {"model": "x"}, "f:1: expected a Gemini content, request or response; found an object"),
        ("gemini", {"request": {"messages": []}, "response": {}}, "f: expected a Gemini content"),
        ("google-adk", [event("a", None), 5], "f:1: [1]: expected an ADK event; found a number"),
        ("google-adk", {"eval_cases": [5]}, "f:1: eval_cases[0]: expected a case"),
        ("google-adk", {"eval_case_results": [5]}, "f:1: eval_case_results[0]: expected the results"),
        ("google-adk", 5, "f:1: expected an ADK event, session or eval set; found a number"),
    ],
)
def test_what_is_not_of_the_format_says_where(format: str, document: Any, place: str) -> None:
    """An error with file, line and JSON path."""
    errors = [str(item) for item in items(format, document) if isinstance(item, TraceError)]
    assert [error.startswith(place) for error in errors] == [True], errors


@pytest.mark.parametrize(
    ("value", "format"),
    [
        ([user({"text": "x" * 70_000}), model(call("a"))], "gemini"),
        ([{"url": "u", **exchange([user({"text": "x" * 70_000})], model(call("a")))}], "gemini"),
        (
            {"id": "s", "appName": "a", "userId": "u", "events": [event("user", user({"text": "x" * 70_000}))]},
            "google-adk",
        ),
    ],
)
def test_a_first_message_longer_than_what_is_looked_at_is_told(value: Any, format: str) -> None:
    """The head ends in the middle of it."""
    assert traces.detect(json.dumps(value).encode()) == format
