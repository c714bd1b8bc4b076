"""Objects of Google's ADK: events of a run, streamed or not, and the session that keeps them."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.genai import types

import rightcall
from rightcall.errors import TraceError
from support.objects import asked, assert_reads_like, became

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what the package says of its own dependencies
    from google.adk.agents import LlmAgent
    from google.adk.agents.run_config import RunConfig, StreamingMode  # type: ignore[attr-defined]  # where users take it
    from google.adk.events import Event
    from google.adk.models import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.adk.sessions import Session
    from google.adk.tools.long_running_tool import LongRunningFunctionTool

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:google.adk", "ignore::DeprecationWarning:google.adk")

ASKED: list[tuple[str, Any]] = [("add", {"to": 1}), ("add", {"to": 2}), ("fail", {}), ("wait", {"hours": 1})]
BECAME = [("add", "ok"), ("add", "ok"), ("fail", "error"), ("wait", "pending")]


class Scripted(BaseLlm):
    """A model that answers what it is told; where it streams, a partial answer goes before."""

    answers: list[list[types.Part]]

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        parts = self.answers.pop(0)
        if stream:
            yield LlmResponse(content=types.Content(role="model", parts=parts), partial=True)
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def call(name: str, arguments: dict[str, Any]) -> types.Part:
    """A call with a signature that is no text."""
    return types.Part(function_call=types.FunctionCall(name=name, args=arguments), thought_signature=b"\xff\x00")


def add(to: int) -> dict[str, int]:
    """Add one."""
    return {"sum": to + 1}


def fail() -> dict[str, str]:
    """Fail."""
    return {"error": "no"}


def wait(hours: int) -> None:
    """Wait for somebody."""


def agent() -> LlmAgent:
    """Two calls at once, one that fails, one that takes long, a text."""
    answers = [
        [call("add", {"to": 1}), call("add", {"to": 2})],
        [call("fail", {})],
        [call("wait", {"hours": 1})],
        [types.Part(text="Done.")],
    ]
    model = Scripted(model="scripted", answers=answers)
    return LlmAgent(name="adder", model=model, tools=[add, fail, LongRunningFunctionTool(wait)])


def run(mode: StreamingMode = StreamingMode.NONE) -> tuple[list[Event], Session]:
    """The events of a run, and the session in which they are kept."""

    async def events() -> tuple[list[Event], Session]:
        runner = InMemoryRunner(agent=agent(), app_name="sums")
        session = await runner.session_service.create_session(app_name="sums", user_id="u")
        given = types.Content(role="user", parts=[types.Part(text="Add.")])
        of: dict[str, Any] = {"user_id": "u", "session_id": session.id}
        made = runner.run_async(**of, new_message=given, run_config=RunConfig(streaming_mode=mode))
        listed = [event async for event in made]
        kept = await runner.session_service.get_session(app_name="sums", **of)
        assert kept is not None
        return listed, kept

    return asyncio.run(events())


@pytest.mark.parametrize("mode", [StreamingMode.NONE, StreamingMode.SSE])
def test_events_and_the_session_tell_the_calls_once(mode: StreamingMode) -> None:
    """A list of events, the session and its events; partial events repeat, a long-running call is pending (G9, G13)."""
    events, session = run(mode)
    assert any(event.partial for event in events) == (mode is StreamingMode.SSE)
    for value in (events, session, session.events):
        assert asked(value) == ASKED
        assert became(value) == BECAME


def test_a_session_reads_like_each_of_its_dumps() -> None:
    """By the names of Python and by those of the API; so do its events (G9)."""
    events, session = run()
    assert_reads_like(session, session.model_dump_json(), session.model_dump_json(by_alias=True))
    assert_reads_like(events, [event.model_dump(mode="json") for event in events])


def test_one_event_tells_its_calls() -> None:
    """An event alone is read (G9)."""
    events, _ = run()
    assert asked(events[0]) == ASKED[:2]


def test_a_session_that_keeps_objects_is_refused_with_the_cause() -> None:
    """A state may hold anything; then the library cannot write its session, and the events can be given."""
    _, session = run()
    session.state["index"] = object()
    with pytest.raises(TraceError, match="`Session` cannot be written as JSON: expected a JSON value; found an object"):
        rightcall.read(session)
    assert asked(session.events) == ASKED


def test_a_run_that_was_not_collected_is_refused() -> None:
    """The generator of a run says how to collect it."""
    runner = InMemoryRunner(agent=agent(), app_name="sums")
    with pytest.raises(TraceError, match=r"`async_generator`.*give `\[part async for part in …\]`"):
        rightcall.read(runner.run_async(user_id="u", session_id="s", new_message=None))


def test_values_inside_are_written_as_the_library_writes_them() -> None:
    """Signatures are bytes, and finish reasons enumerations: neither is in the way (G9)."""
    event = Event(author="adder", invocation_id="i", finish_reason=types.FinishReason.STOP)
    event.content = types.Content(role="model", parts=[call("add", {"to": 1})])
    assert json.loads(event.model_dump_json())["finish_reason"] == "STOP"
    assert asked(event) == ASKED[:1]
