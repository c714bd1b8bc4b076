"""Objects of Pydantic AI: results of runs, messages, and parts of them."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import AsyncIterator
from typing import Any

import pydantic
import pytest
from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    ModelMessagesTypeAdapter,
    ModelRetry,
    ToolDenied,
)
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel
from pydantic_ai.models.test import TestModel

import rightcall
from rightcall.errors import TraceError
from support.objects import asked, assert_reads_like, became

PARTS = (ToolCallPart("add", '{"to": 1}', "c1"), ToolCallPart("add", {"to": 2}, "c2"))
ASKED: list[tuple[str, Any]] = [("add", {"to": 1}), ("add", {"to": 2})]
AGAIN: tuple[str, Any] = ("add", {"to": 3})


def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Two calls at once, one that is made again, an answer."""
    said = sum(isinstance(one, ModelResponse) for one in messages)
    turns: list[list[Any]] = [
        [TextPart("Adding."), *PARTS],
        [ToolCallPart("add", {"to": 3}, "c3")],
        [TextPart("Done.")],
    ]
    return ModelResponse(parts=turns[said])


def add(to: int) -> str:
    """Add one."""
    if to == 2:
        raise ModelRetry("not two")
    return str(to + 1)


def agent() -> Agent:
    """An agent with that model and that tool."""
    return Agent(FunctionModel(model), tools=[add], retries=3)


def run(agent: Any, *given: Any, **settings: Any) -> Any:
    """The result of a run, in a loop of its own."""
    return asyncio.run(agent.run(*given, **settings))


def test_a_result_and_its_messages_tell_the_calls() -> None:
    """The result of a run, its messages, and the text that it writes of them; a retry is a failure (G9, G13)."""
    result = run(agent(), "Add.")
    assert asked({"messages": result.all_messages()}) == [*ASKED, AGAIN]
    for value in (result, result.all_messages(), result.new_messages()):
        assert asked(value) == [*ASKED, AGAIN]
        assert became(value) == [("add", "ok"), ("add", "error"), ("add", "ok")]
        assert_reads_like(value, result.all_messages_json())
    assert_reads_like(result, ModelMessagesTypeAdapter.dump_python(result.all_messages(), mode="json"))


def test_a_message_and_its_parts_tell_the_calls() -> None:
    """One answer, the parts of it, and one part are calls; text among them is none (G9)."""
    answer = run(agent(), "Add.").all_messages()[1]
    assert asked(answer) == ASKED == asked(answer.parts)
    assert asked(answer.parts[1]) == ASKED[:1]
    assert rightcall.read(answer.parts[1]).warnings == ()


def test_results_alone_are_no_conversation_without_calls() -> None:
    """The parts of a request hold no answer of the model: that calls are missing is said."""
    request = run(agent(), "Add.").all_messages()[2]
    for value in (request, request.parts):
        (first, *_) = rightcall.read(value).gaps
        assert first.startswith("[0].parts[0] answers no call")


def test_a_run_is_read_when_it_has_ended() -> None:
    """A run that is iterated over gives its messages once it is over, and an error before."""

    async def iterated() -> None:
        async with agent().iter("Add.") as run:
            with pytest.raises(
                TraceError, match="the run of this `AgentRun` has not ended; iterate over it to its end"
            ):
                rightcall.read(run)
            async for _ in run:
                pass
        assert asked(run) == [*ASKED, AGAIN] == asked(run.result)

    asyncio.run(iterated())


def test_a_streamed_run_is_read_when_it_has_ended() -> None:
    """While the answer still comes nothing is read; afterwards its calls are."""

    async def said(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        if len(messages) > 1:
            yield "Done."
        else:
            yield {0: DeltaToolCall(name="add", json_args='{"to"', tool_call_id="c1")}
            yield {0: DeltaToolCall(json_args=": 1}")}

    async def streamed() -> None:
        async with Agent(FunctionModel(stream_function=said), tools=[add]).run_stream("Add.") as run:
            with pytest.raises(TraceError, match="`StreamedRunResult` has not ended"):
                rightcall.read(run)
            await run.get_output()
        assert asked(run) == ASKED[:1]

    asyncio.run(streamed())


class Sum(pydantic.BaseModel):
    """What an agent hands over."""

    total: int


def test_the_call_of_an_output_tool_keeps_its_kind() -> None:
    """Structured output is a call of kind `output`."""
    result = run(Agent(TestModel(), output_type=Sum), "Add.")
    assert [(call.name, call.kind) for call in rightcall.read(result).tool_calls or ()] == [("final_result", "output")]


def test_deferred_calls_are_requested_and_denied_ones_refused() -> None:
    """A run that waits for approvals shows what was asked; the next one, what was decided (G13)."""

    def asks(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=list(PARTS) if len(messages) < 2 else [TextPart("Done.")])

    agent = Agent(FunctionModel(asks), output_type=[str, DeferredToolRequests])
    agent.tool_plain(requires_approval=True)(add)
    first = run(agent, "Add.")
    assert became(first) == [("add", "requested"), ("add", "requested")]
    decided = DeferredToolResults(approvals={"c1": True, "c2": ToolDenied("no")})
    second = run(agent, message_history=first.all_messages(), deferred_tool_results=decided)
    assert became(second) == [("add", "ok"), ("add", "refused")]
    assert_reads_like(second, second.all_messages_json())


@pytest.mark.parametrize(
    ("outcome", "status"),
    [("success", "ok"), ("failed", "error"), ("retried", "error"), ("denied", "refused"), ("interrupted", "requested")],
)
def test_what_became_of_a_call_is_said_by_its_outcome(outcome: Any, status: str) -> None:
    """Nothing but success is success; of an interrupted call nothing is known (G13)."""
    answer = ModelRequest(parts=[ToolReturnPart("add", "told", "c1", outcome=outcome)])
    messages: list[ModelMessage] = [ModelResponse(parts=[PARTS[0]]), answer]
    assert became(messages) == [("add", status)]
    assert_reads_like(messages, ModelMessagesTypeAdapter.dump_json(messages))


def test_tools_of_the_provider_are_calls_of_its_server() -> None:
    """A built-in tool has its call and its result in one answer (G9)."""
    parts: list[Any] = [
        NativeToolCallPart("web_search", {"q": "sum"}, "c1"),
        NativeToolReturnPart("web_search", "3", "c1"),
    ]
    (call,) = rightcall.read([ModelResponse(parts=parts)]).tool_calls or ()
    assert (call.name, call.arguments, call.kind, call.status) == ("web_search", {"q": "sum"}, "server", "ok")


def test_values_are_written_as_the_library_writes_them() -> None:
    """Times and bytes in messages are what its JSON has for them."""
    when = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)
    messages: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart(["See.", BinaryContent(b"\xff\x00", media_type="image/png")])]),
        ModelResponse(parts=[ToolCallPart("add", {"when": when}, "c1")]),
        ModelRequest(parts=[ToolReturnPart("add", {"on": when.date()}, "c1")]),
    ]
    assert asked(messages) == [("add", {"when": "2026-01-02T00:00:00Z"})]
    assert_reads_like(messages, ModelMessagesTypeAdapter.dump_json(messages))


def test_a_message_that_its_library_cannot_write_is_refused_with_the_cause() -> None:
    """A tool may return any object; where it cannot be written, the place and the cause are told."""
    messages = [ModelResponse(parts=[PARTS[0]]), ModelRequest(parts=[ToolReturnPart("add", object(), "c1")])]
    with pytest.raises(TraceError, match=r"^\[1\]: `ModelRequest` cannot be written as JSON: Unable to serialize"):
        rightcall.read(messages)
