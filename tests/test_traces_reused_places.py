"""Streams and logs that use one place for two things: neither is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError


def read(*values: Any) -> Trajectory:
    (found,) = traces.read(["\n".join(map(json.dumps, values)).encode()])
    assert isinstance(found, Trajectory)
    return found


def streamed(*events: Any) -> Trajectory:
    (found,) = traces.read(["".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()])
    assert isinstance(found, Trajectory)
    return found


def names(found: Trajectory) -> list[str]:
    return [call.name for call in found.tool_calls or ()]


def test_a_fragment_with_another_name_is_another_call() -> None:
    """Also if index and id are those of the call before."""

    def chunk(name: str, reason: str | None = None) -> dict[str, Any]:
        call = {"index": 0, "id": "call_0", "function": {"name": name, "arguments": "{}"}}
        choice = {"index": 0, "delta": {"role": "assistant", "tool_calls": [call]}, "finish_reason": reason}
        return {"id": "1", "object": "chat.completion.chunk", "choices": [choice]}

    assert names(streamed(chunk("a"), chunk("b", "tool_calls"))) == ["a", "b"]


def test_a_block_at_the_index_of_another_is_another() -> None:
    """Arguments go to the block that began last there."""

    def start(name: str) -> dict[str, Any]:
        return {"type": "content_block_start", "index": 0, "content_block": block(name)}

    def block(name: str) -> dict[str, Any]:
        return {"type": "tool_use", "id": name, "name": name, "input": {}}

    def grow(text: str) -> dict[str, Any]:
        return {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": text},
        }

    begun = {"type": "message", "role": "assistant", "content": [block("z"), block("b")]}
    end = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}
    found = streamed(
        {"type": "message_start", "message": begun}, start("a"), grow('{"x": 1}'), start("b"), grow('{"x": 2}'), end
    )
    assert [(call.name, call.arguments) for call in found.tool_calls or ()] == [
        ("z", {}),
        ("a", {"x": 1}),
        ("b", {"x": 2}),
    ]


def item(name: str) -> dict[str, Any]:
    return {"type": "function_call", "id": name, "call_id": name, "name": name, "arguments": "{}"}


def response(status: str, *output: Any) -> dict[str, Any]:
    return {"id": "r", "object": "response", "status": status, "output": list(output)}


@pytest.mark.parametrize("told", [("b",), ("a", "b"), ("b", "a"), ()])
def test_an_item_at_the_place_of_another_is_another(told: tuple[str, ...]) -> None:
    """Also if the response that ends the stream tells only one of them."""
    found = streamed(
        {"type": "response.created", "sequence_number": 0, "response": response("in_progress")},
        {"type": "response.output_item.done", "sequence_number": 1, "output_index": 0, "item": item("a")},
        {"type": "response.output_item.done", "sequence_number": 2, "output_index": 0, "item": item("b")},
        {"type": "response.completed", "sequence_number": 3, "response": response("completed", *map(item, told))},
    )
    assert sorted(names(found)) == ["a", "b"]


def test_arguments_of_an_item_that_never_began_are_those_of_a_call() -> None:
    """Newer servers name the call in the event that ends its arguments."""
    done = {"type": "response.function_call_arguments.done", "output_index": 0, "item_id": "f", "arguments": "{}"}
    found = streamed(
        {"type": "response.created", "sequence_number": 0, "response": response("in_progress")},
        {**done, "sequence_number": 1, "name": "a"},
        {"type": "response.completed", "sequence_number": 2, "response": response("completed", item("b"))},
    )
    assert sorted(names(found)) == ["a", "b"]


def test_an_item_of_codex_under_an_id_that_ended_is_another() -> None:
    """Ids may begin anew; a copy of what ended is told once."""

    def ended(tool: str, event: str = "item.completed") -> dict[str, Any]:
        return {"type": event, "item": {"id": "item_0", "type": "mcp_tool_call", "server": "s", "tool": tool}}

    found = read(
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        ended("a"),
        ended("a"),
        ended("b", "item.started"),
        ended("b"),
        {"type": "turn.completed"},
    )
    assert names(found) == ["a", "b"]


@pytest.mark.parametrize("data", [json.dumps({"content": "", "tool_calls": [{"name": "a", "args": {}}]})])
def test_fields_of_a_langchain_message_may_be_json_text(data: Any) -> None:
    """Tables of histories hold them so."""
    assert names(read([{"type": "human", "data": {"content": "x"}}, {"type": "ai", "data": data}])) == ["a"]


@pytest.mark.parametrize("data", [None, "cut", 1])
def test_a_langchain_message_without_fields_is_refused(data: Any) -> None:
    """It may have asked for anything."""
    messages = [{"type": "human", "data": {"content": "x"}}, {"type": "ai", "data": data}]
    (found,) = traces.read([json.dumps(messages).encode()], format="langchain")
    assert isinstance(found, TraceError)
    assert found.message.startswith("expected a LangChain message")


def event(*parts: Any, **known: Any) -> dict[str, Any]:
    return {"author": "a", "invocationId": "i", "content": {"role": "model", "parts": list(parts)}, **known}


def test_a_call_that_only_a_partial_event_shows_is_a_gap() -> None:
    """Whole events should tell it again (G12)."""
    part = {"functionCall": {"name": "b", "args": {}}}
    found = read(event(part, partial=True), event({"text": "Done."}))
    assert found.gaps == ("partial answers show calls that no whole one tells: `b`",)
    assert read(event(part, partial=True), event(part)).gaps == ()


@pytest.mark.parametrize("name", [["a"], {"a": 1}, 1, None])
def test_a_name_that_is_no_text_is_the_name_of_a_call(name: Any) -> None:
    """It is called `""`, whatever stands in its place (G9)."""
    found = read(event({"functionCall": {"name": name, "args": {}}}))
    assert names(found) == [""]


@pytest.mark.parametrize(
    "candidate",
    [
        {"content": [{"parts": []}], "finishReason": "STOP"},
        {"content": "x", "finishReason": "STOP"},
        {"content": {"parts": {"0": {"text": "x"}}}, "finishReason": "STOP"},
    ],
)
def test_a_candidate_of_another_shape_is_refused(candidate: dict[str, Any]) -> None:
    """It is no answer without calls (G3)."""
    with pytest.raises(TraceError, match="expected"):
        _raised({"candidates": [candidate]})


@pytest.mark.parametrize("candidate", [{"data": {"content": {}}}, {"content": None}])
def test_a_candidate_that_says_nothing_is_a_gap(candidate: dict[str, Any]) -> None:
    """Neither parts nor a reason to stop (G12)."""
    assert read({"candidates": [candidate]}).gaps == ("the response has neither parts nor a finish reason",)


def _raised(value: Any) -> Trajectory:
    (found,) = traces.read([json.dumps(value).encode()])
    if isinstance(found, TraceError):
        raise found
    return found


def test_a_response_without_output_is_a_gap() -> None:
    """Only an empty list says that there was none; items may be JSON text (G12)."""
    whole = response("completed")
    assert read({**whole, "output": None}).gaps == ("the response has no `output`; calls may be missing",)
    assert (read(whole).gaps, read(whole).tool_calls) == ((), ())
    assert names(read({**whole, "output": json.dumps([item("a")])})) == ["a"]


@pytest.mark.parametrize("reason", [["tool_use"], {"a": 1}, 1])
def test_a_reason_to_stop_that_is_no_text_is_none(reason: Any) -> None:
    """It is not looked up as if it were one."""
    message = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "1", "name": "a", "input": {}}}]}
    assert names(read({"output": {"message": message}, "stopReason": reason})) == ["a"]


def test_a_history_of_swe_agent_that_is_no_list_is_refused() -> None:
    """The actions beside it are text."""
    (found,) = traces.read([json.dumps({"history": None, "trajectory": []}).encode()], format="swe-agent")
    assert isinstance(found, TraceError)
