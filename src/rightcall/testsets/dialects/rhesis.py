"""Rhesis' tests: `test_configuration.expected_tool_calls`, a `prompt` with `content`; null is the same as absent.

The metric's config, `match` and `arguments`, stands on the test set under these names. Arguments are data.
"""

from __future__ import annotations

from typing import Any

from rightcall.testsets.arguments import as_data
from rightcall.testsets.dialects.base import Dialect
from rightcall.testsets.preparing import accepting_null_arguments


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


RHESIS = Dialect(name="rhesis", translate=translate, arguments=as_data)
