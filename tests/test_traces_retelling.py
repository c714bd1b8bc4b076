"""Logs of exchanges in which a client writes the history again, a little differently: each call counts once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rightcall.core.calls import Trajectory
from rightcall.traces.alike import alike
from support.reading import items, one, told

USER = {"role": "user", "content": "Look  it up."}
LONG = "".join(f"line {number} of a long result\n" for number in range(40))


def called(name: str, arguments: str, id: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*calls: dict[str, Any], content: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def answers(id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def exchange(history: list[Any], message: Any) -> dict[str, Any]:
    choices = [{"index": 0, "message": message, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}]
    return {"url": "https://x/v1/chat/completions", "request": {"messages": history}, "response": {"choices": choices}}


DONE = {"role": "assistant", "content": "Done."}
FIRST = asks(called("a", '{"q": ["x", "y"], "n": 1}', "s1"), called("b", '{"text": "in  two\\nlines"}', "s2"))
RESULTS = [answers("s1", LONG), answers("s2", '{"ok": true}')]
EXPECTED = [("a", {"q": ["x", "y"], "n": 1}), ("b", {"text": "in  two\nlines"}), ("c", {})]


def renamed(message: dict[str, Any]) -> dict[str, Any]:
    """The message with ids of the client."""
    text: dict[str, Any] = json.loads(json.dumps(message).replace('"s1"', '"mine-1"').replace('"s2"', '"mine-2"'))
    return text


def with_order(*calls: int) -> dict[str, Any]:
    return {**FIRST, "tool_calls": [FIRST["tool_calls"][number] for number in calls]}


WRITTEN_AGAIN = asks(called("a", '{"n":1,"q":["x","y"]}', "s1"), called("b", '{"text":"in two lines"}', "s2"))


@pytest.mark.parametrize(
    "again",
    [
        [USER, renamed(FIRST), *map(renamed, RESULTS)],
        [USER, WRITTEN_AGAIN, *RESULTS],
        [{**USER, "content": "Look it up.\n"}, FIRST, *RESULTS],
        [USER, with_order(1, 0), *RESULTS],
        [USER, FIRST, *reversed(RESULTS)],
        [USER, {**FIRST, "content": "Let me look."}, *RESULTS],
        [USER, FIRST, answers("s1", LONG[:300] + "… [truncated]"), RESULTS[1]],
        [USER, FIRST, answers("s1", LONG[:400]), answers("s2", '{"ok":true}')],
        [USER, FIRST, answers("s1", "[Old tool result content cleared]"), RESULTS[1]],
        [{"role": "system", "content": "It is 12:01."}, USER, FIRST, *RESULTS],
    ],
    ids=["ids", "arguments", "space", "calls", "results", "text", "marked cut", "cut", "cleared", "instructions"],
)
def test_a_history_in_other_words_is_no_branch(again: list[Any]) -> None:
    """Responses say what was called; a request that tells it again adds only what follows (R5)."""
    second = asks(called("c", "{}", "s3"))
    lines = [
        exchange([USER], FIRST),
        exchange([USER, FIRST, *RESULTS], second),
        exchange([*again, second, answers("s3", "C")], DONE),
    ]
    read = one("openai-chat", lines)
    assert sorted((call.name, call.arguments) for call in read.tool_calls or ()) == EXPECTED
    assert {call.name: call.result for call in read.tool_calls or ()} == {"a": LONG, "b": {"ok": True}, "c": "C"}
    assert (read.gaps, read.warnings, read.output) == ((), (), "Done.")


@pytest.mark.parametrize(
    "again",
    [
        [USER, renamed(WRITTEN_AGAIN), *map(renamed, RESULTS)],
        [{**USER, "content": "Look it up."}, renamed(with_order(1, 0)), *map(renamed, reversed(RESULTS))],
    ],
)
def test_results_join_calls_whose_ids_a_client_made(again: list[Any]) -> None:
    """Right after the response the history has ids that the response does not have."""
    read = one("openai-chat", [exchange([USER], FIRST), exchange(again, DONE)])
    assert {call.name: call.result for call in read.tool_calls or ()} == {"a": LONG, "b": {"ok": True}}
    assert (len(read.tool_calls or ()), read.gaps) == (2, ())


def test_a_response_that_is_asked_for_again_in_other_words_counts_once() -> None:
    """A retry whose history was written again, and whose response was the same."""
    history = [USER, FIRST, *RESULTS]
    again = [{**USER, "content": "Look it up."}, renamed(FIRST), *map(renamed, RESULTS)]
    read = one("openai-chat", [exchange([USER], FIRST), exchange(history, DONE), exchange(again, DONE)])
    assert ([call.name for call in read.tool_calls or ()], read.output) == (["a", "b"], "Done.")


ONCE = asks(called("pay", '{"to": "x"}', "s1"))


@pytest.mark.parametrize(
    "again",
    [
        [USER, asks(called("pay", '{"to": "y"}', "s1")), answers("s1", "ok")],
        [USER, asks(called("refund", '{"to": "x"}', "s1")), answers("s1", "ok")],
        [USER, {"role": "user", "content": "Summary: you paid x."}],
        [{"role": "user", "content": "Look up another."}, ONCE, answers("s1", "ok")],
    ],
    ids=["other arguments", "another tool", "compaction", "another question"],
)
def test_a_history_that_says_something_else_is_a_branch(again: list[Any]) -> None:
    """Nothing that a response called is lost (R5)."""
    lines = [exchange([USER], ONCE), exchange(again, asks(called("b", "{}", "s2")))]
    first, second = (item for item in items("openai-chat", lines) if isinstance(item, Trajectory))
    assert told(first) == [("pay", {"to": "x"}, "requested", None)]
    assert [call.name for call in second.tool_calls or ()][-1:] == ["b"]


def test_a_second_call_like_the_first_is_not_taken_for_it() -> None:
    """A retry that answers with a call that stands elsewhere in the conversation loses no call (R4)."""
    second, third = asks(called("b", "{}", "s2")), asks(called("pay", '{"to": "x"}', "s3"))
    history = [USER, ONCE, answers("s1", "ok")]
    whole = [*history, second, answers("s2", "B")]
    again = [{**USER, "content": "Look it up."}, *history[1:]]
    lines = [exchange([USER], ONCE), exchange(history, second), exchange(whole, third), exchange(again, third)]
    read = [item for item in items("openai-chat", lines) if isinstance(item, Trajectory)]
    assert [[call.name for call in item.tool_calls or ()] for item in read] == [["pay", "b", "pay"], ["pay", "pay"]]
    assert read[1].warnings == (
        "an earlier conversation of the log begins the same; this one is read as a branch of it",
    )


def test_calls_of_responses_may_be_told_with_their_results_between() -> None:
    """Clients of the Responses API send each call back with its result."""
    calls = [{"type": "function_call", "call_id": name, "name": name, "arguments": "{}"} for name in "ab"]
    outputs = [{"type": "function_call_output", "call_id": name, "output": name.upper()} for name in "ab"]
    done = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}
    given = [[USER], [USER, calls[0], outputs[0], calls[1], outputs[1]]]
    lines = [
        {"request": {"input": history}, "response": {"object": "response", "status": "completed", "output": output}}
        for history, output in zip(given, (calls, [done]), strict=True)
    ]
    read = one("openai-responses", lines)
    assert told(read) == [("a", {}, "ok", "A"), ("b", {}, "ok", "B")]


def test_streamed_arguments_are_those_that_the_client_sends_back() -> None:
    """The input of a streamed call is text until it is read; a history has it as an object."""
    block = {"type": "tool_use", "id": "t1", "name": "a", "input": {}}
    events = [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": '{"x": 1}'},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    ]
    answer = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "A"}]}
    history = [USER, {"role": "assistant", "content": [{**block, "input": {"x": 1}}]}, answer]
    end = {"role": "assistant", "content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"}
    lines = [
        {"url": "https://x/v1/messages", "request": {"messages": given, "max_tokens": 5}, "response": response}
        for given, response in (([USER], events), (history, end))
    ]
    assert told(one("anthropic", lines)) == [("a", {"x": 1}, "ok", "A")]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("1", "10", False),
        ("10", "1…", True),
        ({"x": 1}, {"x": 1, "y": None}, False),
        ({}, {"x": 1}, False),
        ([1, 2], [2, 1], True),
        ([1, 1], [1, 2], False),
        ('{"a": [1]}', {"a": [1]}, True),
        (("a", None), ("a", {"x": 1}), True),
        (("a", {}), ("b", {}), False),
        (None, {}, False),
        ("", "text", False),
        ("…", "text", False),
    ],
)
def test_what_may_have_changed_of_a_message(left: Any, right: Any, expected: bool) -> None:
    """A cut text counts where it is marked or long; what a whole part says of a call must agree."""
    assert (alike(left, right), alike(right, left)) == (expected, expected)
