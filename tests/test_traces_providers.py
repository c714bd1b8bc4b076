"""Pydantic AI, Cohere and Ollama: which calls their messages and streams hold, and what is missing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from support.reading import items, one, told


def part(kind: str, name: str | None = None, **more: Any) -> dict[str, Any]:
    return {"part_kind": kind, **({"tool_name": name, "tool_call_id": "t"} if name else {}), **more}


def request(*parts: Any) -> dict[str, Any]:
    return {"kind": "request", "parts": list(parts)}


def response(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"kind": "response", "parts": list(parts), **more}


@pytest.mark.parametrize(
    ("answer", "status", "error"),
    [
        (part("tool-return", "a", content="A"), "ok", None),
        (part("tool-return", "a", content="A", outcome="failed"), "error", "A"),
        (part("tool-return", "a", content="A", outcome="denied"), "refused", "A"),
        (part("retry-prompt", "a", content="A"), "error", "A"),
        (part("retry-prompt", "a", content=[{"msg": "A"}]), "error", '[{"msg":"A"}]'),
        (part("retry-prompt", content="A"), "requested", None),
    ],
)
def test_pydantic_ai_says_what_became_of_a_call(answer: Any, status: str, error: str | None) -> None:
    """A retry that names no tool is about the answer, not about a call."""
    read = one("pydantic-ai", [response(part("tool-call", "a", args=None)), request(answer)])
    assert [(call.arguments, call.status, call.error) for call in read.tool_calls or ()] == [({}, status, error)]
    assert read.warnings == ()


def test_pydantic_ai_marks_output_and_the_tools_of_the_provider() -> None:
    """Provider-side results stand in the response itself."""
    builtin = [part("builtin-tool-call", "search", args={}), part("builtin-tool-return", "search", content="found")]
    final = [part("tool-call", "final_result", args={}), part("tool-call", "final_result_report", args={})]
    read = one("pydantic-ai", [response(*builtin, *final, part("tool-call", "final_results", args={}))])
    assert [(call.name, call.kind) for call in read.tool_calls or ()] == [
        ("search", "server"),
        ("final_result", "output"),
        ("final_result_report", "output"),
        ("final_results", "client"),
    ]
    assert (read.tool_calls or ())[0].result == "found"


@pytest.mark.parametrize(
    ("more", "gap"),
    [
        ({"state": "interrupted"}, "[0] is a response in state `interrupted`"),
        ({"finish_reason": "tool_call"}, "the finish reason is `tool_call`, but [0] has no calls"),
    ],
)
def test_pydantic_ai_responses_that_miss_something_are_gaps(more: Any, gap: str) -> None:
    """The verdict must not be built on what is missing (G12)."""
    assert one("pydantic-ai", [response(part("text", content="hm"), **more)]).gaps == (gap,)


def test_pydantic_ai_messages_stand_in_a_list_in_lines_or_in_a_record() -> None:
    """Turns are counted by prompts of the user."""
    messages = [
        request(part("user-prompt", content="hi")),
        response(part("tool-call", "a", args="{}"), conversation_id="c"),
        request(part("user-prompt", content="again")),
        response(part("tool-call", "b", args="{}"), part("text", content="x")),
    ]
    for documents in ([messages], messages, [{"messages": messages}]):
        read = one("pydantic-ai", *documents)
        assert [(call.name, call.turn) for call in read.tool_calls or ()] == [("a", 0), ("b", 1)]
        assert read.conversation_id == "c"


def function(name: str, arguments: Any = "{}", id: str = "t") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


USER = {"role": "user", "content": "hello"}


def asks(*calls: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": list(calls), **more}


def documents(*data: Any) -> list[dict[str, Any]]:
    return [{"type": "document", "document": {"data": one}} for one in data]


def test_cohere_results_are_documents() -> None:
    """One or several, and plain text too."""
    answers = [
        {"role": "tool", "tool_call_id": "1", "content": documents('{"id": 7}')},
        {"role": "tool", "tool_call_id": "2", "content": documents("x", '{"id": 8}')},
        {"role": "tool", "tool_call_id": "3", "content": "plain"},
    ]
    asked = asks(function("a", id="1"), function("b", id="2"), function("c", id="3"), tool_plan="Look.")
    read = one("cohere", [USER, asked, *answers])
    assert [call.result for call in read.tool_calls or ()] == [{"id": 7}, ["x", {"id": 8}], "plain"]
    assert traces.detect(json.dumps([USER, asked]).encode()) == "cohere"
    assert traces.detect(json.dumps([USER, asks(function("a"))]).encode()) == "openai-chat"


def event(kind: str, index: int | None = None, **call: Any) -> dict[str, Any]:
    delta = {"delta": {"message": {"tool_calls": call}}} if call else {}
    return {"type": kind, **({} if index is None else {"index": index}), **delta}


def test_cohere_events_add_up_by_index() -> None:
    """Parallel calls, and arguments that never come."""
    read = one(
        "cohere",
        {"type": "message-start", "id": "m"},
        event("tool-call-start", 0, id="1", function={"name": "a", "arguments": ""}),
        event("tool-call-delta", 0, function={"arguments": '{"x"'}),
        event("tool-call-start", 1, id="2", function={"name": "b", "arguments": ""}),
        event("tool-call-delta", 0, function={"arguments": ": 1}"}),
        event("tool-call-end", 1),
        {"type": "content-delta", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
    )
    assert (told(read), read.id, read.gaps) == (
        [("a", {"x": 1}, "requested", None), ("b", {}, "requested", None)],
        "m",
        (),
    )


def test_cohere_arguments_that_were_to_come_are_not_none() -> None:
    """Where a stream breaks off before any text of its last call, nobody knows its arguments (G10)."""
    call = {"id": "1", "type": "function", "function": {"name": "a", "arguments": ""}}
    start = {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": call}}}
    end = {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}}
    for events, state in (([start], "not_captured"), ([start, end], "ok")):
        (made,) = one("cohere", {"type": "message-start", "id": "m"}, *events).tool_calls or ()
        assert made.arguments_state == state


@pytest.mark.parametrize(("end", "state"), [([], "not_captured"), (["TOOL_CALL"], "ok")])
def test_cohere_streams_in_a_log_are_read_as_they_are_alone(end: list[str], state: str) -> None:
    """The events of a response stand where the response would (G10)."""
    call = {"id": "1", "type": "function", "function": {"name": "a", "arguments": ""}}
    start = {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": call}}}
    silent = {"type": "content-start", "index": 0}
    ends = [{"type": "message-end", "delta": {"finish_reason": reason}} for reason in end]
    answer = [{"type": "message-start", "id": "m"}, silent, start, *ends]
    read = one("cohere", {"request": {"messages": [USER]}, "response": answer})
    assert [call.arguments_state for call in read.tool_calls or ()] == [state]
    assert read.gaps == (() if end else ("the stream ends without a finish reason",))


def test_cohere_gaps() -> None:
    """A stream without its end, and a response that stopped for calls it does not have (G12)."""
    assert one("cohere", {"type": "message-start", "id": "m"}).gaps == ("the stream ends without a finish reason",)
    body = {"message": {"role": "assistant", "content": []}, "finish_reason": "TOOL_CALL"}
    assert one("cohere", body).gaps == ("the finish reason is `TOOL_CALL`, but the message has no calls",)


def chunk(done: bool, content: str = "", *calls: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {})}
    return {"model": "m", "created_at": "t", "message": message, "done": done}


def bare(name: str, arguments: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}}


def test_ollama_pieces_add_up_to_responses() -> None:
    """Each piece holds whole calls; the last piece ends a response."""
    lines = [chunk(False, "Hm. "), chunk(False, "", bare("a", {"x": 1})), chunk(False, "", bare("b", {})), chunk(True)]
    read = [
        item
        for item in items("ollama", *lines, chunk(False, "Do"), chunk(False, "ne."))
        if isinstance(item, Trajectory)
    ]
    assert [[call.name for call in item.tool_calls or ()] for item in read] == [["a", "b"], []]
    assert [item.gaps for item in read] == [(), ("the stream ends before its last piece",)]
    assert read[1].output == "Done."


def test_ollama_logs_count_each_call_once() -> None:
    """Results join by the name of the tool."""
    asked = {"role": "assistant", "content": "", "tool_calls": [bare("a", {"x": 1})]}
    second = [USER, asked, {"role": "tool", "tool_name": "a", "content": "A"}]
    log = [
        {"request": {"model": "m", "messages": [USER]}, "response": chunk(True, "", bare("a", {"x": 1}))},
        {"request": {"model": "m", "messages": second}, "response": [chunk(False, "Do"), chunk(True, "ne.")]},
    ]
    read = one("ollama", log)
    assert (told(read), read.output, read.gaps) == ([("a", {"x": 1}, "ok", "A")], "Done.", ())
    assert traces.detect(json.dumps(log).encode()) == "ollama"


@pytest.mark.parametrize(
    ("format", "document", "place"),
    [
        ("pydantic-ai", [request(), 5], "f:1: [1]: expected a message of Pydantic AI; found a number"),
        ("pydantic-ai", {"x": 1}, "f:1: expected messages of Pydantic AI"),
        ("cohere", [USER, asks(tool_plan="x"), 5], "f:1: [2]: expected a message, an object; found a number"),
        ("cohere", [asks(tool_plan="x"), {"role": "user", "content": 5}], "f:1: [1]: expected a message of Cohere"),
        ("cohere", [asks({"x": 1}, tool_plan="x"), {"role": "wizard"}], "f:1: [1].role: unknown role"),
        ("cohere", [USER, {**asks(tool_plan="x"), "tool_calls": 5}], "f:1: [1].tool_calls: expected an array"),
        ("ollama", [USER], "f:1: [0]: expected a response of Ollama"),
        ("ollama", {"model": "m"}, "f:1: expected a response of Ollama; found an object"),
    ],
)
def test_what_is_not_of_the_format_says_where(format: str, document: Any, place: str) -> None:
    """An error with file, line and JSON path."""
    errors = [str(item) for item in items(format, document) if isinstance(item, TraceError)]
    assert [error.startswith(place) for error in errors] == [True], errors
