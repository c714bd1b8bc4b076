"""The expectation keys of a test as the assertions they are sugar for, in the order of their verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET, UnsetType, structs

from rightcall.assertions.budget import LIMITS, Budget
from rightcall.assertions.code import Code
from rightcall.assertions.rubric import Rubric
from rightcall.assertions.schema import SchemaAssertion
from rightcall.assertions.selection import ToolSelect
from rightcall.assertions.sequence import ToolSequence
from rightcall.assertions.text import Text
from rightcall.assertions.tools import AllowedTools, ForbiddenTools, RequiredTool
from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core.assertion import Assertion
from rightcall.core.patterns import ExpectedCall
from rightcall.core.verdicts import Severity
from rightcall.testsets.keys import CommonKeys, TestKeys, TurnKeys
from rightcall.testsets.marks import child

T = TypeVar("T")

SETTINGS: Final = ("match", "arguments", "only_successful", "parallel")
"""Keys of a test or test set that are fields of the trajectory assertion."""


class Declared(msgspec.Struct, frozen=True):
    """An assertion, the path of the key it was written under, and the paths of fields that stand elsewhere."""

    assertion: Assertion
    path: str
    fields: dict[str, str] = {}


def declared(test: TurnKeys, defaults: CommonKeys, path: str) -> Iterator[Declared]:
    """The assertions of a test's own keys, or of a turn's; absent keys and empty families give none."""
    yield from _trajectory(test, defaults, path)
    for at, tool in _each(test.required_tools, path, "required_tools"):
        yield Declared(RequiredTool(tool=tool), at, {"tool": at})
    for at, assertion in _each(test.tool_call_args, path, "tool_call_args"):
        yield Declared(assertion, at)
    yield from _sequence(test, child(path, "expected_tool_sequence"))
    if test.allowed_tools is not UNSET:
        yield _listing(AllowedTools(tools=test.allowed_tools), "tools", child(path, "allowed_tools"))
    if forbidden := given(test.forbidden_tools, ()):
        yield _listing(ForbiddenTools(tools=forbidden), "tools", child(path, "forbidden_tools"))
    yield from _selection(test, path)
    for at, rule in _each(test.rules, path, "rules"):
        yield Declared(rule, at)
    yield from _budget(test, path)
    yield from _schema(test, defaults, path)
    if not isinstance(test.grounding, UnsetType):
        yield Declared(test.grounding, child(path, "grounding"))
    if not isinstance(test.text, UnsetType):
        yield Declared(Text(**structs.asdict(test.text)), child(path, "text"))
    yield from _code(test, path)
    yield from _rubric(test, path)


def weighed(item: Declared, severity: Severity | UnsetType) -> Declared:
    """The same with the severity that holds around it, where its assertion has none of its own."""
    if item.assertion.severity is not None or isinstance(severity, UnsetType):
        return item
    return structs.replace(item, assertion=structs.replace(item.assertion, severity=severity))


def in_turn(item: Declared, turn: int) -> Declared:
    """The same, of the calls of one turn."""
    return structs.replace(item, assertion=structs.replace(item.assertion, turn=turn))


def given(value: T | UnsetType, otherwise: T) -> T:
    """The value of a key, or what holds without it."""
    return otherwise if isinstance(value, UnsetType) else value


def _each(values: tuple[T, ...] | UnsetType, path: str, key: str) -> Iterator[tuple[str, T]]:
    """The items under a key, each with its path."""
    if not isinstance(values, UnsetType):
        at = child(path, key)
        for index, value in enumerate(values):
            yield child(at, index), value


def _listing(assertion: Assertion, field: str, path: str) -> Declared:
    return Declared(assertion, path, {field: path})


def _trajectory(test: TurnKeys, defaults: CommonKeys, path: str) -> Iterator[Declared]:
    calls, at = test.expected_tool_calls, child(path, "expected_tool_calls")
    if calls is UNSET and isinstance(test, TestKeys) and test.test_configuration is not UNSET:
        calls = test.test_configuration.expected_tool_calls
        at = child(child(path, "test_configuration"), "expected_tool_calls")
    if isinstance(calls, UnsetType):
        return
    settings: dict[str, Any] = {}
    fields = {"expected_tool_calls": at}
    for name in SETTINGS:
        own, common = getattr(test, name, UNSET), getattr(defaults, name)
        fields[name] = child(path, name) if own is not UNSET else name
        if own is not UNSET or common is not UNSET:
            settings[name] = own if own is not UNSET else common
    expected = tuple([ExpectedCall(name=call) if isinstance(call, str) else call for call in calls])
    yield Declared(ToolCallTrajectory(expected_tool_calls=expected, **settings), at, fields)


def _sequence(test: TurnKeys, at: str) -> Iterator[Declared]:
    sequence = test.expected_tool_sequence
    if isinstance(sequence, ToolSequence):
        yield Declared(sequence, at)
    elif isinstance(sequence, tuple) and sequence:
        yield _listing(ToolSequence(steps=sequence), "steps", at)


def _budget(test: TurnKeys, path: str) -> Iterator[Declared]:
    """One assertion a limit, so that each has a verdict of its own; without a limit, one that will be refused."""
    if isinstance(test.budget, UnsetType):
        return
    at = child(path, "budget")
    limits = {name: limit for name in LIMITS if (limit := getattr(test.budget, name)) is not UNSET}
    for name, limit in limits.items():
        yield Declared(Budget(**{name: limit}), child(at, name), {name: child(at, name)})
    if not limits:
        yield Declared(Budget(), at)


def _schema(test: TurnKeys, defaults: CommonKeys, path: str) -> Iterator[Declared]:
    if given(test.check_schemas, given(defaults.check_schemas, False)):
        name = "check_schemas"
        yield Declared(SchemaAssertion(), name if test.check_schemas is UNSET else child(path, name))


def _code(test: TurnKeys, path: str) -> Iterator[Declared]:
    if test.code is UNSET:
        return
    at = child(path, "code")
    if isinstance(test.code, list | tuple) and test.code:
        for index, function in enumerate(test.code):
            yield Declared(Code(function=function), child(at, index), {"function": child(at, index)})
    else:
        yield Declared(Code(function=test.code), at, {"function": at})


def _rubric(test: TurnKeys, path: str) -> Iterator[Declared]:
    if isinstance(test.rubric, UnsetType):
        return
    at = child(path, "rubric")
    is_list = isinstance(test.rubric, tuple)
    for index, item in enumerate(test.rubric if isinstance(test.rubric, tuple) else (test.rubric,)):
        where = child(at, index) if is_list else at
        if isinstance(item, Rubric):
            yield Declared(item, where)
        else:
            yield Declared(Rubric(criteria=item), where, {"criteria": where})


def _selection(test: TurnKeys, path: str) -> Iterator[Declared]:
    if isinstance(test.expected_tools, UnsetType):
        return
    at = child(path, "expected_tools")
    threshold = given(test.threshold, 100.0)
    assertion = ToolSelect(expected_tools=test.expected_tools, threshold=threshold)
    yield Declared(assertion, at, {"expected_tools": at, "threshold": child(path, "threshold")})
