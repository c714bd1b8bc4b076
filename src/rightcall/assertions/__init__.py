"""The kinds of assertion, one file each. A new kind is one file and one line in `KINDS`."""

from __future__ import annotations

from rightcall.assertions.arguments import ToolCallArgs
from rightcall.assertions.budget import Budget
from rightcall.assertions.code import Code
from rightcall.assertions.grounding import Grounding
from rightcall.assertions.rubric import Rubric
from rightcall.assertions.rules import Rule
from rightcall.assertions.schema import SchemaAssertion
from rightcall.assertions.selection import ToolSelect
from rightcall.assertions.sequence import ToolSequence
from rightcall.assertions.text import Text
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
    "rule": Rule,
    "budget": Budget,
    "schema": SchemaAssertion,
    "grounding": Grounding,
    "text": Text,
    "code": Code,
    "rubric": Rubric,
}

__all__ = [
    "KINDS",
    "AllowedTools",
    "Budget",
    "Code",
    "ForbiddenTools",
    "Grounding",
    "RequiredTool",
    "Rubric",
    "Rule",
    "SchemaAssertion",
    "Text",
    "ToolCallArgs",
    "ToolCallTrajectory",
    "ToolSelect",
    "ToolSequence",
]
