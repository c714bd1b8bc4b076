"""Calls as the tools were defined: each names a tool there is, with arguments that satisfy its JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from rightcall.core import doubt
from rightcall.core.assertion import Assertion, CannotJudge, Check, Setting, Validate, Violation
from rightcall.core.calls import UNKNOWN_STATES, ToolCall, Trajectory
from rightcall.core.counting import Counted, select
from rightcall.core.values import cut, display, member, visible
from rightcall.core.verdicts import Evidence, Finding
from rightcall.errors import TestSetError, did_you_mean

_UNLISTED: Final = frozenset({"server", "handoff", "agent"})
"""Kinds of calls whose tools often stand in no list of definitions."""

_SHOWN: Final = 5
"""Violations of one call that are told."""


class SchemaAssertion(Assertion, frozen=True, kw_only=True, tag="schema"):
    """Every call names a tool there is, and its arguments satisfy that tool's JSON Schema. Verdict `schema`.

    The tools are those of `tool_schemas`; without that, those that the trajectory says were available. It looks at
    the calls that `count` says. A tool without a recorded schema, arguments that are not shown and a schema that
    cannot be used are an `error`; arguments that are no JSON fail. Nothing that a schema names is ever fetched.
    """

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories; `TestSetError` with the path of a schema that cannot be used."""
        return SchemaCheck(setting)


class SchemaCheck:
    """A compiled schema assertion."""

    name = "schema"
    is_ban = only_forbids = True

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.given = {name: [_given(setting, name, schema)] for name, schema in setting.tool_schemas.items()}

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """What was seen to be wrong stays so; what cannot be seen is no pass."""
        counted = select(trajectory.tool_calls or (), self.setting.count, {})
        tools: dict[str, list[Any]] = dict(self.given) or _available(trajectory)
        doubts: list[CannotJudge] = []
        findings = tuple(self._findings(counted, tools, doubts))
        if not findings and doubts:
            raise doubts[0]
        if not findings and trajectory.gaps:
            raise doubt.gap(trajectory)
        return Evidence(findings)

    def _findings(self, counted: Counted, tools: dict[str, list[Any]], doubts: list[CannotJudge]) -> Iterator[Finding]:
        """The findings of each call in turn; what cannot be judged of it goes to `doubts`."""
        for at in range(len(counted.calls)):
            try:
                yield from self._judged(counted, at, tools)
            except CannotJudge as error:
                doubts.append(error)

    def _judged(self, counted: Counted, at: int, tools: dict[str, list[Any]]) -> list[Finding]:
        call, number = counted.calls[at], counted.indices[at] + 1
        schemas = tools.get(call.name, tools.get(self.setting.tool_aliases.get(call.name, call.name)))
        if schemas is None:
            if not call.name.strip():
                raise doubt.name(number - 1)
            return [_unknown_tool(call, number, tools)]
        compiled = [_compiled(self.setting, call, schema) for schema in schemas]
        if call.arguments_state in UNKNOWN_STATES:
            raise doubt.arguments(counted, at)
        if call.arguments_state == "malformed":
            return [_malformed(call, number)]
        return _agreed(call, number, [list(validate(call.arguments)) for validate in compiled])


def _given(setting: Setting, name: str, schema: Any) -> Validate:
    try:
        return setting.schema(schema)
    except TestSetError as error:
        raise error.within(path=member("tool_schemas", name)) from None


def _available(trajectory: Trajectory) -> dict[str, list[Any]]:
    """The schemas recorded for each name: several, where the definitions differ."""
    tools: dict[str, list[Any]] = {}
    for spec in trajectory.available_tools:
        tools.setdefault(spec.name, []).append(spec.parameters)
    return tools


def _compiled(setting: Setting, call: ToolCall, schema: Any) -> Validate:
    if schema is None:
        raise CannotJudge("no_schema", f"No JSON Schema was recorded for `{visible(call.name)}`.")
    if callable(schema):
        compiled: Validate = schema
        return compiled
    try:
        return setting.schema(schema)
    except TestSetError as error:
        reason = f"The JSON Schema recorded for `{visible(call.name)}` cannot be used: {error}"
        raise CannotJudge("schema_unusable", reason) from None


def _unknown_tool(call: ToolCall, number: int, tools: dict[str, list[Any]]) -> Finding:
    if not tools:
        reason = "No available tools were recorded, and no `tool_schemas` are given."
        raise CannotJudge("no_schema", reason)
    if call.kind in _UNLISTED:
        reason = f"Call {number}, {visible(call.name)}, is of kind `{call.kind}`, and no definition of it was recorded."
        raise CannotJudge("no_schema", reason)
    near = did_you_mean(call.name, list(tools))
    message = f"Call {number} names {display(call.name)}, which is none of the available tools{near}."
    return Finding(code="unknown_tool", message=message, made_index=number - 1)


def _malformed(call: ToolCall, number: int) -> Finding:
    text = "" if call.arguments_text is None else f": {display(call.arguments_text)}"
    message = f"The arguments of call {number} to `{visible(call.name)}` are no JSON{text}."
    return Finding(code="malformed", message=message, made_index=number - 1)


def _agreed(call: ToolCall, number: int, found: Sequence[list[Violation]]) -> list[Finding]:
    """The violations that hold under every definition of the tool."""
    if not any(found):
        return []
    if not all(found):
        reason = f"`{visible(call.name)}` is defined several times, and call {number} satisfies only some of them."
        raise CannotJudge("schema_ambiguous", reason)
    return [_violation(call, number, violation) for violation in found[0][:_SHOWN]]


def _violation(call: ToolCall, number: int, violation: Violation) -> Finding:
    place = f"{violation.path}: " if violation.path else ""
    message = f"Call {number} to `{visible(call.name)}` violates its JSON Schema: {place}{cut(violation.message, 300)}."
    return Finding(code="schema", message=message, made_index=number - 1, path=violation.path)
