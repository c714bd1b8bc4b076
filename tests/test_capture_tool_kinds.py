"""`@rightcall.tool`: errors, generators, spans outside of blocks; a traced function stays the function it was."""

from __future__ import annotations

import asyncio
import functools
import gc
import inspect
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rightcall
from rightcall.errors import UsageError
from support.tracing import fresh, only, search

pytestmark = pytest.mark.usefixtures(fresh.__name__)


class Mute(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("error", "told"),
    [(ValueError("no such order"), "no such order"), (StopIteration(), "StopIteration: "), (Mute(), "Mute")],
)
def test_an_error_is_told_and_raised_unchanged(error: Exception, told: str) -> None:
    """The call was made, and failed."""

    @rightcall.tool
    def fail() -> None:
        raise error

    with rightcall.capture() as captured, pytest.raises(type(error)) as raised:
        fail()
    assert raised.value is error
    (call,) = captured.tool_calls
    assert (call.status, call.error, captured.gaps) == ("error", told, ())


def test_a_cancelled_tool_is_a_failed_call() -> None:
    """Who cancels gets the cancellation."""

    @rightcall.tool
    async def wait() -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        task = asyncio.ensure_future(wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    call = only(lambda: asyncio.run(main()))
    assert (call.name, call.status) == ("wait", "error")


@rightcall.tool
def count(until: int) -> Generator[Any, Any, str]:
    """Count, and say what was sent."""
    for number in range(until):
        sent = yield number
        if sent:
            yield sent
    return "end"


@rightcall.tool
async def count_slowly(until: int) -> AsyncIterator[Any]:
    """The same, asynchronously."""
    for number in range(until):
        await asyncio.sleep(0)
        yield number


def test_a_generator_is_one_call_from_its_first_item_to_its_end() -> None:
    """It gives, takes and returns what it did before."""

    def outer() -> Iterator[Any]:
        assert (yield from count(2)) == "end"

    call = only(lambda: list(outer()))
    assert (call.name, call.arguments, call.status) == ("count", {"until": 2}, "ok")
    made = count(2)
    assert [next(made), made.send("sent"), next(made)] == [0, "sent", 1]
    with pytest.raises(KeyError):
        made.throw(KeyError("thrown"))


def test_an_asynchronous_generator_is_one_call() -> None:
    """Alike."""

    async def main() -> list[Any]:
        return [number async for number in count_slowly(3)]

    assert asyncio.run(main()) == [0, 1, 2]
    assert only(lambda: asyncio.run(main())).arguments == {"until": 3}


def test_a_generator_that_is_left_has_ended_and_one_that_waits_has_not() -> None:
    """The block cannot know what follows in a generator that somebody still holds (G12)."""
    with rightcall.capture() as left:
        for _ in count(3):
            break
        gc.collect()
    made = count(3)
    with rightcall.capture() as held:
        next(made)
    made.close()
    assert [call.status for call in left.tool_calls] == ["ok"]
    assert (left.gaps, len(held.gaps)) == ((), 1)


def test_a_generator_that_is_never_begun_was_never_called() -> None:
    """Its body did not run."""
    with rightcall.capture() as captured:
        count(3).close()
    assert captured.tool_calls is None


def test_spans_of_what_a_generator_runs_stand_inside_it_and_others_do_not() -> None:
    """Between two items, the caller's span is current."""

    @rightcall.tool
    def outer() -> Iterator[list[str]]:
        yield search("inside")
        yield search("inside")

    with rightcall.capture() as captured:
        for _ in outer():
            search("between")
    shown = [(call.name, call.arguments.get("query"), call.parent) for call in captured.tool_calls]
    inside = ("search", "inside", 0)
    assert shown == [("outer", None, None), inside, inside, *[("search", "between", None)] * 2]


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (search, inspect.isfunction),
        (count, inspect.isgeneratorfunction),
        (count_slowly, inspect.isasyncgenfunction),
        (rightcall.tool(asyncio.sleep), inspect.iscoroutinefunction),
    ],
)
def test_a_traced_function_is_of_the_same_kind(function: Any, kind: Callable[[Any], bool]) -> None:
    """Frameworks look at what a function is, its name, its signature and its documentation."""
    assert kind(function)
    inner = function.__wrapped__
    assert (function.__name__, function.__doc__) == (inner.__name__, inner.__doc__)
    assert inspect.signature(function) == inspect.signature(inner)


@pytest.mark.parametrize("value", [7, functools.partial(print)])
def test_what_has_no_name_needs_one(value: Any) -> None:
    """The name is what tests expect; none is made up."""
    with pytest.raises(UsageError, match=r"@rightcall\.tool\(name=…\)"):
        rightcall.tool(value)


def exported(monkeypatch: pytest.MonkeyPatch, setting: str | None) -> dict[str, Any]:
    """The attributes of the span of a tool outside of any block, by a provider of the program's own."""
    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    trace.set_tracer_provider(provider)
    if setting is not None:
        monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", setting)
    search("a")
    (span,) = kept.get_finished_spans()
    assert span.name == "execute_tool search"
    return dict(span.attributes or {})


NAMED = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.type": "function"}


def test_outside_of_blocks_spans_go_to_the_configured_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the names of OpenTelemetry's GenAI conventions."""
    told = {"gen_ai.tool.call.arguments": '{"query": "a"}', "gen_ai.tool.call.result": '["a"]'}
    assert exported(monkeypatch, None) == {**NAMED, **told}


@pytest.mark.parametrize("setting", ["false", "NO_CONTENT", "event_only"])
def test_without_content_only_the_name_is_told(monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    """OpenTelemetry's own switch holds; names can still be graded, arguments are an error (G11)."""
    assert exported(monkeypatch, setting) == NAMED
    with rightcall.capture() as captured:
        search("a")
    by_name, by_arguments = (
        rightcall.grade(captured, {"expected_tool_calls": [expected]})[0]
        for expected in ("search", {"name": "search", "arguments": {"query": "a"}})
    )
    assert (by_name.status, by_arguments.status) == ("pass", "error")
    assert "not captured" in by_arguments.reason
