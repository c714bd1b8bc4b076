"""Tools and arguments: those that contradict one another, and those that the tools do not have."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import UNSET

from rightcall.core.assertion import CannotJudge
from rightcall.core.operators import Making, Operator
from rightcall.core.values import is_json, visible
from rightcall.errors import TestSetError, did_you_mean
from rightcall.testsets.linting import demands
from rightcall.testsets.linting.calls import Vocabulary
from rightcall.testsets.linting.remarks import Level, Remark
from rightcall.testsets.linting.samples import COMMON
from rightcall.testsets.linting.subject import Expectation, Mention, Subject
from rightcall.testsets.linting.values import impossible
from rightcall.testsets.marks import child
from rightcall.testsets.tools import known_names, unknown_tool


def contradictions(subject: Subject) -> Iterator[Remark]:
    """What must be called and is refused, and more calls than a budget allows: proven by names and numbers."""
    # With a lower rate, expectations that contradict one another may be alternatives.
    is_strict = subject.test.test.min_assertion_rate == 1
    refusing = [expectation for expectation in subject.expectations if demands.can_refuse(expectation)]
    for one in subject.expectations:
        needs = demands.needed(one)
        tools = demands.counted(needs)
        for other in refusing:
            if other is not one and other.assertion.scope in (None, one.assertion.scope):
                level = Level.ERROR if is_strict and one.blocks and other.blocks else Level.WARNING
                yield from _refused(subject, one, other, needs, level)
                yield from _unreachable(subject, one, other)
                if why := demands.most_calls(other, tools):
                    message = f"`{one.compiled.id}` cannot pass: {why}"
                    yield subject.remark("contradiction", level, subject.at(other), message, "raise the limit")


def _refused(
    subject: Subject, one: Expectation, other: Expectation, needs: Sequence[Mention], level: Level
) -> Iterator[Remark]:
    for mention in {(mention.tool, mention.pattern.key): mention for mention in reversed(needs)}.values():
        why = demands.refusal(other, mention, subject.setting.tool_aliases)
        if why:
            tool, where = visible(mention.tool), subject.at(one, mention.path)
            message = f"`{one.compiled.id}` needs a call of `{tool}`, but {why} (`{other.compiled.id}`)"
            yield subject.remark("contradiction", level, where, message, f"take `{tool}` out of one of them")


def _unreachable(subject: Subject, one: Expectation, other: Expectation) -> Iterator[Remark]:
    """Steps that need not be taken, and cannot be."""
    for mention in one.mentions if one.kind == "sequence" else ():
        why = demands.refusal(other, mention, subject.setting.tool_aliases) if mention.is_free else ""
        if why:
            message = f"the step of `{visible(mention.tool)}` can never be taken: {why} (`{other.compiled.id}`)"
            where = subject.at(one, mention.path)
            yield subject.remark(
                "unreachable-step", Level.WARNING, where, message, "remove the step, or allow the tool"
            )


def impossible_values(subject: Subject) -> Iterator[Remark]:
    """Operators that leave no value."""
    making = Making(regex=subject.setting.regex, schema=subject.setting.schema)
    for expectation in subject.expectations:
        for mention in expectation.mentions:
            for found in impossible(mention.arguments, making) if mention.arguments is not UNSET else ():
                where = subject.at(expectation, _below(mention.args_path, found.path))
                noun = "never forbids anything" if mention.bans else "never matches a call"
                message = f"`{visible(mention.tool)}` with these arguments {noun}: {found.why}"
                yield subject.remark("impossible-value", Level.ERROR, where, message, "change one of the operators")


def _below(front: str, back: str) -> str:
    return f"{front}{back}" if not back or back.startswith("[") else f"{front}.{back}"


def loose_arguments(subject: Subject) -> Iterator[Remark]:
    """Matches that accept whatever arguments there are."""
    words = Vocabulary(subject=subject, expectations=subject.expectations)
    for expectation in subject.expectations:
        for mention in expectation.mentions:
            where = subject.at(expectation, mention.args_path)
            if mention.pattern.matches is None:
                if isinstance(mention.arguments, dict) and not mention.arguments:
                    message = f"`{visible(mention.tool)}` with `{{}}` accepts any arguments"
                    advice = "leave them out if that is meant, or compare them as `exact` to expect none"
                    yield subject.remark("empty-arguments", Level.NOTE, where, message, advice)
            elif _takes_all(mention, words):
                message = f"the match on `{visible(mention.tool)}` accepted all arguments that were tried"
                advice = "say what the arguments must be, or leave the match out"
                yield subject.remark("matches-everything", Level.WARNING, where, message, advice)


def _takes_all(mention: Mention, words: Vocabulary) -> bool:
    """Whether the match accepts no arguments, all that the test speaks of, and common values under any name."""
    matches = mention.pattern.matches
    assert matches is not None
    keys = ["some_argument", *(mention.arguments if isinstance(mention.arguments, dict) else ())]
    objects = ({key: value} for key in keys for value in COMMON)
    try:
        return all(matches(tried) for tried in chain([{}], words.arguments[mention.tool], objects))
    except CannotJudge:
        return False


def tools(subject: Subject) -> Iterator[Remark]:
    """Names that no tool has, and lists that allow every tool."""
    setting = subject.setting
    known = known_names(setting.tool_schemas, setting.tool_aliases)
    for expectation in subject.expectations if known else ():
        yield from unknown_tools(subject, expectation, known)
        allowed = {mention.tool for mention in expectation.mentions}
        if expectation.kind == "allowed_tools" and known <= allowed:
            message = "`allowed_tools` lists every tool in `tool_schemas`: only a tool that is not there is refused"
            advice = "leave out what this test does not need"
            yield subject.remark("allows-every-tool", Level.WARNING, subject.at(expectation), message, advice)


def unknown_tools(
    subject: Subject, expectation: Expectation, known: Collection[str], holder: str = ""
) -> Iterator[Remark]:
    """Names in one expectation that are none of those known, each once."""
    for tool, mention in {mention.tool: mention for mention in reversed(expectation.mentions)}.items():
        if tool not in known and subject.setting.tool_aliases.get(tool) not in known:
            message = unknown_tool(tool, known)
            if holder:
                message = f"`{visible(tool)}` is none of the tools {holder}{did_you_mean(tool, sorted(known))}"
            where = subject.at(expectation, mention.path)
            yield subject.remark("unknown-tool", Level.WARNING, where, message, "correct the name, or remove it")


def arguments(subject: Subject) -> Iterator[Remark]:
    """Expected arguments that the tool does not have, or refuses."""
    for expectation in subject.expectations:
        for mention in expectation.mentions:
            schema = subject.setting.tool_schemas.get(mention.tool)
            if isinstance(schema, dict) and isinstance(mention.arguments, dict):
                yield from _unknown_arguments(subject, expectation, mention, schema)
                yield from _refused_arguments(subject, expectation, mention, schema)


def _unknown_arguments(
    subject: Subject, expectation: Expectation, mention: Mention, schema: dict[str, Any]
) -> Iterator[Remark]:
    properties = _properties(schema)
    for key in mention.arguments if properties is not None else ():
        if properties is not None and key not in properties:
            level = Level.ERROR if schema.get("additionalProperties") is False else Level.WARNING
            where = subject.at(expectation, child(mention.args_path, key))
            nearest = did_you_mean(key, properties)
            message = f"`{visible(mention.tool)}` has no argument `{visible(key)}` by its JSON Schema{nearest}"
            yield subject.remark("unknown-argument", level, where, message, "correct the name, or the schema")


def _properties(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments that a schema names, if it names them all in one place."""
    properties = schema.get("properties")
    elsewhere = any(key in schema for key in ("$ref", "allOf", "anyOf", "oneOf", "patternProperties"))
    is_plain = isinstance(properties, dict) and not elsewhere
    return properties if is_plain and isinstance(schema.get("additionalProperties", True), bool) else None


def _refused_arguments(
    subject: Subject, expectation: Expectation, mention: Mention, schema: dict[str, Any]
) -> Iterator[Remark]:
    """By validating those that are literal together; what is missing is no concern where others may be there."""
    literal = {key: value for key, value in mention.arguments.items() if _is_literal(value)}
    try:
        violations = list(subject.setting.schema(schema)(literal))
    except (TestSetError, CannotJudge):
        return
    for violation in violations:
        if violation.path:
            where = subject.at(expectation, _below(mention.args_path, violation.path))
            message = f"`{visible(mention.tool)}` refuses `{violation.path}` by its JSON Schema: {violation.message}"
            yield subject.remark("refused-argument", Level.WARNING, where, message, "correct the value, or the schema")


def _is_literal(value: Any) -> bool:
    return not isinstance(value, Operator) and is_json(value)
