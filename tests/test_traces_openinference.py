"""OpenInference: each call is told once, in the order it was asked for, whatever spans show it."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from rightcall import traces
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.errors import TraceError
from rightcall.traces import openinference


class Trace:
    """Spans of one trace as the console exporter writes them, each a millisecond after the last."""

    def __init__(self, trace_id: str = "ab" * 16) -> None:
        self.trace_id = trace_id
        self.spans: list[dict[str, Any]] = []

    def add(
        self,
        kind: str | None,
        attributes: dict[str, Any],
        parent: str | None = None,
        failed: bool = False,
        lasts: int = 1,
    ) -> str:
        """Add a span and return its id."""
        number = len(self.spans) + 1
        identity = f"0x{number:016x}"
        marked = {"openinference.span.kind": kind} if kind else {}
        self.spans.append(
            {
                "name": f"span {number}",
                "context": {"trace_id": f"0x{self.trace_id}", "span_id": identity},
                "parent_id": parent,
                "start_time": f"2026-11-30T10:{number // 60000:02}:{number // 1000 % 60:02}.{number % 1000:03}000Z",
                "end_time": f"2026-11-30T11:00:00.{lasts:06}Z",
                "status": {"status_code": "ERROR" if failed else "OK", "description": "it failed" if failed else ""},
                "attributes": {**marked, **attributes},
                "events": [],
            }
        )
        return identity

    def model(self, *calls: dict[str, Any], parent: str | None = None, **more: Any) -> str:
        return self.add("LLM", {**output(*calls), **more}, parent)

    def tool(self, name: str, arguments: Any = None, parent: str | None = None, failed: bool = False) -> str:
        given = (
            {}
            if arguments is None
            else {"input.value": arguments if isinstance(arguments, str) else json.dumps(arguments)}
        )
        return self.add("TOOL", {"tool.name": name, **given}, parent, failed)


def asked(name: str | None, arguments: Any = None, id: str | None = None) -> dict[str, Any]:
    """A call as the attributes under `tool_calls.N`."""
    text = arguments if arguments is None or isinstance(arguments, str) else json.dumps(arguments)
    given = {"function.name": name, "function.arguments": text, "id": id}
    return {f"tool_call.{key}": value for key, value in given.items() if value is not None}


def output(*calls: dict[str, Any], message: str = "llm.output_messages.0.message") -> dict[str, Any]:
    found: dict[str, Any] = {f"{message}.role": "assistant"}
    for number, call in enumerate(calls):
        found |= {f"{message}.tool_calls.{number}.{key}": value for key, value in call.items()}
    return found


def read(*trace: Trace, spans: list[dict[str, Any]] | None = None) -> list[Trajectory]:
    listed = [span for one in trace for span in one.spans] if spans is None else spans
    text = "\n".join(map(json.dumps, listed))
    found = list(traces.read([text.encode()], format="openinference", file="f"))
    assert [item for item in found if isinstance(item, TraceError)] == []
    return [item for item in found if isinstance(item, Trajectory)]


def one(trace: Trace) -> Trajectory:
    (trajectory,) = read(trace)
    return trajectory


def names(trajectory: Trajectory) -> list[str]:
    return [call.name for call in trajectory.tool_calls or ()]


def told(trajectory: Trajectory) -> list[tuple[str, Any, str]]:
    return [(call.name, call.arguments, call.status) for call in trajectory.tool_calls or ()]


def test_an_output_and_its_execution_are_one_call() -> None:
    """The model span gives the call, the TOOL span what became of it."""
    trace = Trace()
    trace.model(asked("a", {"x": 1}, "1"), asked("b", {}, "2"))
    trace.tool("b", {}, failed=True)
    trace.add("TOOL", {"tool.name": "a", "input.value": '{"x": 1}', "output.value": '{"id": 7}'})
    read_ = one(trace)
    assert told(read_) == [("a", {"x": 1}, "ok"), ("b", {}, "error")]
    assert [(call.result, call.error) for call in read_.tool_calls or ()] == [({"id": 7}, None), (None, "it failed")]


def test_file_order_does_not_matter() -> None:
    """Exporters write spans when they end, some the newest first; delivery may repeat them."""
    trace = Trace()
    for number in range(12):
        trace.model(asked("a", {"n": number}))
        trace.tool("a", {"n": number})
    expected = [{"n": number} for number in range(12)]
    for seed in range(5):
        shuffled = trace.spans + trace.spans[:7]
        random.Random(seed).shuffle(shuffled)
        (trajectory,) = read(spans=shuffled)
        assert [call.arguments for call in trajectory.tool_calls or ()] == expected
        assert {call.status for call in trajectory.tool_calls or ()} == {"ok"}


def test_indices_are_numbers_with_gaps() -> None:
    """`10` comes after `9`, the first index may be 1, messages may be split."""
    trace = Trace()
    attributes: dict[str, Any] = {}
    for index in (10, 9, 2):
        attributes |= output(asked(f"t{index}"), message=f"llm.output_messages.{index}.message")
    attributes |= {
        f"llm.output_messages.11.message.tool_calls.{n}.{k}": v for n in (12, 3) for k, v in asked(f"u{n}").items()
    }
    trace.add("LLM", attributes)
    assert names(one(trace)) == ["t2", "t9", "t10", "u3", "u12"]


NESTED = {
    "openinference": {"span": {"kind": "LLM"}},
    "llm": {
        "output_messages": [
            {
                "message": {
                    "role": "assistant",
                    "tool_calls": [{"tool_call": {"function": {"name": "a", "arguments": "{}"}}}],
                }
            }
        ]
    },
}
HALF = {
    "openinference.span.kind": "LLM",
    "llm.output_messages": [{"message.role": "assistant", "message.tool_calls": [{"tool_call.function.name": "a"}]}],
}


@pytest.mark.parametrize("attributes", [NESTED, HALF, {"openinference.span.kind": "LLM", **output(asked("a", {}))}])
@pytest.mark.parametrize("wrap", ["bare", "attributes", "list"])
def test_attributes_may_be_flat_or_nested(attributes: dict[str, Any], wrap: str) -> None:
    """A bare map, a map under `attributes`, or a list of them."""
    value = {"bare": attributes, "attributes": {"attributes": attributes}, "list": [{"attributes": attributes}]}[wrap]
    trajectory = traces.read_object(value)
    assert told(trajectory) == [("a", {}, "requested")]


def test_a_call_listed_twice_in_one_message_counts_once() -> None:
    """Content blocks repeat `tool_calls`; they count only where there is no such list."""
    block = {f"llm.output_messages.0.message.contents.1.{key}": value for key, value in asked("a", {}).items()}
    twice, only = Trace(), Trace()
    twice.model(asked("a", {}), **block)
    only.add("LLM", block)
    assert (names(one(twice)), names(one(only))) == (["a"], ["a"])


def test_the_legacy_function_call_is_read() -> None:
    """Name and arguments are attributes of the message."""
    trace = Trace()
    message = "llm.output_messages.0.message"
    trace.add("LLM", {f"{message}.function_call_name": "a", f"{message}.function_call_arguments_json": '{"x": 1}'})
    assert told(one(trace)) == [("a", {"x": 1}, "requested")]


def test_two_instrumentations_of_one_model_call_count_once() -> None:
    """Nested spans, or overlapping siblings, with equal outputs are one call; later equal calls are not."""
    nested, siblings, retries = Trace(), Trace(), Trace()
    nested.model(asked("a", {}), parent=nested.model(asked("a", {})))
    root = siblings.add("AGENT", {})
    siblings.model(asked("a", {}, "1"), parent=root)
    siblings.model(asked("a", {}, "1"), parent=root)
    retries.model(asked("a", {}))
    retries.model(asked("a", {}))
    assert [names(one(trace)) for trace in (nested, siblings, retries)] == [["a"], ["a"], ["a", "a"]]


def test_a_model_span_that_was_overwritten_gives_way_to_its_executions() -> None:
    """What it encloses disagrees with what it says, so the executions are the truth."""
    trace = Trace()
    model = trace.model(asked("b", {}), asked("a", {}))
    trace.tool("a", {"n": 1}, parent=model)
    trace.tool("a", {"n": 2}, parent=model)
    trace.tool("b", {}, parent=model)
    assert told(one(trace)) == [("a", {"n": 1}, "ok"), ("a", {"n": 2}, "ok"), ("b", {}, "ok")]


def test_a_model_span_that_agrees_with_what_it_encloses_keeps_its_calls() -> None:
    """The model's arguments are better than the execution's."""
    trace = Trace()
    model = trace.model(asked("a", {"city": "Paris"}))
    trace.tool("a", "Paris", parent=model)
    assert told(one(trace)) == [("a", {"city": "Paris"}, "ok")]


def test_calls_that_never_ran_stay_requested() -> None:
    """Requested is not executed; the run belongs to the model span before it."""
    trace = Trace()
    trace.model(asked("a", {"n": 1}))
    trace.model(asked("a", {"n": 1}))
    trace.tool("a", {"n": 1})
    trace.model(asked("a", {"n": 1}))
    assert [call.status for call in one(trace).tool_calls or ()] == ["requested", "ok", "requested"]


def test_executions_alone_are_calls() -> None:
    """A trace without model spans holds the calls that its tools show."""
    trace = Trace()
    trace.add("AGENT", {"agent.name": "boss"})
    trace.tool("a", {"x": 1}, parent="0x0000000000000001")
    (call,) = one(trace).tool_calls or ()
    assert (call.name, call.arguments, call.status, call.agent) == ("a", {"x": 1}, "ok", "boss")


def test_calls_of_a_nested_agent_follow_the_call_that_made_it() -> None:
    """Pre-order: the call, then what was called inside it, then its parallel neighbour."""
    trace = Trace()
    root = trace.add("AGENT", {"agent.name": "boss"})
    trace.model(asked("research", {}), asked("refund", {}), parent=root)
    research = trace.tool("research", {}, parent=root)
    trace.tool("refund", {}, parent=root)
    child = trace.add("AGENT", {"agent.name": "researcher"}, research)
    trace.model(asked("search", {}), parent=child)
    trace.tool("search", {}, parent=child)
    calls = one(trace).tool_calls or ()
    assert [(call.name, call.parent, call.kind, call.agent_path) for call in calls] == [
        ("research", None, "agent", ("boss",)),
        ("search", 0, "client", ("boss", "researcher")),
        ("refund", None, "client", ("boss",)),
    ]


def test_spans_that_only_look_like_tools_are_no_calls() -> None:
    """Wrappers, hand-over spans and merged batches are not what the model asked for."""
    trace = Trace()
    trace.model(asked("a", {}), asked("transfer_to_billing"))
    outer = trace.tool("a", {})
    trace.tool("a", {}, parent=outer)
    trace.add("TOOL", {"tool.name": "(merged tools)"})
    trace.add("TOOL", {})
    trace.spans[-1]["name"] = "handoff to billing"
    trace.add("CHAIN", {**output(asked("z", {}))})
    calls = one(trace).tool_calls or ()
    assert [(call.name, call.arguments, call.kind) for call in calls] == [
        ("a", {}, "client"),
        ("transfer_to_billing", {}, "handoff"),
    ]


@pytest.mark.parametrize(
    ("given", "arguments", "state"),
    [
        ({"input.value": '{"x": 1}'}, {"x": 1}, "ok"),
        ({"input.value": '{"args": [], "kwargs": {"x": 1}}'}, {"x": 1}, "ok"),
        ({"input.value": '[{"role": "tool", "content": "{\\"x\\": 1}"}]'}, {"x": 1}, "ok"),
        ({"input.value": '[{"role": "tool", "content": {}}]'}, {}, "ok"),
        ({"input.value": "Paris"}, None, "not_captured"),
        ({"input.value": '{"x": '}, None, "malformed"),
        ({"input.value": "__REDACTED__"}, None, "redacted"),
        ({"input.value": ('{"x": "' + "y" * 200)[:128]}, None, "truncated"),
        ({"tool.parameters": '{"x": 1}'}, {"x": 1}, "ok"),
        ({"tool.parameters": '{"type": "object", "properties": {"x": {}}}'}, None, "not_captured"),
        ({"tool.parameters": '{"x": {"type": "integer"}}'}, None, "not_captured"),
        ({}, None, "not_captured"),
    ],
)
def test_arguments_of_an_execution_alone(given: dict[str, Any], arguments: Any, state: str) -> None:
    """Carriers are unwrapped, schemas are no arguments, and what is not shown is unknown (G10, G11; B069, B070)."""
    trace = Trace()
    trace.add("TOOL", {"tool.name": "a", **given})
    (call,) = one(trace).tool_calls or ()
    assert (call.arguments, call.arguments_state) == (arguments, state)


def test_masked_arguments_are_redacted() -> None:
    """The name is still known, so checks of names alone still work (G11)."""
    trace = Trace()
    trace.model(asked("a", "__REDACTED__"))
    assert [(call.name, call.arguments_state) for call in one(trace).tool_calls or ()] == [("a", "redacted")]


def test_fragments_without_a_name_give_way_to_executions() -> None:
    """A stream that was recorded in pieces is told by its TOOL spans; without them the entries are counted."""
    with_tools, without = Trace(), Trace()
    for trace in (with_tools, without):
        trace.model(asked(None, '{"x"'), asked(None, ": 1}"))
    with_tools.tool("a", {"x": 1})
    assert (names(one(with_tools)), names(one(without))) == (["a"], ["", ""])
    assert one(with_tools).warnings
    assert one(without).warnings


def history(*messages: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, message in enumerate(messages):
        found |= {f"llm.input_messages.{number}.message.{key}": value for key, value in message.items()}
    return found


EARLIER = [
    {"role": "user", "content": "hi"},
    {"role": "assistant", **{f"tool_calls.0.{key}": value for key, value in asked("a", {"x": 1}, "1").items()}},
    {"role": "tool", "tool_call_id": "1", "content": "A"},
]


def test_history_fills_in_only_what_precedes_everything() -> None:
    """A conversation that began elsewhere; later spans repeat their history, which adds nothing."""
    trace = Trace()
    trace.model(asked("b", {}, "2"), **history(*EARLIER))
    trace.model(
        **history(*EARLIER, {"role": "assistant", **{f"tool_calls.0.{k}": v for k, v in asked("b", {}, "2").items()}})
    )
    trajectory = one(trace)
    assert [(call.name, call.message, call.result) for call in trajectory.tool_calls or ()] == [
        ("a", 0, "A"),
        ("b", 1, None),
    ]
    assert trajectory.warnings == ("calls that only the history of the first model span shows: 1",)


def test_results_that_only_history_shows_are_read() -> None:
    """Whether such a result is a failure is not recorded, so the status stays open."""
    trace = Trace()
    trace.model(asked("a", {"x": 1}, "1"))
    trace.model(**history(*EARLIER))
    assert [(call.status, call.result) for call in one(trace).tool_calls or ()] == [("requested", "A")]


@pytest.mark.parametrize(("tool", "gaps"), [(None, 1), ("a", 0)])
def test_a_finish_reason_of_calls_without_calls_is_a_gap(tool: str | None, gaps: int) -> None:
    """Unless executions show what was asked for (G12)."""
    trace = Trace()
    trace.model(**{"llm.finish_reason": "tool_calls"})
    if tool:
        trace.tool(tool, {})
    assert len(one(trace).gaps) == gaps


def test_a_rejected_line_is_a_gap_of_every_trajectory() -> None:
    """Its spans could belong to any of them (G12)."""
    first, second = Trace(), Trace("cd" * 16)
    first.model(asked("a", {}))
    second.model(asked("b", {}))
    text = "\n".join([json.dumps(first.spans[0]), '{"name": "broken', json.dumps(second.spans[0])])
    found = list(traces.read([text.encode()], format="openinference"))
    assert [len(item.gaps) for item in found if isinstance(item, Trajectory)] == [1, 1]


def test_a_trace_without_model_and_tool_spans_is_not_recorded() -> None:
    """And it says why (G3)."""
    trace = Trace()
    trace.add("CHAIN", {})
    trajectory = one(trace)
    assert trajectory.tool_calls is None
    assert trajectory.warnings == ("the trace has neither a model span nor a tool span",)


def test_a_model_span_without_calls_is_recorded() -> None:
    """No calls were made (G3)."""
    trace = Trace()
    trace.model()
    assert one(trace).tool_calls == ()


def test_too_many_calls_are_an_error_of_their_trajectory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is named, with the file and the id of the trace (G8)."""
    monkeypatch.setattr("rightcall.traces.documents.MAX_CALLS", 2)
    trace = Trace()
    trace.model(asked("a"), asked("b"), asked("c"))
    (error,) = traces.read([json.dumps(trace.spans).encode()], format="openinference", file="f")
    assert isinstance(error, TraceError)
    assert (str(error), error.record_id) == ("f: 3 calls are more than the limit of 2", trace.trace_id)


