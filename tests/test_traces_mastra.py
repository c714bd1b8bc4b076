"""Mastra's own traces, as its storage and its exporters write them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rightcall import traces
from rightcall.core.calls import Trajectory
from support.spanning import one, read_lines

TRACE = "ab" * 16


def mastra(number: int, kind: str, parent: int = 0, **more: Any) -> dict[str, Any]:
    """A span as storage writes it, by its number."""
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else None,
        "name": f"{kind}: 'x'",
        "spanType": kind,
        "startedAt": f"2026-11-30T10:00:{number:02}.000Z",
        "endedAt": f"2026-11-30T10:00:{number:02}.500Z",
        **more,
    }


def step(number: int, *calls: Any, text: str = "", parent: int = 2) -> dict[str, Any]:
    """One answer of the model, with calls as the stream has them."""
    entries = [{"type": "tool-call", "payload": call} for call in calls]
    reason = "tool-calls" if calls else "stop"
    output = {"text": text, "toolCalls": entries}
    return mastra(number, "model_step", parent, output=output, attributes={"finishReason": reason})


def ran(number: int, name: str, parent: int = 2, kind: str = "tool_call", **more: Any) -> dict[str, Any]:
    """A span of a tool, labelled as Mastra labels it."""
    known = {"name": f"tool: '{name}'", "entityId": name, "entityType": "tool", "input": {"id": 1}, "output": {"ok": 1}}
    return mastra(number, kind, parent, **{**known, **more})


ASKED = {"toolCallId": "c1", "toolName": "look", "args": {"id": 1}}
RUN = [
    mastra(1, "agent_run", entityId="shop", attributes={"conversationId": "talk"}),
    mastra(
        2,
        "model_generation",
        1,
        input={"messages": [{"role": "user", "content": "Hi"}]},
        output={"text": "Done.", "toolCalls": [ASKED]},
        attributes={"tools": [{"type": "function", "name": "look"}, {"type": "function", "name": "send"}]},
    ),
    step(3, ASKED),
    ran(4, "look", attributes={"toolCallId": "c1", "success": True}),
    step(5, text="Done."),
]


def calls(found: Trajectory) -> list[tuple[str, Any, str, str]]:
    """What is known of the calls of a trajectory."""
    return [(call.name, call.arguments, call.status, call.kind) for call in found.tool_calls or ()]


@pytest.mark.parametrize("document", [{"traceId": TRACE, "spans": RUN}, RUN])
def test_a_run_is_read_as_its_calls(document: Any) -> None:
    """A step asks for a call, its tool span says what came of it; the generation around repeats both."""
    found = one(document)
    assert calls(found) == [("look", {"id": 1}, "ok", "client")]
    (call,) = found.tool_calls or ()
    assert (call.id, call.agent, call.result, len(call.sources)) == ("c1", "shop", {"ok": 1}, 2)
    assert (found.conversation_id, found.output, found.gaps) == ("talk", "Done.", ())
    assert [tool.name for tool in found.available_tools] == ["look", "send"]


def test_spans_may_stand_on_lines_of_their_own() -> None:
    """The names that exporters use are the same spans."""
    names = {"spanId": "id", "spanType": "type", "startedAt": "startTime", "endedAt": "endTime"}
    exported = [{names.get(key, key): value for key, value in span.items()} for span in RUN]
    (found,) = read_lines(exported, "otel-genai")
    assert calls(found) == calls(one(RUN))


def test_files_are_detected() -> None:
    """By the type of a span, or of its entity."""
    assert traces.detect(json.dumps(RUN).encode()) == "otel-genai"


@pytest.mark.parametrize(
    ("span", "call"),
    [
        (ran(4, "a", attributes={"success": False}), ("a", {"id": 1}, "error", "client")),
        (ran(4, "a", error={"message": "boom"}), ("a", {"id": 1}, "error", "client")),
        (ran(4, "a", kind="mcp_tool_call", attributes={"mcpServer": "s"}), ("a", {"id": 1}, "ok", "mcp")),
        (ran(4, "a", kind="provider_tool_call"), ("a", {"id": 1}, "ok", "client")),
        (ran(4, "a", entityId=None, entityName="b"), ("b", {"id": 1}, "ok", "client")),
        (ran(4, "a", entityId=None), ("a", {"id": 1}, "ok", "client")),
        (ran(4, "a", endedAt=None, output=None), ("a", {"id": 1}, "requested", "client")),
        (ran(4, "a", input=None), ("a", None, "ok", "client")),
    ],
)
def test_tool_spans_of_each_kind_are_calls(span: dict[str, Any], call: tuple[Any, ...]) -> None:
    """By the name of their entity; the label of the span is the last resort."""
    assert calls(one([span])) == [call]


def test_a_call_that_was_never_run_is_still_one() -> None:
    """The step that asked for it shows it."""
    assert calls(one([*RUN[:3], step(5, {**ASKED, "toolCallId": "c2", "toolName": "pay"})])) == [
        ("look", {"id": 1}, "requested", "client"),
        ("pay", {"id": 1}, "requested", "client"),
    ]


def test_a_run_without_calls_is_recorded() -> None:
    """A generation is a model's answer, also where no step is kept (G3)."""
    found = one([mastra(2, "model_generation", output={"text": "Hello."})])
    assert (found.tool_calls, found.output) == ((), "Hello.")


def test_a_step_that_hides_its_calls_is_a_gap() -> None:
    """It stopped because of calls, and shows none (G12)."""
    hidden = mastra(3, "model_step", output={"text": ""}, attributes={"finishReason": "tool-calls"})
    assert one([hidden]).gaps == ("span 0000000000000003 finished with `tool-calls`, but shows no calls",)
