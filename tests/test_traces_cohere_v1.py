"""Version 1 of Cohere's chat API: which calls its histories, bodies and streams hold, and what is missing."""

from __future__ import annotations

from typing import Any

import pytest

from rightcall import traces
from rightcall.core import jsontext
from support.reading import one, told

V1 = "cohere-v1"
USER = {"role": "USER", "message": "Go"}


def call(name: str = "a", **parameters: Any) -> dict[str, Any]:
    return {"name": name, "parameters": parameters}


def result(of: dict[str, Any], output: Any) -> dict[str, Any]:
    return {"call": of, "outputs": [output]}


def bot(*calls: Any, text: str = "") -> dict[str, Any]:
    return {"role": "CHATBOT", "message": text, **({"tool_calls": list(calls)} if calls else {})}


def response(*calls: Any, text: str = "", **more: Any) -> dict[str, Any]:
    asked = {"tool_calls": list(calls)} if calls else {}
    return {"text": text, "generation_id": "g", "finish_reason": "COMPLETE", **asked, **more}


def test_results_of_one_tool_join_by_the_arguments_that_they_repeat() -> None:
    """The format has no ids (G13)."""
    first, second = call(x=1), call(x=2)
    results = {"role": "TOOL", "tool_results": [result(second, {"y": 2}), result(first, {"y": 1})]}
    read = one(V1, [USER, bot(first, second), results, bot(text="Done.")])
    assert told(read) == [("a", {"x": 1}, "ok", {"y": 1}), ("a", {"x": 2}, "ok", {"y": 2})]
    assert (read.output, read.gaps) == ("Done.", ())


def test_a_response_at_the_end_of_its_own_history_counts_once() -> None:
    """Whether or not the history has it (G12)."""
    within = one(V1, response(call(x=1), chat_history=[USER, bot(call(x=1))]))
    without = one(V1, response(call(x=1), chat_history=[USER]))
    alone = one(V1, response(call(x=1)))
    assert [told(read) for read in (within, without, alone)] == [[("a", {"x": 1}, "requested", None)]] * 3


def test_exchanges_are_aligned() -> None:
    """A request that failed and was sent again is one call (G12)."""
    begin = {"request": {"message": "Go", "chat_history": []}, "response": response(call(x=1))}
    asked = {"message": "", "chat_history": [USER, bot(call(x=1))], "tool_results": [result(call(x=1), {"y": 1})]}
    end = {"request": asked, "response": response(text="Done.")}
    expected = [("a", {"x": 1}, "ok", {"y": 1})]
    assert told(one(V1, begin, end)) == told(one(V1, begin, {**end, "response": None}, end)) == expected
    assert one(V1, begin, {**end, "response": None}).gaps == ("the last request of the log has no response",)


@pytest.mark.parametrize(
    ("events", "gaps"),
    [
        ([{"event_type": "stream-end", "finish_reason": "COMPLETE", "response": response(call(x=1))}], ()),
        ([], ("the stream ends without a finish reason",)),
    ],
)
def test_a_stream_is_read_by_its_end(events: list[Any], gaps: Any) -> None:
    """Without it the calls so far are read, and others may be missing (G12)."""
    begin = [
        {"event_type": "stream-start", "generation_id": "g"},
        {"event_type": "tool-calls-generation", "tool_calls": [call(x=1)]},
    ]
    read = one(V1, *begin, *events)
    assert (told(read), read.gaps) == ([("a", {"x": 1}, "requested", None)], gaps)


@pytest.mark.parametrize(
    "value",
    [
        response(call()),
        {"message": "Go", "chat_history": [USER]},
        [USER, bot(call())],
        [{"event_type": "stream-start"}],
        [{"request": {"message": "Go", "chat_history": []}, "response": response(call())}],
    ],
)
def test_version_1_is_told_from_version_2_and_from_native_records(value: Any) -> None:
    """Its `tool_calls` stand where those of a native record stand."""
    assert traces.detect(jsontext.encode(value)) == V1


def test_an_answer_that_was_cut_off_is_a_gap() -> None:
    """Calls may be missing (G12)."""
    read = one(V1, response(finish_reason="MAX_TOKENS"))
    assert read.gaps == ("the finish reason is `MAX_TOKENS`: the message was cut off, and calls may be missing",)
