"""The keys of a test set file, as they are written: one struct each for the file, its gate and a test.

Decoding, the JSON Schema and its descriptions are all made from these classes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from rightcall.assertions.arguments import ToolCallArgs
from rightcall.assertions.budget import Limits
from rightcall.assertions.code import FUNCTION_SCHEMA
from rightcall.assertions.grounding import Grounding
from rightcall.assertions.rubric import Rubric
from rightcall.assertions.rules import Rule
from rightcall.assertions.sequence import Step, ToolSequence
from rightcall.assertions.text import Said
from rightcall.assertions.tools import ForbiddenTool
from rightcall.core.counting import Count
from rightcall.core.models import ModelConfig
from rightcall.core.patterns import ExpectedCall
from rightcall.core.personas import Persona
from rightcall.core.verdicts import Severity

Match = Annotated[
    Literal["exact", "in_order", "any_order", "subset", "superset"],
    Meta(description="How the calls made must line up with `expected_tool_calls`; by default `in_order`."),
]
Arguments = Annotated[
    Literal["partial", "exact", "ignore", "deep"],
    Meta(description="How the arguments of an expected call must match; by default `partial`."),
]
OnlySuccessful = Annotated[bool, Meta(description="Count only calls that succeeded toward `expected_tool_calls`.")]
Parallel = Annotated[
    Literal["ordered", "unordered"],
    Meta(description="Whether the calls of one message keep their order or are interchangeable."),
]
IgnoreArguments = Annotated[tuple[str, ...], Meta(description="Names or globs of arguments that are never compared.")]
ToolAliases = Annotated[
    dict[str, str], Meta(description="Maps a recorded tool name to the name that expectations use.")
]
ToolSchemas = Annotated[
    dict[str, dict[str, Any] | bool] | tuple[dict[str, Any], ...],
    Meta(description="The tools there are: a mapping of names to JSON Schemas, or a list of tool definitions."),
]
Assertions = Annotated[
    tuple[dict[str, Any], ...], Meta(description="Assertions in their general form, each with its `kind`.")
]
Metadata = Annotated[dict[str, Any], Meta(description="Kept and shown, never interpreted.")]
Label = Annotated[str | None, Meta(description="A label that reports show.")]
ExpectedCalls = Annotated[
    tuple[str | ExpectedCall, ...],
    Meta(description="The calls that should be made, in order; a bare name accepts any arguments; `[]`: none."),
]


Functions = Annotated[
    Any,
    Meta(
        description="A Python function that judges, as `path.py:function`, or a list of them.",
        extra_json_schema={"anyOf": [FUNCTION_SCHEMA, {"type": "array", "items": FUNCTION_SCHEMA, "minItems": 1}]},
    ),
]
Criterion = Annotated[str, Meta(min_length=1)]
Severities = Annotated[
    Severity, Meta(description="What the assertions here decide if they do not say it themselves; by default `block`.")
]
CheckSchemas = Annotated[
    bool, Meta(description="Whether every call must name a tool there is, with arguments that satisfy its JSON Schema.")
]


class Keys(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Keys that stand on a test or a turn of it, or on the test set for all its tests."""

    match: Match | UnsetType = UNSET
    arguments: Arguments | UnsetType = UNSET
    only_successful: OnlySuccessful | UnsetType = UNSET
    check_schemas: CheckSchemas | UnsetType = UNSET
    severity: Severities | UnsetType = UNSET
    assertions: Assertions | UnsetType = UNSET


