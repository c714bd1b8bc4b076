"""Objects of the OpenAI Agents SDK: results of runs, their states, items, answers and events."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterable
from typing import Any

import agents
import pytest
from agents import Agent, ModelResponse, RawResponsesStreamEvent, Runner, RunState, Usage, function_tool
from agents.models.interface import Model
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseCreatedEvent,
    ResponseFunctionToolCall,
    ResponseFunctionWebSearch,
    ResponseOutputItem,
    ResponseOutputMessage,
    ResponseOutputText,
)
from openai.types.responses.response_function_web_search import ActionSearch

import rightcall
from rightcall.errors import TraceError
from support.objects import asked, assert_reads_like, became

agents.set_tracing_disabled(True)


class Scripted(Model):
    """A model that answers what it is told, whole or in one event."""

    def __init__(self, *answers: list[ResponseOutputItem]) -> None:
        self._answers = iter(answers)

    async def get_response(self, *given: Any, **settings: Any) -> ModelResponse:
        return ModelResponse(output=next(self._answers), usage=Usage(), response_id=None)

    async def stream_response(self, *given: Any, **settings: Any) -> AsyncIterator[Any]:
        whole = Response.model_construct(id="r", created_at=0, object="response", output=next(self._answers), tools=[])
        yield ResponseCompletedEvent.model_construct(type="response.completed", sequence_number=0, response=whole)


def call(name: str, text: str, id: str) -> ResponseFunctionToolCall:
    """A call as the API answers it."""
    return ResponseFunctionToolCall(type="function_call", id=f"fc_{id}", call_id=id, name=name, arguments=text)


def said(text: str) -> ResponseOutputMessage:
    """A text as the API answers it."""
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[part])


def script() -> Scripted:
    """Two calls at once, a handoff, a call of the other agent, a search at the provider, a text."""
    searched = ResponseFunctionWebSearch(
        id="ws_1", type="web_search_call", status="completed", action=ActionSearch(type="search", query="sum")
    )
    return Scripted(
        [call("add", '{"to": 1}', "c1"), call("add", '{"to": 2}', "c2")],
        [call("transfer_to_second", "{}", "c3")],
        [call("add", '{"to": 3}', "c4")],
        [searched, said("Done.")],
    )


ASKED = [
    ("add", {"to": 1}),
    ("add", {"to": 2}),
    ("transfer_to_second", {}),
    ("add", {"to": 3}),
    ("web_search", {"type": "search", "query": "sum"}),
]


@function_tool
def add(to: int) -> str:
    """Add one."""
    return str(to + 1)


@function_tool(needs_approval=True)
def delete(name: str) -> str:
    """Delete something."""
    return f"{name} is gone"


def team(model: Model) -> Agent[Any]:
    """An agent that may hand over to a second one."""
    second = Agent(name="second", model=model, tools=[add])
    return Agent(name="first", model=model, tools=[add, delete], handoffs=[second])


def run(agent: Agent[Any], given: Any = "Add.", **settings: Any) -> Any:
    """The result of a run."""
    return asyncio.run(Runner.run(agent, given, **settings))


def names_and_more(value: Any) -> list[tuple[str, dict[str, Any], str, str | None]]:
    """Names, arguments, kinds and agents."""
    return [(one.name, one.arguments, one.kind, one.agent) for one in rightcall.read(value).tool_calls or ()]


def names(arguments: Iterable[tuple[str, Any]]) -> list[str]:
    """The names alone."""
    return [name for name, _ in arguments]


def test_a_result_tells_the_calls_of_the_model_once() -> None:
    """A result, its state and what the state writes: handoff and search among the calls, each with its agent (G9)."""
    result = run(team(script()))
    assert names_and_more(result) == [
        ("add", {"to": 1}, "client", "first"),
        ("add", {"to": 2}, "client", "first"),
        ("transfer_to_second", {}, "handoff", "first"),
        ("add", {"to": 3}, "client", "second"),
        ("web_search", {"type": "search", "query": "sum"}, "server", None),
    ]
    assert became(result)[0] == ("add", "ok")
    assert rightcall.read(result) == rightcall.read(result)
    assert_reads_like(result, result.to_state().to_string())
    assert_reads_like(result.to_state(), result.to_state().to_string())


def test_each_list_of_a_result_tells_the_calls() -> None:
    """New items, raw answers and the list for the next run; one item and one answer alone (G9)."""
    result = run(team(script()))
    for value in (result.new_items, result.raw_responses, result.to_input_list()):
        assert names(asked(value)) == names(ASKED)
    assert became(result.new_items)[:2] == [("add", "ok"), ("add", "ok")]
    assert asked(result.new_items[0]) == ASKED[:1]
    assert asked(result.raw_responses[0]) == ASKED[:2]


def test_a_streamed_run_is_read_when_it_has_ended() -> None:
    """Before the end it is refused; then the result and its events tell the same calls (G9)."""

    async def streamed() -> None:
        result = Runner.run_streamed(team(script()), "Add.")
        with pytest.raises(TraceError, match="`RunResultStreaming` has not ended; consume `stream_events"):
            rightcall.read(result)
        events = [event async for event in result.stream_events()]
        assert names(asked(result)) == names(ASKED) == names(asked(events))

    asyncio.run(streamed())


def test_events_that_end_in_the_middle_of_an_answer_are_refused() -> None:
    """What the model was about to ask for is not known (G9)."""
    begun = ResponseCreatedEvent.model_construct(type="response.created", sequence_number=0)

    async def first() -> Any:
        return await anext(script().stream_response())

    events = [RawResponsesStreamEvent(data=event) for event in (asyncio.run(first()), begun)]
    assert asked(events[:1]) == ASKED[:2]
    with pytest.raises(TraceError, match="the events of the run end in the middle of an answer"):
        rightcall.read(events)


def test_calls_wait_for_approval_and_may_be_denied() -> None:
    """What waits is pending; of what was decided, the denied call is refused, however the run is held (G13)."""
    model = Scripted(
        [call("delete", '{"name": "a"}', "c1"), call("delete", '{"name": "b"}', "c2"), call("add", '{"to": 1}', "c3")],
        [said("Done.")],
    )
    agent = team(model)
    first = run(agent)
    waiting = [("delete", "pending"), ("delete", "pending"), ("add", "ok")]
    assert became(first) == waiting == became(first.new_items)
    state: RunState[Any] = first.to_state()
    state.approve(first.interruptions[0])
    state.reject(first.interruptions[1])
    second = run(agent, state)
    decided = [("delete", "ok"), ("delete", "refused"), ("add", "ok")]
    assert became(second) == decided == became(second.new_items)
    assert_reads_like(second, second.to_state().to_string())


def test_a_tool_may_be_denied_as_a_whole() -> None:
    """From then on each of its calls is refused; those that ran before are not (G13)."""
    model = Scripted(
        [call("delete", '{"name": "a"}', "c1")],
        [call("delete", '{"name": "b"}', "c2"), call("add", '{"to": 1}', "c3")],
        [call("delete", '{"name": "c"}', "c4")],
        [said("Done.")],
    )
    agent = team(model)
    result = run(agent)
    state = result.to_state()
    state.approve(result.interruptions[0])
    result = run(agent, state)
    state = result.to_state()
    state.reject(result.interruptions[0], always_reject=True)
    result = run(agent, state)
    assert became(result) == [("delete", "ok"), ("delete", "refused"), ("add", "ok"), ("delete", "refused")]


def test_broken_arguments_stay_what_the_model_wrote() -> None:
    """The SDK tells the model of them and goes on; the call is malformed (G11)."""
    result = run(team(Scripted([call("add", '{"to": ', "c1")], [said("Done.")])))
    assert asked(result) == [("add", "malformed")]


def test_a_run_that_failed_tells_what_it_had_done() -> None:
    """The exception of the SDK holds the run so far, as `run_data` (G9)."""
    with pytest.raises(agents.MaxTurnsExceeded) as raised:
        run(team(script()), max_turns=2)
    assert names(asked(raised.value.run_data)) == names(ASKED[:3])


def test_reading_a_result_says_nothing_and_takes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """The program's own context is not written, so nothing warns about it; the result stays usable."""
    result = run(team(script()), context=object())
    before = len(caplog.records)
    with caplog.at_level(logging.DEBUG):
        rightcall.read(result)
    assert len(caplog.records) == before
    assert result.final_output == "Done."
    assert json.dumps(result.to_input_list())
