"""The short way for what most records expect: calls by name and arguments, a prompt, and nothing else.

It gives the very test that the long way gives, or `None` where there is anything to say about the expectations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_args

from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core.lining import Mode
from rightcall.core.patterns import ExpectedCall
from rightcall.errors import Where
from rightcall.testsets.model import Place, Test

_KEYS: Final = {"expected_tool_calls", "match", "arguments", "prompt"}
_MODES: Final = frozenset(get_args(Mode))
_ARGUMENTS: Final = frozenset(("partial", "exact", "ignore", "deep"))
_PLACES: Final = (Place(),)


def simple(expectations: Mapping[str, Any], identity: str, where: Where) -> Test | None:
    """The test that a record's expectations state, if they are plain expected calls."""
    if not expectations.keys() <= _KEYS:
        return None
    match = expectations.get("match", "in_order")
    arguments = expectations.get("arguments", "partial")
    prompt = expectations.get("prompt")
    calls = _calls(expectations.get("expected_tool_calls"))
    if (
        calls is None
        or not isinstance(prompt, str | None)
        or not _is_word(match, _MODES)
        or not _is_word(arguments, _ARGUMENTS)
    ):
        return None
    assertion = ToolCallTrajectory(expected_tool_calls=calls, match=match, arguments=arguments)
    return Test(id=identity, prompt=prompt, assertions=(assertion,), places=_PLACES, where=where)


def _is_word(value: Any, words: frozenset[str]) -> bool:
    return isinstance(value, str) and value in words


def _calls(listed: Any) -> tuple[ExpectedCall, ...] | None:
    if not isinstance(listed, list):
        return None
    calls = [_call(call) for call in listed]
    return None if None in calls else tuple([call for call in calls if call is not None])


def _call(call: Any) -> ExpectedCall | None:
    if isinstance(call, str) and call:
        return ExpectedCall(name=call)
    if not isinstance(call, dict) or not isinstance(call.get("name"), str) or not call["name"]:
        return None
    if len(call) == 1:
        return ExpectedCall(name=call["name"])
    arguments = call.get("arguments")
    if len(call) == 2 and isinstance(arguments, dict) and not _has_operators(arguments):
        return ExpectedCall(name=call["name"], arguments=arguments)
    return None


def _has_operators(arguments: dict[str, Any]) -> bool:
    """Whether some key at any depth has a `$`: then the long way decides."""
    containers: list[Any] = [arguments]
    for container in containers:
        if container.__class__ is dict:
            if "$" in "".join(container):
                return True
            container = container.values()
        containers += [item for item in container if item.__class__ is dict or item.__class__ is list]
    return False