def test_sessions_span_traces_and_are_inherited() -> None:
    """By session, else by trace; a span without a session takes that of its ancestors."""
    first, second, third = Trace(), Trace("cd" * 16), Trace("ef" * 16)
    root = first.add("AGENT", {"session.id": "s"})
    first.model(asked("a", {}), parent=root)
    second.add("CHAIN", {})
    second.add("CHAIN", {})
    second.model(asked("b", {}), **{"session.id": "s"})
    third.model(asked("c", {}))
    found = read(first, second, third)
    assert {(trajectory.conversation_id, tuple(names(trajectory))) for trajectory in found} == {
        ("s", ("a", "b")),
        (None, ("c",)),
    }
    assert {len(trajectory.trace_ids) for trajectory in found} == {1, 2}


def test_a_chain_of_thousands_of_spans_is_walked() -> None:
    """The call at the leaf is found; no tree is too deep (B105)."""
    trace = Trace()
    parent = None
    for _ in range(5000):
        parent = trace.add("AGENT", {"agent.name": "boss"}, parent)
    trace.tool("leaf", {}, parent=parent)
    assert names(one(trace)) == ["leaf"]


def test_a_circle_of_parents_is_no_trap() -> None:
    """Every call is still told, once."""
    trace = Trace()
    trace.tool("a", {}, parent="0x0000000000000002")
    trace.tool("b", {}, parent="0x0000000000000001")
    assert sorted(names(one(trace))) == ["a", "b"]


