"""Rhesis' tests: `test_configuration.expected_tool_calls`, a `prompt` with `content`; null is the same as absent.

The metric's config, `match` and `arguments`, stands on the test set under these names. Arguments are data.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from rightcall.testsets.arguments import as_data
from rightcall.testsets.dialects.base import Dialect, Written
from rightcall.testsets.model import TestSet
from rightcall.testsets.preparing import accepting_null_arguments
from rightcall.testsets.saying import Said, agreed, plain, said


def translate(test: Any) -> Any:
    """A Rhesis test as a native one."""
    if not isinstance(test, dict):
        return test
    said = {key: value for key, value in test.items() if value is not None}
    prompt, configuration = said.get("prompt"), said.get("test_configuration")
    if isinstance(prompt, dict) and isinstance(prompt.get("content"), str):
        said["prompt"] = prompt["content"]
    if isinstance(configuration, dict):
        said["test_configuration"] = {key: value for key, value in configuration.items() if value is not None}
    return accepting_null_arguments(said)


def write(test_set: TestSet) -> Written:
    """Tests, with the metric's config beside them."""
    tests = [said(test, "rhesis") for test in test_set.tests]
    ways = ("in_order", "exact", "any_order", "subset", "superset")
    match = agreed(tests, "match", {way: way for way in ways}, "rhesis")
    mode = agreed(tests, "arguments", {way: way for way in ("partial", "exact", "ignore")}, "rhesis")
    data = {"dialect": "rhesis", "match": match, "arguments": mode, "tests": [_test(test) for test in tests]}
    return Written(data=data, notes=tuple([note for test in tests for note in test.notes]))


def _test(test: Said) -> dict[str, Any]:
    prompt = {} if test.prompt is None else {"prompt": {"content": test.prompt}}
    calls = [
        {"name": call.name} | ({} if call.arguments is UNSET else {"arguments": plain(test, call)})
        for call in test.calls
    ]
    return {**test.identity("id"), **prompt, "test_configuration": {"expected_tool_calls": calls}}


DIALECT = Dialect(name="rhesis", translate=translate, arguments=as_data, write=write)
