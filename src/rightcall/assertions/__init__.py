"""The kinds of assertion, one file each. A new kind is one file and one line in `KINDS`."""

from __future__ import annotations

from rightcall.assertions.arguments import ToolCallArgs
from rightcall.assertions.selection import ToolSelect
from rightcall.assertions.sequence import ToolSequence
from rightcall.assertions.tools import AllowedTools, ForbiddenTools, RequiredTool
from rightcall.assertions.trajectory import ToolCallTrajectory
from rightcall.core.assertion import Assertion

KINDS: dict[str, type[Assertion]] = {
    "trajectory": ToolCallTrajectory,
    "arguments": ToolCallArgs,
    "sequence": ToolSequence,
    "required_tool": RequiredTool,
    "allowed_tools": AllowedTools,
    "forbidden_tools": ForbiddenTools,
    "selection": ToolSelect,
}

__all__ = [
    "KINDS",
    "AllowedTools",
    "ForbiddenTools",
    "RequiredTool",
    "ToolCallArgs",
    "ToolCallTrajectory",
    "ToolSelect",
    "ToolSequence",
]
