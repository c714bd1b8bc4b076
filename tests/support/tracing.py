"""OpenTelemetry as a program finds it before anything is configured, and spans as instrumentations write them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from opentelemetry import _logs, trace
from opentelemetry.util._once import Once

import rightcall
from rightcall.core.calls import ToolCall
from support.spanning import asked


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """No provider is configured; what the test configures is gone after it. OpenTelemetry itself allows it once."""
    for module, name in ((trace, "TRACER"), (_logs._internal, "LOGGER")):
        monkeypatch.setattr(module, f"_{name}_PROVIDER", None)
        monkeypatch.setattr(module, f"_{name}_PROVIDER_SET_ONCE", Once())


@contextmanager
def span(name: str, attributes: dict[str, Any] | None = None, **more: Any) -> Iterator[trace.Span]:
    """A span of the configured provider, current inside."""
    with trace.get_tracer("tests").start_as_current_span(name, attributes=attributes, **more) as made:
        yield made


def asking(*calls: Any, given: list[dict[str, Any]] | None = None, tools: tuple[str, ...] = ()) -> dict[str, Any]:
    """The attributes of a model span of GenAI that puts out calls, `(name, arguments, id)`, or else a text."""
    history = {} if given is None else {"gen_ai.input.messages": json.dumps(given)}
    offered = [{"type": "function", "name": name} for name in tools]
    said = asked(*calls or ({"type": "text", "content": "Done."},))
    reason = "tool_calls" if calls else "stop"
    known = {"gen_ai.response.finish_reasons": [reason], "gen_ai.tool.definitions": json.dumps(offered)}
    return {**said, **history, **known}


def ask(*calls: Any, given: list[dict[str, Any]] | None = None, tools: tuple[str, ...] = ()) -> None:
    """A model span, which has ended: see `asking`."""
    with span("chat", asking(*calls, given=given, tools=tools)):
        pass


def user(text: str) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "parts": [{"type": "text", "content": text}]}


def called(name: str, arguments: Any, id: str | None = None) -> dict[str, Any]:
    """A message of the model with one call."""
    part = {"type": "tool_call", "name": name, "arguments": arguments, **({} if id is None else {"id": id})}
    return {"role": "assistant", "parts": [part]}


@rightcall.tool
def lookup_order(order_id: int) -> dict[str, int]:
    """Look an order up."""
    return {"id": order_id}


@rightcall.tool
async def issue_refund(order_id: int, amount: float = 1.0) -> str:
    """Refund an order."""
    return "refunded"


def only(run: Callable[[], Any]) -> ToolCall:
    """The one call that a block captures, whatever the run raises."""
    with rightcall.capture() as captured, contextlib.suppress(Exception):
        run()
    (call,) = captured.tool_calls
    assert isinstance(call, ToolCall)
    return call


@rightcall.tool
def search(query: str, /, *more: str, limit: int = 10, **options: Any) -> list[str]:
    """Search."""
    return [query, *more]


def names(trajectory: Any) -> list[str] | None:
    """The names of the calls, `None` where none were recorded."""
    calls = trajectory.tool_calls
    return None if calls is None else [call.name for call in calls]


def statuses(trajectory: Any, **expectations: Any) -> list[tuple[str, str]]:
    """The status of each verdict, and its reason."""
    return [(str(verdict.status), verdict.reason) for verdict in rightcall.grade(trajectory, expectations)]
