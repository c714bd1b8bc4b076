"""What was read to make a trajectory is counted, and spans of tools that give no call are seen."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import rightcall
from rightcall.core.calls import Ingestion, Trajectory
from support.spanning import asked, one, ran, span

TRACE = [
    span(1, {"gen_ai.operation.name": "invoke_agent"}),
    span(2, asked(("look", {"id": 1}, "c1"), ("send", {}, "c2")), parent=1),
    span(3, ran("look", {"id": 1}, **{"gen_ai.tool.call.id": "c1"}), parent=1),
    span(4, {"http.request.method": "GET"}, parent=3, name="GET /orders"),
    span(5, ran("save", {}), parent=1, name="execute_tool save"),
]


def read(value: Any) -> Ingestion:
    """The ingestion of the only trajectory of some spans."""
    found = one(value).ingestion
    assert found is not None
    return found


def test_everything_that_was_read_is_counted() -> None:
    """Spans, those of models and tools, those without a call, and sightings beyond the first."""
    assert read(TRACE) == Ingestion(
        spans=5,
        model_spans=1,
        tool_spans=2,
        understood=2,
        idle=2,
        joined=1,
        unknown_spans=1,
        unknown=("GET /orders",),
    )


def test_what_was_read_depends_on_no_order_and_no_delivery() -> None:
    """Spans that come twice, and in another order, are counted as ever (G5)."""
    shuffled = [*TRACE, *TRACE[2:4]]
    random.Random(3).shuffle(shuffled)
    assert read(shuffled) == read(TRACE)


def test_messages_and_results_are_counted() -> None:
    """A result that belongs to a call is another sight of it."""
    call = {"id": "1", "type": "function", "function": {"name": "a", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "done"},
    ]
    assert rightcall.read(messages).ingestion == Ingestion(messages=3, joined=1)


@pytest.mark.parametrize("repeated", [asked(("a", {}), **{"gen_ai.input.messages": json.dumps([])}), ran("a", {})])
def test_content_that_is_there_is_seen(repeated: dict[str, Any]) -> None:
    """Arguments, even empty ones, show that content was captured."""
    assert read([span(1, repeated)]).content_off is False


def test_content_that_was_not_captured_is_noticed() -> None:
    """Names alone say that capture was off."""
    assert read([span(1, asked(("a", None, "1"))), span(2, ran("a"))]).content_off is True


UNREAD: dict[str, dict[str, Any]] = {
    "a label": {"name": "tool: 'save'", "attributes": {"x": 1}},
    "a label in words": {"name": "execute_tool save", "attributes": {}},
    "a label alone": {"name": "tool", "attributes": {}},
    "a kind": {"name": "save", "attributes": {"acme.span.kind": "TOOL"}},
    "a nested type": {"name": "save", "attributes": {"acme": {"spanType": "tool_call"}}},
    "a key": {"name": "save", "attributes": {"acme.tool.name": "save"}},
    "a key with humps": {"name": "save", "attributes": {"toolName": "save"}},
    "an unknown operation": {"name": "save", "attributes": {"gen_ai.operation.name": "use_tool", "tool_name": "save"}},
}


@pytest.mark.parametrize("found", UNREAD.values(), ids=UNREAD)
def test_a_span_that_looks_like_a_tools_is_a_gap(found: dict[str, Any]) -> None:
    """It may hide a call, so a ban cannot pass (G12)."""
    trace = [span(1, asked(("look", {}))), {**span(2, {}), **found}]
    trajectory = one(trace)
    assert trajectory.ingestion is not None
    assert trajectory.ingestion.unread == (found["name"],)
    (gap,) = trajectory.gaps
    assert gap == f"1 span looks like that of a tool, but no call is read from it: `{found['name']}`"
    (verdict,) = rightcall.grade(trajectory, {"forbidden_tools": ["delete"]})
    assert verdict.status == "error"


SILENT: dict[str, dict[str, Any]] = {
    "an HTTP request": {"name": "POST /tools/call-me", "attributes": {"http.method": "POST"}},
    "a list of tools": {"name": "tools/list", "attributes": {"tools.count": 3}},
    "a plural": {"name": "running tools", "attributes": {}},
    "definitions": {"name": "set-up", "attributes": {"acme.tool.definitions": "[]", "acme.tool_choice": "auto"}},
    "a registry": {"name": "tool_registry.load", "attributes": {}},
    "an agent with tools": {
        "name": "invoke_agent a",
        "attributes": {"gen_ai.operation.name": "invoke_agent", "gen_ai.tool.definitions": "[]"},
    },
    "a node of a graph": {"name": "call_tool", "attributes": {"openinference.span.kind": "CHAIN"}},
    "a batch of tools": {"name": "execute_tool (merged)", "attributes": {"gen_ai.operation.name": "execute_tool"}},
    "a handover": {"name": "handoff to b", "attributes": {"openinference.span.kind": "TOOL"}},
}


@pytest.mark.parametrize("found", SILENT.values(), ids=SILENT)
def test_a_span_that_only_has_to_do_with_tools_is_no_gap(found: dict[str, Any]) -> None:
    """Nothing says that it ran one."""
    trajectory = one([span(1, asked(("look", {}))), {**span(2, {}), **found}])
    assert (trajectory.gaps, trajectory.ingestion and trajectory.ingestion.unread) == ((), ())


def test_another_sight_of_a_call_is_no_gap() -> None:
    """A span inside or around an execution may name its call, but no call more often than it was made (G12)."""
    again = {**span(4, {}, parent=3), "name": "tool.look"}
    trajectory = one([*TRACE, {**again, "spanId": "00000000000000a1"}])
    assert trajectory.gaps == ()
    twice = [*TRACE, *({**again, "spanId": f"00000000000000a{number}"} for number in range(2))]
    assert len(one(twice).gaps) == 1


@pytest.mark.parametrize(
    "hidden",
    [
        {"name": "tool: 'delete'", "attributes": {"after": "look"}},
        {"name": "look after", "attributes": {"tool.name": "delete"}},
        {"name": "tool.delete look", "attributes": {}},
    ],
)
def test_a_span_of_another_tool_hides_a_call_whatever_it_speaks_of(hidden: dict[str, Any]) -> None:
    """Where it says which tool it ran, no other text makes it the sight of a call (G12)."""
    assert len(one([*TRACE, {**span(9, {}), **hidden}]).gaps) == 1


def test_a_span_that_does_not_name_its_tool_may_be_of_any_that_it_speaks_of() -> None:
    """Its kind says that it is a tool's; a text among its attributes says whose."""
    again = {**span(9, {"acme.kind": "tool", "acme.function": "look"}), "name": "step"}
    assert one([*TRACE, again]).gaps == ()


