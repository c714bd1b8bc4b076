"""The expectation keys of a test as the assertions they are sugar for, in the order of their verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from rightcall.assertions.selection import ToolSelect
from rightcall.assertions.sequence import ToolSequence
from rightcall.assertions.tools import AllowedTools, ForbiddenTools, RequiredTool
from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core.assertion import Assertion
from rightcall.core.patterns import ExpectedCall
from rightcall.testsets.keys import Keys, TestKeys
from rightcall.testsets.marks import child

T = TypeVar("T")

SETTINGS: Final = ("match", "arguments", "only_successful", "parallel")
"""Keys of a test or test set that are fields of the trajectory assertion."""


class Declared(msgspec.Struct, frozen=True):
    """An assertion, the path of the key it was written under, and the paths of fields that stand elsewhere."""

    assertion: Assertion
    path: str
    fields: dict[str, str] = {}


def declared(test: TestKeys, defaults: Keys, path: str) -> Iterator[Declared]:
    """The assertions of a test's own keys; absent keys and empty families give none."""
    yield from _trajectory(test, defaults, path)
    at = child(path, "required_tools")
    for index, tool in enumerate(given(test.required_tools, ())):
        yield Declared(RequiredTool(tool=tool), child(at, index), {"tool": child(at, index)})
    at = child(path, "tool_call_args")
    for index, assertion in enumerate(given(test.tool_call_args, ())):
        yield Declared(assertion, child(at, index))
    if steps := given(test.expected_tool_sequence, ()):
        yield _listing(ToolSequence(steps=steps), "steps", child(path, "expected_tool_sequence"))
    if test.allowed_tools is not UNSET:
        yield _listing(AllowedTools(tools=test.allowed_tools), "tools", child(path, "allowed_tools"))
    if forbidden := given(test.forbidden_tools, ()):
        yield _listing(ForbiddenTools(tools=forbidden), "tools", child(path, "forbidden_tools"))
    yield from _selection(test, path)


def given(value: T | UnsetType, otherwise: T) -> T:
    """The value of a key, or what holds without it."""
    return otherwise if isinstance(value, UnsetType) else value


def _listing(assertion: Assertion, field: str, path: str) -> Declared:
    return Declared(assertion, path, {field: path})


def _trajectory(test: TestKeys, defaults: Keys, path: str) -> Iterator[Declared]:
    calls, at = test.expected_tool_calls, child(path, "expected_tool_calls")
    if calls is UNSET and test.test_configuration is not UNSET:
        calls = test.test_configuration.expected_tool_calls
        at = child(child(path, "test_configuration"), "expected_tool_calls")
    if isinstance(calls, UnsetType):
        return
    settings: dict[str, Any] = {}
    fields = {"expected_tool_calls": at}
    for name in SETTINGS:
        own, common = getattr(test, name), getattr(defaults, name)
        fields[name] = child(path, name) if own is not UNSET else name
        if own is not UNSET or common is not UNSET:
            settings[name] = own if own is not UNSET else common
    expected = tuple([ExpectedCall(name=call) if isinstance(call, str) else call for call in calls])
    yield Declared(ToolCallTrajectory(expected_tool_calls=expected, **settings), at, fields)


def _selection(test: TestKeys, path: str) -> Iterator[Declared]:
    if isinstance(test.expected_tools, UnsetType):
        return
    at = child(path, "expected_tools")
    threshold = given(test.threshold, 100.0)
    assertion = ToolSelect(expected_tools=test.expected_tools, threshold=threshold)
    yield Declared(assertion, at, {"expected_tools": at, "threshold": child(path, "threshold")})