def test_tools_messages_output_and_the_test_id_are_read() -> None:
    """What stands around the calls."""
    schema = {"type": "function", "function": {"name": "a", "parameters": {"type": "object"}}}
    trace = Trace()
    trace.model(
        **{"llm.tools.0.tool.json_schema": json.dumps(schema), "llm.output_messages.0.message.content": "Done."},
        metadata=json.dumps({"test_id": "t1"}),
        **history({"role": "user", "content": "hi"}),
    )
    trajectory = one(trace)
    assert [tool.name for tool in trajectory.available_tools] == ["a"]
    assert (trajectory.output, trajectory.test_id) == ("Done.", "t1")
    assert trajectory.messages == [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Done."}]


SHAPES = [
    {"type": "function", "function": {"name": "a", "parameters": {"type": "object"}}},
    {"type": "function", "name": "a", "parameters": {"type": "object"}},
    {"name": "a", "input_schema": {"type": "object"}},
    {"function_declarations": [{"name": "a", "parameters": {"type": "object"}}]},
    {"toolSpec": {"name": "a", "inputSchema": {"json": {"type": "object"}}}},
]


@pytest.mark.parametrize("schema", SHAPES)
@pytest.mark.parametrize("dump", [json.dumps, lambda value: value])
def test_one_span_tells_its_tools_in_any_shape(schema: Any, dump: Any) -> None:
    """OpenAI nested and flat, Anthropic, Gemini, Bedrock (G33)."""
    span = openinference.read_llm_span(
        {"llm.tools.0.tool.json_schema": dump(schema), **history({"role": "user", "content": "hi"})}
    )
    assert [(tool.name, tool.parameters) for tool in span.available_tools] == [("a", {"type": "object"})]


def test_one_span_called_what_its_output_messages_hold() -> None:
    """All messages in numeric order, nameless calls included, history never (G29, G32)."""
    attributes = {
        **history(*EARLIER),
        **output(asked("c", {}), message="llm.output_messages.10.message"),
        **output(asked("b", {"x": 1}), asked(None, "{}"), message="llm.output_messages.2.message"),
    }
    span = openinference.read_llm_span({"attributes": {"openinference.span.kind": "LLM", **attributes}})
    assert [call.name for call in span.called] == ["b", "", "c"]
    assert [message["role"] for message in span.messages] == ["user", "assistant", "tool"]
    assert isinstance(span.called[0], ToolCall)


@pytest.mark.parametrize(
    ("span", "message"),
    [
        (None, "expected a span, an object; found null"),
        ([], "expected a span, an object; found an array"),
        ("LLM", "expected a span, an object; found text"),
        ({"openinference.span.kind": "TOOL", **history(*EARLIER)}, "expected a span of kind LLM; found TOOL"),
        ({"attributes": {"openinference": {"span": {"kind": "AGENT"}}}}, "expected a span of kind LLM; found AGENT"),
        ({"openinference.span.kind": "LLM"}, "the span has no input messages"),
        ({"attributes": {}}, "the span has no input messages"),
        ({"x": float("nan")}, "expected a JSON value; found nan"),
    ],
)
def test_one_span_that_cannot_be_judged_is_refused(span: object, message: str) -> None:
    """The evaluation fails instead of scoring nothing (G29)."""
    with pytest.raises(TraceError) as caught:
        openinference.read_llm_span(span)
    assert caught.value.message.startswith(message)
