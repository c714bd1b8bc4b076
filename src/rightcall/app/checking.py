"""What is handed in or kept as data, checked as a file would be: no code is run for it, and no judge is asked."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final

from rightcall import testsets
from rightcall.app import kit, loading
from rightcall.app.regex import compile_regex
from rightcall.app.schemas import compile_schema
from rightcall.core import jsontext
from rightcall.core.assertion import RegexEngine
from rightcall.errors import TestSetError, Where, did_you_mean, join_path
from rightcall.testsets import EXPECTATION_KEYS, CompiledTest, TestSet
from rightcall.testsets.explain import shorten
from rightcall.testsets.keys import CommonKeys, TestKeys
from rightcall.testsets.marks import child, steps

_BESIDE: Final = frozenset(
    {"id", "name", "requirement", "category", "topic", "tags", "metadata", "prompt", "turns", "test_configuration"}
)
_COMMON: Final = frozenset(CommonKeys.__struct_fields__) - {"metadata"}
_PROGRAMS: Final = frozenset({"python", "command"})
_LINING: Final = ("match", "arguments")
TRAJECTORY: Final = "tool_call_trajectory"
"""The kind of metric that takes the expected calls of each test."""

_KNOWN: Final = frozenset(TestKeys.__struct_fields__)


def single(expectations: dict[str, Any], dialect: str | None, regex: RegexEngine = compile_regex) -> CompiledTest:
    """One test of its expectations, ready to check; `TestSetError` with the path if it cannot be."""
    test = testsets.from_keys(expectations, kit.all_kinds(), dialect=dialect)
    return testsets.compile_test(test, regex, compile_schema)


def whole(
    keys: dict[str, Any], dialect: str | None, regex: RegexEngine = compile_regex
) -> tuple[TestSet, tuple[CompiledTest, ...]]:
    """A test set, which is the JSON value of a file, and its tests, ready to check; `TestSetError` if it cannot be."""
    test_set = loading.parse_tests(jsontext.encode(keys), "test_set", dialect)
    return test_set, testsets.compile_tests(test_set, regex, compile_schema)


def check_test(content: dict[str, Any]) -> None:
    """Refuse a kept test that can never be checked; `TestSetError` with the path in it.

    `content` holds a `prompt` or `turns`, and a `test_configuration` with keys of a test that expect something. There
    `expected_tool_calls` may be `null`, which is as if it were not there.
    """
    configuration = content.get("test_configuration", {})
    try:
        keys = expecting(configuration)
        if not EXPECTATION_KEYS.isdisjoint({**keys, **content}.keys() - {"test_configuration"}):
            single({**_asked(content), **keys}, None)
        elif keys:
            raise TestSetError(
                "nothing is expected here; give `expected_tool_calls`", Where(path=child("", next(iter(keys))))
            )
    except TestSetError as error:
        is_beside = steps(error.where.path)[:1] == ["turns"]
        raise error if is_beside else error.within(path="test_configuration") from None


def expecting(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a native test that a configuration holds; `TestSetError` for one that is no such key."""
    for key in configuration:
        if key in _BESIDE or key not in _KNOWN:
            raise TestSetError(
                f"unknown key `{shorten(key)}`{did_you_mean(key, _KNOWN - _BESIDE)}", Where(path=child("", key))
            )
    return {key: value for key, value in configuration.items() if key != "expected_tool_calls" or value is not None}


def check_metric(kind: str, config: dict[str, Any]) -> None:
    """Refuse a metric that can never grade anything; `TestSetError` with the path, which begins in `kind` or `config`.

    The expected calls of the kind `tool_call_trajectory` are those of each test.
    """
    if kind not in (TRAJECTORY, *kit.all_kinds()):
        known = ", ".join(f"`{name}`" for name in kit.all_kinds())
        near = did_you_mean(kind, kit.all_kinds())
        raise TestSetError(f"no kind `{shorten(kind)}`{near}; there are {known}", Where(path="kind"))
    try:
        if kind == TRAJECTORY:
            single({**_settings(config), "expected_tool_calls": []}, None)
        else:
            single({"assertions": [{**config, "kind": kind}]}, None)
    except TestSetError as error:
        raise TestSetError(error.message, Where(path=functools.reduce(child, _inside(error), "config"))) from None


def _settings(config: dict[str, Any]) -> dict[str, Any]:
    """How expected calls line up; `TestSetError` for a key that says something else."""
    for key in config.keys() - _LINING:
        known = ", ".join(f"`{name}`" for name in _LINING)
        raise TestSetError(f"unknown key `{shorten(key)}`; there are {known}", Where(path=child("", key)))
    return config


def _inside(error: TestSetError) -> list[str | int]:
    """The keys of a path, without those of the list that the assertion was put into."""
    keys = steps(error.where.path)
    return keys[2:] if keys[:2] == ["assertions", 0] else keys


def check_test_set(gate: dict[str, Any], defaults: dict[str, Any]) -> None:
    """Refuse a gate, or keys for all tests, that cannot be used; the path of the `TestSetError` begins with which."""
    for key in defaults:
        if key not in _COMMON:
            near = did_you_mean(key, _COMMON)
            raise TestSetError(f"unknown key `{shorten(key)}`{near}", Where(path=join_path("defaults", child("", key))))
    try:
        whole({**defaults, "gate": gate, "tests": [{"id": "any", "expected_tool_calls": []}]}, None)
    except TestSetError as error:
        path = error.where.path
        if steps(path)[:1] != ["gate"]:
            path = join_path("defaults", path)
        raise TestSetError(error.message, Where(path=path)) from None


def _asked(content: Mapping[str, Any]) -> dict[str, Any]:
    return {key: content[key] for key in ("prompt", "turns") if key in content}


def check_endpoint(kind: str, config: dict[str, Any]) -> None:
    """Refuse a way to an agent that cannot be used, or that would start a program here; the path is in `config`."""
    from rightcall.agents import endpoints

    if kind in _PROGRAMS or config.get("command"):
        raise TestSetError("a server starts no programs for those who ask it", Where(path="config.command"))
    try:
        endpoints.read({kind: config})
    except TestSetError as error:
        path = functools.reduce(child, steps(error.where.path)[1:], "config")
        raise TestSetError(error.message, Where(path=path)) from None
