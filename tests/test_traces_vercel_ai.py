"""The Vercel AI SDK and Mastra: which calls messages, steps and streams hold, and what became of them."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from rightcall import traces
from rightcall.errors import TraceError
from support import reading
from support.reading import told

USER = {"role": "user", "content": "hello"}


def call(name: str, input: Any = None, id: str = "t", **more: Any) -> dict[str, Any]:
    return {"type": "tool-call", "toolCallId": id, "toolName": name, "input": {} if input is None else input, **more}


def result(id: str, output: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool-result", "toolCallId": id, "toolName": "a", "output": output, **more}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(parts)}


def tool(*parts: Any) -> dict[str, Any]:
    return {"role": "tool", "content": list(parts)}


def ui(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"id": "m", "role": "assistant", "parts": list(parts), **more}


items = partial(reading.items, "vercel-ai")
one = partial(reading.one, "vercel-ai")


@pytest.mark.parametrize(
    ("output", "status", "value"),
    [
        ({"type": "json", "value": {"id": 7}}, "ok", {"id": 7}),
        ({"type": "text", "value": "hi"}, "ok", "hi"),
        ({"type": "error-text", "value": "boom"}, "error", "boom"),
        ({"type": "error-json", "value": {"code": 1}}, "error", {"code": 1}),
        ({"type": "execution-denied", "reason": "no"}, "refused", "no"),
    ],
)
def test_the_type_of_an_output_says_what_became_of_the_call(output: Any, status: str, value: Any) -> None:
    """Model messages wrap the value."""
    assert told(one([USER, model(call("a")), tool(result("t", output))])) == [("a", {}, status, value)]


def test_calls_of_older_and_odd_kinds() -> None:
    """`args` of version 4, a call that was invalid, one without input, one that the provider ran."""
    old = {"type": "tool-call", "toolCallId": "1", "toolName": "a", "args": {"x": 1}}
    bare = {"type": "tool-call", "toolCallId": "3", "toolName": "c"}
    read = one([model(old, call("b", '{"x": ', "2", invalid=True), bare, call("d", id="4", providerExecuted=True))])
    assert [(one.name, one.arguments, one.arguments_state, one.kind) for one in read.tool_calls or ()] == [
        ("a", {"x": 1}, "ok", "client"),
        ("b", None, "malformed", "client"),
        ("c", None, "not_captured", "client"),
        ("d", {}, "ok", "server"),
    ]


def test_a_call_waits_for_approval() -> None:
    """Until a result comes."""
    request = {"type": "tool-approval-request", "approvalId": "x", "toolCallId": "t"}
    assert told(one([USER, model(call("a"), request)])) == [("a", {}, "pending", None)]
    answered = [USER, model(call("a"), request), tool(result("t", {"type": "text", "value": "ok"}))]
    assert told(one(answered)) == [("a", {}, "ok", "ok")]


def part(name: str, state: str, **more: Any) -> dict[str, Any]:
    return {"type": f"tool-{name}", "toolCallId": name, "state": state, "input": {"x": 1}, **more}


@pytest.mark.parametrize(
    ("given", "status", "arguments_state"),
    [
        (part("a", "output-available", output=5), "ok", "ok"),
        (part("a", "output-error", errorText="boom"), "error", "ok"),
        (part("a", "output-denied"), "refused", "ok"),
        (part("a", "approval-requested"), "pending", "ok"),
        (part("a", "approval-responded", approval={"approved": False}), "refused", "ok"),
        (part("a", "input-available"), "requested", "ok"),
        (part("a", "input-streaming"), "requested", "truncated"),
        ({**part("", "output-available"), "type": "dynamic-tool", "toolName": "a"}, "ok", "ok"),
        (
            {
                "type": "tool-invocation",
                "toolInvocation": {"state": "result", "toolName": "a", "args": {}, "result": 5},
            },
            "ok",
            "ok",
        ),
    ],
)
def test_the_state_of_a_ui_part_says_what_became_of_the_call(given: Any, status: str, arguments_state: str) -> None:
    """The part is call and result in one."""
    read = one([USER, ui({"type": "text", "text": "hm"}, given)])
    assert [(one.name, one.status, one.arguments_state) for one in read.tool_calls or ()] == [
        ("a", status, arguments_state)
    ]


def test_steps_of_a_ui_message_are_messages_of_the_model() -> None:
    """Calls of one step are parallel."""
    start = {"type": "step-start"}
    read = one(
        [ui(start, part("a", "output-available"), part("b", "output-available"), start, part("c", "output-error"))]
    )
    assert [(one.name, one.message) for one in read.tool_calls or ()] == [("a", 0), ("b", 0), ("c", 1)]


def test_results_of_newer_versions_are_read_by_the_content_of_their_steps() -> None:
    """As JSON they have neither text nor calls of their own; a step that is none is refused (G12)."""
    asked = {"content": [call("a"), result("t", 5, input={})], "finishReason": "tool-calls", "usage": {}}
    last = {"content": [{"type": "text", "text": "Done."}], "finishReason": "stop", "usage": {}}
    read = one({"steps": [asked, last], "totalUsage": {}})
    assert (told(read), read.output, read.gaps) == ([("a", {}, "ok", 5)], "Done.", ())
    assert one({"steps": [{**last, "content": []}, {**last, "finishReason": "tool-calls"}]}).gaps == (
        "the finish reason is `tool-calls`, but steps[1] has no calls",
    )
    assert traces.detect(json.dumps({"steps": [asked, last], "totalUsage": {}}).encode()) == "vercel-ai"
    with pytest.raises(TraceError, match="unknown role"):
        one({"steps": [asked, {"content": [], "usage": {}}]})


def test_results_of_generate_text_are_read_by_their_steps() -> None:
    """The last step is repeated at the top; older versions have no content."""
    step = {
        "finishReason": "tool-calls",
        "text": "",
        "toolCalls": [call("a")],
        "toolResults": [result("t", 5, input={})],
    }
    last = {"finishReason": "stop", "text": "Done.", "toolCalls": [], "toolResults": [], "content": []}
    read = one({**last, "steps": [step, last]})
    assert (told(read), read.output) == ([("a", {}, "ok", 5)], "Done.")
    assert told(one([step, last])) == [("a", {}, "ok", 5)]


def test_streams_of_both_kinds_count_whole_calls() -> None:
    """Pieces of input are no calls; an error of the input is a call that failed."""
    begin = {"type": "tool-input-start", "id": "1", "toolName": "a"}
    read = one(
        {"type": "start"},
        begin,
        {"type": "tool-input-delta", "id": "1", "delta": "{}"},
        {"type": "text-delta", "id": "0", "text": "hm"},
        call("a", {}, "1"),
        result("1", {"type": "json"}, input={}),
        {"type": "finish"},
    )
    assert (told(read), read.gaps) == ([("a", {}, "ok", {"type": "json"})], ())
    read = one(
        {"type": "start-step"},
        {"type": "tool-input-available", "toolCallId": "1", "toolName": "a", "input": {"x": 1}},
        {"type": "tool-output-available", "toolCallId": "1", "output": {"id": 7}},
        {"type": "start-step"},
        {"type": "tool-input-error", "toolCallId": "2", "toolName": "b", "input": "{x", "errorText": "bad"},
        {"type": "finish"},
    )
    assert told(read) == [("a", {"x": 1}, "ok", {"id": 7}), ("b", None, "error", "bad")]


def test_a_stream_that_breaks_off_keeps_the_call_that_was_on_its_way() -> None:
    """With a gap (G12)."""
    read = one(
        {"type": "tool-input-start", "id": "1", "toolName": "a"},
        {"type": "tool-input-delta", "id": "1", "delta": '{"x"'},
    )
    assert [(one.name, one.arguments_state, one.arguments_text) for one in read.tool_calls or ()] == [
        ("a", "truncated", '{"x"')
    ]
    assert read.gaps == ("the stream ends without its last part",)


@pytest.mark.parametrize(
    ("document", "format"),
    [
        ([USER, model(call("a"))], "vercel-ai"),
        ([USER, ui(part("a", "input-available"))], "vercel-ai"),
        ({"id": "chat", "messages": [USER, ui(part("a", "input-available"))]}, "vercel-ai"),
        ({"type": "start-step"}, "vercel-ai"),
        ([USER, {"role": "assistant", "content": [{"type": "text", "text": "hi"}]}], "openai-chat"),
        ([USER], "openai-chat"),
    ],
)
def test_only_parts_for_tools_tell_the_format(document: Any, format: str) -> None:
    """Plain messages are of many formats; the calls in them are none either way."""
    assert traces.detect(json.dumps(document).encode()) == format


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ([USER, {"role": "wizard", "content": ""}], "f:1: [1].role: unknown role"),
        ([USER, model(5)], "f:1: [1].content[0]: expected a part of the Vercel AI SDK; found a number"),
        ([USER, model({"type": "tool_use"})], "f:1: [1].content[0]: expected a part of the Vercel AI SDK; found type"),
        ([USER, {"role": "assistant", "tool_calls": [1]}], "f:1: [1]: expected a message of the Vercel AI SDK"),
        ([USER, {"role": "assistant", "content": 5}], "f:1: [1].content: expected text or an array of parts"),
        ([USER, 5], "f:1: [1]: expected a message"),
        ({"x": 1}, "f:1: expected messages, a result or a stream of the Vercel AI SDK; found an object"),
        ({"type": "text-delta"}, "f:1: expected messages, a result or a stream"),
    ],
)
def test_what_is_not_of_the_format_says_where(document: Any, place: str) -> None:
    """An error with file, line and JSON path."""
    errors = [str(item) for item in items(document) if isinstance(item, TraceError)]
    assert [error.startswith(place) for error in errors] == [True], errors
