"""Calls, trajectories and verdicts in few words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rightcall.app.regex import compile_regex
from rightcall.core.assertion import Assertion, Compiled, Setting, compile_all, grade
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.verdicts import Verdict


def call(name: str, arguments: Any = None, **fields: Any) -> ToolCall:
    """A call; without arguments it has none."""
    return ToolCall(name=name, arguments={} if arguments is None else arguments, **fields)


def hidden(name: str, state: Any = "redacted", **fields: Any) -> ToolCall:
    """A call whose arguments the trace does not show."""
    return ToolCall(name=name, arguments=None, arguments_state=state, **fields)


def trajectory(*calls: ToolCall, **fields: Any) -> Trajectory:
    """The trajectory of these calls."""
    return Trajectory(tool_calls=calls, **fields)


def compiled(*assertions: Assertion, **setting: Any) -> tuple[Compiled, ...]:
    """The assertions, ready to check."""
    return compile_all(assertions, Setting(regex=compile_regex, **setting))


def judge(assertion: Assertion, made: Iterable[ToolCall] | Trajectory, **setting: Any) -> Verdict:
    """The one verdict of an assertion on calls, or on a trajectory."""
    known = made if isinstance(made, Trajectory) else trajectory(*made)
    (verdict,) = grade(known, compiled(assertion, **setting))
    return verdict
