"""Orbit's dataset rows and scenarios: `expected_tool_calls` lists the names of tools that must be called.

A row's `min_pass_rate` is the share of its assertions that must pass (G36). Arguments are data: `$gt` is a key.
"""

from __future__ import annotations

from typing import Any

from rightcall.testsets.arguments import as_data
from rightcall.testsets.dialects.base import Dialect, with_keys_renamed

_RENAMES = {"required_tools": "expected_tool_calls", "min_assertion_rate": "min_pass_rate"}


def translate(row: Any) -> Any:
    """A row as a native test."""
    return with_keys_renamed(row, _RENAMES)


ORBIT = Dialect(name="orbit", translate=translate, arguments=as_data, renames=_RENAMES, holders=("rows", "scenarios"))
