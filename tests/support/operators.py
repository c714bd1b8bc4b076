"""Expected values against actual ones, through the public door."""

from __future__ import annotations

from typing import Any

import rightcall
from rightcall.core.verdicts import Verdict


def verdict(arguments: Any, made: Any, mode: str = "partial", **call: Any) -> Verdict:
    """The verdict of one expected call on one call made, the expectation read as a file's is."""
    expected = {"name": "f", "arguments": arguments, **call}
    (one,) = rightcall.grade(
        {"tool_calls": [{"name": "f", "arguments": made}]}, {"expected_tool_calls": [expected], "arguments": mode}
    )
    return one


def accepts(expected: Any, actual: Any) -> bool:
    """Whether an expected value accepts an actual one, as the value of a key."""
    return verdict({"x": expected}, {"x": actual}).status == "pass"


def said(expected: Any, actual: Any) -> str:
    """What is said of a value that is not accepted."""
    return verdict({"x": expected}, {"x": actual}).reason
