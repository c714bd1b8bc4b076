"""The shape of every assertion, and the one way to grade: assertions compile once, then check many trajectories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from rightcall.core.calls import Trajectory
from rightcall.core.counting import Count
from rightcall.core.verdicts import Evidence, Finding, Severity, Status, Verdict
from rightcall.errors import TestSetError

Matcher = Callable[[str], bool]
"""A compiled regular expression: is the pattern found in this text? Raises `CannotJudge` at its time limit."""


class RegexEngine(Protocol):
    """ECMAScript regular expressions, handed in from outside the core (G28)."""

    def __call__(self, pattern: str, flags: str) -> Matcher:
        """Compile; `ValueError` with the engine's reason if the pattern or a flag is not valid."""
        ...


class Violation(msgspec.Struct, frozen=True):
    """Where and how a value violates a JSON Schema: a JSON path inside the value, and words."""

    path: str
    message: str


Validate = Callable[[Any], Iterator[Violation]]
"""A compiled JSON Schema: how a value violates it, first things first. Raises `CannotJudge` at a limit."""


class SchemaEngine(Protocol):
    """JSON Schema validation, handed in from outside the core. Nothing is ever fetched."""

    def __call__(self, schema: Any) -> Validate:
        """Compile; `TestSetError` with a path inside the schema if it is no schema that can be used."""
        ...


def no_schemas(schema: Any) -> Validate:
    """The JSON Schema engine where none was handed in."""
    raise TestSetError("a JSON Schema cannot be used here: no validator was handed in")


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What stands around an assertion in its test and test set, and what the core is given to work with.

    `tool_schemas` maps a tool's name to its JSON Schema. `tool_aliases` maps a recorded name to the name
    that expectations use.
    """

    regex: RegexEngine
    schema: SchemaEngine = no_schemas
    tool_schemas: Mapping[str, Any] = {}
    tool_aliases: Mapping[str, str] = {}
    ignore_arguments: tuple[str, ...] = ()
    count: Count = Count()
    parallel_unordered: bool = False


class CannotJudge(Exception):
    """A check cannot decide: it becomes a verdict of status `error` (code and reason)."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class Check(Protocol):
    """A compiled assertion. `name` is the verdict's name. Checking is pure and may raise only `CannotJudge`.

    A check may have `is_ban = True`: it forbids something, and no rate over assertions softens it. It may have
    `align(trajectory)`, which gives rows of expected beside made for showing a failure.
    """

    name: str

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """The evidence for and against the trajectory, whose `tool_calls` are recorded."""
        ...


class Assertion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """One expectation as data. Each kind is one subclass, whose docstring is its reference page.

    `name` replaces the name its verdict has by default. Only severity `block` gates.
    """

    name: str | None = None
    severity: Severity = "block"

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories; `TestSetError` if it can never be checked."""
        raise NotImplementedError


class Compiled(msgspec.Struct, frozen=True):
    """An assertion ready to check, with the identity its verdict will carry."""

    id: str
    name: str
    kind: str
    severity: Severity
    check: Check
    ban: bool = False


def compile_all(assertions: Iterable[Assertion], setting: Setting) -> tuple[Compiled, ...]:
    """Compile in declaration order and give each verdict an id unique among them (G6)."""
    seen: dict[str, int] = {}
    compiled = []
    for assertion in assertions:
        check = assertion.compile(setting)
        name = assertion.name or check.name
        seen[name] = number = seen.get(name, 0) + 1
        identity = name if number == 1 else f"{name}[{number}]"
        kind = str(assertion.__struct_config__.tag)
        is_ban = bool(getattr(check, "is_ban", False))
        compiled.append(Compiled(identity, name, kind, assertion.severity, check, is_ban))
    return tuple(compiled)


def grade(trajectory: Trajectory, assertions: Sequence[Compiled]) -> tuple[Verdict, ...]:
    """All verdicts, in order. Pure and total: never raises on recorded data, whatever it holds (G5)."""
    return tuple([judge(trajectory, assertion) for assertion in assertions])


def judge(trajectory: Trajectory, assertion: Compiled) -> Verdict:
    """One verdict: its status, score and reason are read off the evidence."""
    try:
        if trajectory.tool_calls is None:
            raise CannotJudge("not_recorded", f"No tool calls were recorded: {_why(trajectory)}")
        evidence = assertion.check(trajectory)
    except CannotJudge as error:
        return error_verdict(assertion, error.code, error.reason, {"precision": None, "recall": None})
    fails = evidence.fails or bool(evidence.findings)
    if fails and not trajectory.tool_calls:
        evidence = _noting_silence(evidence.spoken())
    return Verdict(
        id=assertion.id,
        name=assertion.name,
        kind=assertion.kind,
        status=Status.FAIL if fails else Status.PASS,
        severity=assertion.severity,
        score=evidence.score if evidence.score is not None else 0 if fails else 1,
        ban=assertion.ban,
        evidence=evidence,
    )


def _noting_silence(evidence: Evidence) -> Evidence:
    """A failure without a single call says so (G3)."""
    first, *others = evidence.findings
    noted = msgspec.structs.replace(first, message=f"{first.message} No tool calls were made.")
    return msgspec.structs.replace(evidence, findings=(noted, *others))


def error_verdict(assertion: Compiled, code: str, reason: str, details: dict[str, Any]) -> Verdict:
    """The verdict of an assertion that could not be judged."""
    return Verdict(
        id=assertion.id,
        name=assertion.name,
        kind=assertion.kind,
        status=Status.ERROR,
        severity=assertion.severity,
        ban=assertion.ban,
        evidence=Evidence((Finding(code=code, message=reason),), details),
    )


def _why(trajectory: Trajectory) -> str:
    return trajectory.warnings[0] if trajectory.warnings else "the trajectory has no `tool_calls`."