class CommonKeys(Keys, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Keys that stand on the test set for all its tests; all of them may stand on a test too."""

    parallel: Parallel | UnsetType = UNSET
    ignore_arguments: IgnoreArguments = ()
    tool_aliases: ToolAliases = {}
    tool_schemas: ToolSchemas | UnsetType = UNSET
    count: Count | UnsetType = UNSET
    metadata: Metadata = {}


class TestConfiguration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Another place for `expected_tool_calls`."""

    __test__ = False

    expected_tool_calls: ExpectedCalls | UnsetType = UNSET


class TurnKeys(Keys, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One turn of a conversation: what the user says, and what is expected of the calls that follow."""

    prompt: Annotated[Any, Meta(description="What the agent is asked.")] = None
    expected_tool_calls: ExpectedCalls | UnsetType = UNSET
    required_tools: (
        Annotated[tuple[str, ...], Meta(description="Tools that must each be called at some point.")] | UnsetType
    ) = UNSET
    tool_call_args: (
        Annotated[tuple[ToolCallArgs, ...], Meta(description="Tools that must be called with such arguments.")]
        | UnsetType
    ) = UNSET
    expected_tool_sequence: (
        Annotated[
            tuple[Step, ...] | ToolSequence,
            Meta(
                description="Steps that must appear in order, others between them; or a mapping of `steps`, `strict`."
            ),
        ]
        | UnsetType
    ) = UNSET
    allowed_tools: (
        Annotated[tuple[str, ...], Meta(description="The only tools that may be called; `[]` allows none.")] | UnsetType
    ) = UNSET
    forbidden_tools: (
        Annotated[tuple[str | ForbiddenTool, ...], Meta(description="Calls that must not be made.")] | UnsetType
    ) = UNSET
    expected_tools: (
        Annotated[
            tuple[str, ...],
            Meta(min_length=1, description="Tools that should be called, counted: the selection score."),
        ]
        | UnsetType
    ) = UNSET
    threshold: (
        Annotated[float, Meta(ge=0, le=100, description="Score that `expected_tools` must reach; by default 100.")]
        | UnsetType
    ) = UNSET
    rules: Annotated[tuple[Rule, ...], Meta(description="Rules between calls.")] | UnsetType = UNSET
    budget: Annotated[Limits, Meta(description="How many calls may be made.")] | UnsetType = UNSET
    grounding: (
        Annotated[Grounding, Meta(description="Every value in the arguments must come from somewhere.")] | UnsetType
    ) = UNSET
    text: Annotated[Said, Meta(description="What the agent's final answer says.")] | UnsetType = UNSET
    code: Functions = UNSET
    rubric: (
        Annotated[
            Criterion | Rubric | Annotated[tuple[Criterion | Rubric, ...], Meta(min_length=1)],
            Meta(description="What a judge must find in the conversation, in words; or a list of such criteria."),
        ]
        | UnsetType
    ) = UNSET


class TestKeys(TurnKeys, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One test: what it is called, what the agent is asked, and what is expected of its tool calls."""

    __test__ = False

    id: Annotated[str, Meta(min_length=1, description="Unique and stable; recordings name it.")] | UnsetType = UNSET
    name: Annotated[str, Meta(description="What reports call the test; may change.")] | None = None
    requirement: Label = None
    category: Label = None
    topic: Label = None
    persona: (
        Annotated[Persona, Meta(description="A user whom a model plays, instead of a `prompt` or `turns`.")] | UnsetType
    ) = UNSET
    tags: Annotated[tuple[str, ...], Meta(description="Labels; kept and shown in reports.")] = ()
    test_configuration: TestConfiguration | UnsetType = UNSET
    turns: (
        Annotated[
            tuple[TurnKeys, ...], Meta(min_length=1, description="The turns of the user, and what is expected of each.")
        ]
        | UnsetType
    ) = UNSET
    parallel: Parallel | UnsetType = UNSET
    ignore_arguments: IgnoreArguments = ()
    tool_aliases: ToolAliases = {}
    tool_schemas: ToolSchemas | UnsetType = UNSET
    count: Count | UnsetType = UNSET
    metadata: Metadata = {}
    repeat: Annotated[int, Meta(ge=1, description="For running an agent; grading ignores it.")] = 1
    min_pass_rate: (
        Annotated[Fraction, Meta(description="Share of attempts that must pass; by default all.")] | UnsetType
    ) = UNSET
    min_assertion_rate: (
        Annotated[Fraction, Meta(description="Share of an attempt's assertions that must pass; by default all.")]
        | UnsetType
    ) = UNSET


class GateKeys(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What must hold for a run to pass."""

    min_pass_rate: (
        Annotated[Fraction, Meta(description="Share of graded tests that must pass; by default all.")] | UnsetType
    ) = UNSET
    min_graded: Annotated[int, Meta(ge=1, description="Tests that must be graded at least.")] = 1
    allow_errors: Annotated[int, Meta(ge=0, description="Tests that may fail to be judged.")] = 0
    thresholds: Annotated[
        dict[str, Fraction], Meta(description="Maps a verdict's name to the share of it that must pass.")
    ] = {}


class FileKeys(CommonKeys, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A test set: tests that are graded together, what holds for all of them, and the gate."""

    version: Annotated[Literal[1], Meta(description="Version of this format.")] = 1
    name: Annotated[str, Meta(description="What reports call the test set.")] | None = None
    dialect: Annotated[str, Meta(description="Whose words the tests are written in.")] = "native"
    gate: GateKeys = GateKeys()
    judge: (
        Annotated[
            str | ModelConfig,
            Meta(description="The model that judges what only a judge can: `provider:model`, or how it is reached."),
        ]
        | UnsetType
    ) = UNSET
    simulator: (
        Annotated[
            str | ModelConfig,
            Meta(description="The model that plays the users of tests with a `persona`; by default that of `judge`."),
        ]
        | UnsetType
    ) = UNSET
    endpoint: Annotated[Any, Meta(description="For running an agent; kept, and not looked at.")] = None
    tests: tuple[TestKeys, ...]


EXPECTATIONS: Final = (
    "expected_tool_calls",
    "required_tools",
    "tool_call_args",
    "expected_tool_sequence",
    "allowed_tools",
    "forbidden_tools",
    "expected_tools",
    "rules",
    "budget",
    "check_schemas",
    "grounding",
    "text",
    "code",
    "rubric",
    "turns",
)
"""Expectation keys in the order of their verdicts."""

EXPECTATION_KEYS: Final = frozenset({*EXPECTATIONS, "assertions", "test_configuration"})
"""The keys that state an expectation; a record that has one of them carries its own test."""

BESIDE: Final = {
    "match": ("expected_tool_calls",),
    "arguments": ("expected_tool_calls",),
    "only_successful": ("expected_tool_calls",),
    "parallel": ("expected_tool_calls", "expected_tool_sequence", "assertions"),
    "threshold": ("expected_tools",),
}
"""Keys of a test that have an effect only beside one of the others."""
