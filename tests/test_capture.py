"""Blocks of `rightcall.capture()`: which spans count, in threads and tasks, and what is said of those that miss."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from typing import Any

import pytest
from opentelemetry import trace

import rightcall
from rightcall.core.calls import Trajectory
from rightcall.errors import UsageError
from support.tracing import ask, fresh, issue_refund, lookup_order, names, span, statuses

pytestmark = pytest.mark.usefixtures(fresh.__name__)


def test_a_block_captures_what_its_agent_calls() -> None:
    """What a block yields is checked, graded and read like a trajectory, and has its fields."""
    with rightcall.capture() as trajectory:
        lookup_order(42)
        asyncio.run(issue_refund(42, amount=19.5))
    rightcall.check(
        trajectory,
        expected_tool_calls=[
            {"name": "lookup_order", "arguments": {"order_id": 42}},
            {"name": "issue_refund", "arguments": {"order_id": 42, "amount": 19.5}},
        ],
        match="exact",
        arguments="exact",
    )
    assert statuses(trajectory, allowed_tools=["lookup_order"])[0][0] == "fail"
    assert isinstance(rightcall.read(trajectory), Trajectory)
    assert rightcall.read(trajectory) == trajectory.trajectory
    assert names(trajectory) == ["lookup_order", "issue_refund"]


def test_a_block_may_be_asynchronous() -> None:
    """`async with` is the same block."""

    async def main() -> Any:
        async with rightcall.capture() as trajectory:
            await issue_refund(1)
        return trajectory

    assert names(asyncio.run(main())) == ["issue_refund"]


def test_inside_the_block_it_shows_what_happened_so_far() -> None:
    """A snapshot is of its moment, and nothing after the block changes what was captured."""
    with rightcall.capture() as trajectory:
        before = trajectory.trajectory
        lookup_order(1)
        assert names(trajectory) == ["lookup_order"]
        lookup_order(2)
    lookup_order(3)
    assert before.tool_calls is None
    assert names(trajectory) == ["lookup_order", "lookup_order"]


def test_only_what_begins_inside_counts() -> None:
    """Calls before the block, after it, and a span around it are not of it."""
    lookup_order(1)
    with span("execute_tool outer", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "outer"}):
        with rightcall.capture() as trajectory:
            lookup_order(2)
        lookup_order(3)
    (call,) = trajectory.tool_calls
    assert (call.name, call.arguments, call.parent) == ("lookup_order", {"order_id": 2}, None)


def test_the_block_of_a_failing_agent_keeps_what_it_called() -> None:
    """An error goes through unchanged; the calls until then stay, and a warning says how the block ended."""
    trajectory: Any = None

    def failing() -> None:
        nonlocal trajectory
        with rightcall.capture() as trajectory:
            lookup_order(1)
            raise error

    error = ValueError("the agent failed")
    with pytest.raises(ValueError, match="failed") as raised:
        failing()
    assert raised.value is error
    assert names(trajectory) == ["lookup_order"]
    assert "the block ended with `ValueError`" in trajectory.warnings


def test_nested_blocks_both_see_the_inner_calls() -> None:
    """The inner block sees only its own."""
    with rightcall.capture() as outer:
        lookup_order(1)
        with rightcall.capture() as inner:
            lookup_order(2)
        lookup_order(3)
    assert [call.arguments["order_id"] for call in outer.tool_calls] == [1, 2, 3]
    assert [call.arguments["order_id"] for call in inner.tool_calls] == [2]


def test_a_call_that_has_not_ended_is_a_call_and_a_gap() -> None:
    """The block ends while a tool runs: the call was made, and what else follows is not known (G12)."""
    begun, going = threading.Event(), threading.Event()

    @rightcall.tool
    def slow() -> None:
        begun.set()
        going.wait()

    with rightcall.capture() as trajectory:
        lookup_order(1)
        worker = threading.Thread(target=slow)
        worker.start()
        begun.wait()
    going.set()
    worker.join()
    assert [(call.name, call.status) for call in trajectory.tool_calls] == [
        ("lookup_order", "ok"),
        ("slow", "requested"),
    ]
    assert trajectory.gaps == ("spans that had not ended when the block was read: `execute_tool slow`",)
    assert statuses(trajectory, allowed_tools=["lookup_order", "slow"])[0][0] == "error"


def test_a_connection_that_stays_open_is_no_gap() -> None:
    """Only spans that may still call something leave a gap."""
    with rightcall.capture() as trajectory:
        connection = trace.get_tracer("tests").start_span("CONNECT")
        lookup_order(1)
    connection.end()
    assert trajectory.gaps == ()


def test_a_block_without_spans_is_not_recorded() -> None:
    """No instrumentation is no proof that nothing was called; the reason says what to install (G3)."""
    with rightcall.capture() as trajectory, span("GET /orders"):
        pass
    assert names(trajectory) is None
    ((status, reason),) = statuses(trajectory, forbidden_tools=["lookup_order"])
    assert status == "error"
    assert "No tool calls were recorded: no model call and no tool call was traced in the block; install" in reason
    with pytest.raises(AssertionError, match="decorate the tools with"):
        rightcall.check(trajectory, expected_tool_calls=[])


def test_a_model_that_calls_nothing_made_no_calls() -> None:
    """A model span without calls is a recorded conversation (G3)."""
    with rightcall.capture() as trajectory:
        ask()
    assert trajectory.tool_calls == ()
    rightcall.check(trajectory, expected_tool_calls=[])


def test_a_block_is_entered_once() -> None:
    """Calls of two runs would be one list."""
    block = rightcall.capture()
    with block:
        lookup_order(1)
    with pytest.raises(UsageError, match="entered once"), block:
        raise AssertionError("the block does not begin")


WITHOUT = """
import sys
sys.modules["opentelemetry"] = None
import rightcall
from rightcall.errors import MissingExtraError

@rightcall.tool
def add(one, other=2):
    return one + other

assert add(1) == 3
try:
    with rightcall.capture():
        raise AssertionError
except MissingExtraError as error:
    print(error)
"""


def test_without_opentelemetry_tools_work_and_blocks_say_what_to_install() -> None:
    """A decorated function is the function; a block names the extra."""
    ran = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    assert ran.stdout == "`rightcall.capture()` needs the extra `capture`: pip install 'rightcall[capture]'\n"


def test_the_package_imports_no_opentelemetry() -> None:
    """Neither importing nor decorating does."""
    code = "import sys, rightcall; rightcall.tool(len); print([m for m in sys.modules if 'opentelemetry' in m])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