def test_many_unread_spans_are_one_gap() -> None:
    """Each name stands once, and only some of them."""
    spans = [{**span(number, {}), "name": f"tool.t{number % 7}"} for number in range(2, 30)]
    (gap,) = one([span(1, asked(("look", {}))), *spans]).gaps
    assert gap.startswith("28 spans look like those of tools")
    assert gap.endswith("`tool.t2`, `tool.t3`, `tool.t4`, `tool.t5`, `tool.t6` and 2 more")


def test_a_trace_of_unread_tools_is_not_recorded_and_not_left_out() -> None:
    """It stands beside the traces that are read, so that nobody takes it for nothing (G3, G12)."""
    alone = {**span(9, {}, name="tool: 'pay'"), "traceId": "cd" * 16}
    other = {**span(10, {}, name="GET /"), "traceId": "ef" * 16}
    found = list(rightcall.traces.read([json.dumps([*TRACE, alone, other]).encode()]))
    kept = [item for item in found if isinstance(item, Trajectory)]
    assert [item.tool_calls is None for item in kept] == [False, True]
    assert kept[1].gaps == ("1 span looks like that of a tool, but no call is read from it: `tool: 'pay'`",)


def test_names_that_only_labels_give_are_listed() -> None:
    """A wrapper's label stands where the tool's name should; a name that a model asked for is confirmed."""
    wrapped = span(2, {"openinference.span.kind": "TOOL", "input.value": "{}"}, name="Manager.handle")
    assert read([span(1, asked(("look", {}))), wrapped]).labels == ("Manager.handle",)
    assert read([span(1, asked(("Manager.handle", {}))), wrapped]).labels == ()
    assert read([span(1, ran("look", {}), name="execute_tool look")]).labels == ()
