"""What model spans tell of earlier calls, and calls that libraries put where few look."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support import openinference
from support.spanning import asked, one, span, told

USER = {"role": "user", "parts": [{"type": "text", "content": "Go on."}]}


def given(*messages: dict[str, Any]) -> dict[str, Any]:
    """The attribute of a model span that was given these messages."""
    return {"gen_ai.input.messages": json.dumps([USER, *messages])}


def called(id: str | None, arguments: Any, name: str = "a") -> dict[str, Any]:
    part = {"type": "tool_call", "id": id, "name": name, "arguments": arguments}
    return {"role": "assistant", "parts": [part]}


def answer(id: str | None, result: str) -> dict[str, Any]:
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": id, "response": result}]}


def test_results_of_calls_with_one_id_join_in_order() -> None:
    """Ids come again: the last call of a history is the last one before the span that was given it (R4)."""
    first, second = (called("c", {"n": 1}), answer("c", "one")), (called("c", {"n": 2}), answer("c", "two"))
    trajectory = one(
        [
            span(1, {**asked(("a", {"n": 1}, "c")), **given()}),
            span(2, {**asked(("a", {"n": 2}, "c")), **given(*first)}),
            span(3, {**asked(), **given(*first, *second)}),
        ]
    )
    assert [(call.arguments, call.result) for call in trajectory.tool_calls or ()] == [
        ({"n": 1}, "one"),
        ({"n": 2}, "two"),
    ]


def test_the_first_history_that_tells_of_a_call_counts() -> None:
    """Later ones may have been shortened."""
    trajectory = one(
        [
            span(1, {**asked(("a", {}, "c")), **given()}),
            span(2, {**asked(), **given(called("c", {}), answer("c", "long"))}),
            span(3, {**asked(), **given(called("c", {}), answer("c", "cleared"))}),
        ]
    )
    assert [call.result for call in trajectory.tool_calls or ()] == ["long"]


@pytest.mark.parametrize(("id", "found"), [("c", {"n": 1}), ("other", "not_captured")])
def test_arguments_that_only_a_later_request_shows_are_read(id: str, found: Any) -> None:
    """A stream may leave them out of the answer; only the same call tells them (G10)."""
    trajectory = one(
        [
            span(1, {**asked(("a", "", "c")), **given()}),
            span(2, {**asked(), **given(called(id, {"n": 1}), answer(id, "one"))}),
        ]
    )
    assert told(trajectory) == [("a", found)]


def test_broken_arguments_inside_an_object_are_broken() -> None:
    """OpenLLMetry writes `{"_raw": text}`; an argument of that name that holds JSON stays one (G9)."""
    broken = one(span(1, asked(("a", {"_raw": '{"city": "Par'}, "c"))))
    named = one(span(1, asked(("a", {"_raw": "{}"}, "c"))))
    (call,) = broken.tool_calls or ()
    assert (call.arguments_state, call.arguments_text) == ("malformed", '{"city": "Par')
    assert told(named) == [("a", {"_raw": "{}"})]


@pytest.mark.parametrize(
    ("message", "gaps"),
    [
        ({"parts": [], "finish_reason": ""}, 1),
        ({"parts": []}, 1),
        ({"parts": [], "finish_reason": "stop"}, 0),
        ({"parts": [{"type": "text", "content": "Hm."}]}, 0),
    ],
)
def test_an_answer_without_parts_or_a_reason_is_a_gap(message: dict[str, Any], gaps: int) -> None:
    """OpenLLMetry leaves out the calls that LangChain could not decode (G12)."""
    output = json.dumps([{"role": "assistant", **message}])
    trajectory = one(span(1, {"gen_ai.operation.name": "chat", "gen_ai.output.messages": output}))
    assert (trajectory.tool_calls, len(trajectory.gaps)) == ((), gaps)


@pytest.mark.parametrize("times", [1, 2])
def test_a_broken_call_that_is_listed_and_put_aside_counts_once(times: int) -> None:
    """As often as LangChain put it aside: two that are alike are two (R4)."""
    aside = {"type": "invalid_tool_call", "id": "c", "name": "a", "args": "{"}
    output = {"generations": [[{"message": {"kwargs": {"invalid_tool_calls": [aside] * times}}}]]}
    listed: dict[str, Any] = {
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "a",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": "{",
        "output.value": json.dumps(output),
    }
    trajectory = one(openinference.request(openinference.span("LLM", "m", **listed)))
    assert told(trajectory) == [("a", "malformed")] * times
