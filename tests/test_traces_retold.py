"""Calls that only later requests of a trace retell: they are a gap, unless the spans show them too (G12)."""

from __future__ import annotations

from typing import Any

import pytest

from rightcall import traces
from rightcall.core import jsontext
from rightcall.core.calls import Trajectory

USER = {"message.role": "user", "message.content": "hello"}
DONE = {"message.role": "assistant", "message.content": "Done."}


def asks(name: str, id: str) -> dict[str, Any]:
    function = {"tool_call.id": id, "tool_call.function.name": name, "tool_call.function.arguments": "{}"}
    return {"message.role": "assistant", "message.tool_calls": [function]}


def answers(id: str) -> dict[str, Any]:
    return {"message.role": "tool", "message.tool_call_id": id, "message.content": "x"}


def span(number: int, given: list[Any], put_out: Any) -> dict[str, Any]:
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.input_messages": given,
        "llm.output_messages": [put_out],
    }
    time = f"2026-01-01T00:00:0{number}Z"
    context = {"trace_id": "t", "span_id": f"s{number}"}
    return {"name": "llm", "context": context, "start_time": time, "end_time": time, "attributes": attributes}


FIRST = span(0, [USER], asks("a", "1"))
SECOND = span(1, [USER, asks("a", "1"), answers("1")], asks("b", "2"))
LAST = span(2, [USER, asks("a", "1"), answers("1"), asks("b", "2"), answers("2")], DONE)
BARE = span(2, [answers("1"), answers("2")], DONE)


@pytest.mark.parametrize(
    ("spans", "called", "gaps"),
    [
        ([FIRST, SECOND, LAST], ["a", "b"], ()),
        ([FIRST, LAST], ["a"], ("span s2 tells of calls that no span shows: `b`",)),
        ([SECOND, LAST], ["a", "b"], ()),
        ([FIRST, SECOND, BARE], ["a", "b"], ()),
        ([FIRST, BARE], ["a"], ("span s2 tells of results of calls that no span shows: `2`",)),
    ],
    ids=["whole", "without the second", "history first", "results alone", "results of an unknown call"],
)
def test_what_only_later_requests_tell_is_a_gap(spans: list[Any], called: list[str], gaps: tuple[str, ...]) -> None:
    """The history of the first span is read; what is missing between spans is not made up."""
    (read,) = traces.read([jsontext.encode(spans)], format="openinference")
    assert isinstance(read, Trajectory)
    assert ([call.name for call in read.tool_calls or ()], read.gaps) == (called, gaps)
