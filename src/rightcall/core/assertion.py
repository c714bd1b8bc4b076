"""The shape of every assertion, and the one way to grade: assertions compile once, then check many trajectories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Protocol

import msgspec

from rightcall.core.asking import Asker, no_judge
from rightcall.core.calls import Trajectory
from rightcall.core.counting import EVERY_CALL, Count, Counted, Scope, select
from rightcall.core.failing import cut_short, failure_verdict
from rightcall.core.judging import CannotJudge as CannotJudge
from rightcall.core.judging import NothingToJudge as NothingToJudge
from rightcall.core.provenance import placed, uses_results
from rightcall.core.scoped import ScopedCheck, is_against
from rightcall.core.verdicts import Evidence, Finding, Severity, Status, Verdict
from rightcall.errors import TestSetError

_NO_RATES: Final = {"precision": None, "recall": None}

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


CodeLoader = Callable[[str], Callable[[Trajectory], Any]]
"""Finds the function that `path.py:function` names. `TestSetError` if there is none."""


def no_code(named: str) -> Callable[[Trajectory], Any]:
    """The loader of functions where none was handed in: what stands in recorded data is never run."""
    raise TestSetError(
        "code is run only where a test set file that you name says so; in Python, give the function itself"
    )


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What stands around an assertion in its test and test set, and what the core is given to work with.

    `tool_schemas` maps a tool's name to its JSON Schema. `tool_aliases` maps a recorded name to the name
    that expectations use. `count` says which calls take part, and `every_call` what bans see whatever it says: all
    calls, or all of the part of the conversation that the assertion speaks of. `severity` is that of assertions
    that have none of their own. `judge` answers what only a judge can.
    """

    regex: RegexEngine
    schema: SchemaEngine = no_schemas
    code: CodeLoader = no_code
    judge: Asker = no_judge
    tool_schemas: Mapping[str, Any] = {}
    tool_aliases: Mapping[str, str] = {}
    ignore_arguments: tuple[str, ...] = ()
    count: Count = Count()
    every_call: Count = EVERY_CALL
    parallel_unordered: bool = False
    severity: Severity = "block"

    def counted(self, trajectory: Trajectory) -> Counted:
        """The calls that count, under the names that expectations use."""
        return select(trajectory.tool_calls or (), self.count, self.tool_aliases)


class Check(Protocol):
    """A compiled assertion. `name` is the verdict's name. Checking is pure and may raise only `CannotJudge`.

    A check may have `is_ban = True`: it forbids something, and no rate over assertions softens it. With
    `sees_every_call = True` it looks at all calls, whatever `count` says. With `only_forbids = True`, fewer calls never
    make it fail. With `needs_calls = False` it is asked also where no calls were recorded. With an `ask` it needs
    a judge, whom it asks by it, as `JudgedCheck` does. With `uses_results` it says whether it asks for results of
    earlier calls; where it does not say, its assertion is searched. It may have `align(trajectory)`, which gives rows
    of expected beside made for showing a failure.
    """

    name: str

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """The evidence for and against the trajectory, whose `tool_calls` are recorded."""
        ...


class Assertion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """One expectation as data. Each kind is one subclass, whose docstring is its reference page.

    `name` replaces the name its verdict has by default. Only severity `block`, the default, gates. `turn` (from 1) and
    `agent` narrow it to the calls of one turn of the user, or of one agent and those that it called.
    """

    name: str | None = None
    severity: Severity | None = None
    turn: Annotated[int, msgspec.Meta(ge=1)] | None = None
    agent: Annotated[str, msgspec.Meta(min_length=1)] | None = None

    @property
    def scope(self) -> Scope | None:
        """The part of the conversation that it speaks of, `None` for all of it."""
        if self.turn is None and self.agent is None:
            return None
        return Scope(turn=self.turn, agent=self.agent)

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories; `TestSetError` if it can never be checked."""
        raise NotImplementedError


class Compiled(msgspec.Struct, frozen=True):
    """An assertion ready to check, with the identity its verdict will carry.

    `prepare` gives the trajectory as the check must see it, where that is not as it was read.
    """

    id: str
    name: str
    kind: str
    severity: Severity
    check: Check
    ban: bool = False
    prepare: Callable[[Trajectory], Trajectory] | None = None

    def prepared(self, trajectory: Trajectory) -> Trajectory:
        """The trajectory as the check must see it."""
        return trajectory if self.prepare is None else self.prepare(trajectory)


def compile_all(assertions: Iterable[Assertion], setting: Setting) -> tuple[Compiled, ...]:
    """Compile in declaration order and give each verdict an id unique among them (G6)."""
    seen: dict[str, int] = {}
    compiled = []
    for assertion in assertions:
        check = compile_one(assertion, setting)
        name = assertion.name or check.name
        seen[name] = number = seen.get(name, 0) + 1
        identity = name if number == 1 else f"{name}[{number}]"
        kind = str(assertion.__struct_config__.tag)
        is_ban = bool(getattr(check, "is_ban", False))
        severity = assertion.severity or setting.severity
        compiled.append(Compiled(identity, name, kind, severity, check, is_ban, _preparation(assertion, check)))
    return tuple(compiled)


def _preparation(assertion: Assertion, check: Check) -> Callable[[Trajectory], Trajectory] | None:
    """Calls must know what was there before them where an assertion asks where values come from."""
    told: bool | None = getattr(check, "uses_results", None)
    return placed if (uses_results(assertion) if told is None else told) else None


def compile_one(assertion: Assertion, setting: Setting) -> Check:
    """Compile an assertion for all of the conversation, or for the part that it speaks of.

    Where only the calls of some agents count, those are a part too, for not every call tells whose it is.
    """
    if assertion.scope is None:
        check = assertion.compile(setting)
        if setting.count.agents is None or getattr(check, "sees_every_call", False):
            return check
    return ScopedCheck(assertion, assertion.scope or Scope(), setting)


def grade(trajectory: Trajectory, assertions: Sequence[Compiled]) -> tuple[Verdict, ...]:
    """All verdicts, in order. Pure and total: never raises on recorded data, whatever it holds (G5).

    Where the agent failed, the verdict on that comes first (G38).
    """
    known = cut_short(trajectory)
    failed = failure_verdict(trajectory, (assertion.id for assertion in assertions))
    verdicts = [judge(known, assertion) for assertion in assertions]
    return tuple(verdicts) if failed is None else (failed, *verdicts)


def judge(trajectory: Trajectory, assertion: Compiled) -> Verdict:
    """One verdict: its status, score and reason are read off the evidence."""
    try:
        if trajectory.trouble is not None:
            raise CannotJudge("trouble", trajectory.trouble)
        if trajectory.tool_calls is None and getattr(assertion.check, "needs_calls", True):
            raise CannotJudge("not_recorded", f"No tool calls were recorded: {_why(trajectory)}")
        evidence = assertion.check(assertion.prepared(trajectory))
    except CannotJudge as error:
        return error_verdict(assertion, error.code, error.reason, {**_NO_RATES, **error.details})
    except NothingToJudge as nothing:
        return _unsettled(assertion, Status.NOT_APPLICABLE, nothing.code, nothing.reason, _NO_RATES)
    fails = is_against(evidence)
    if fails and not trajectory.tool_calls and getattr(assertion.check, "needs_calls", True):
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
    end = "" if first.message.endswith((".", "!", "?")) else "."
    noted = msgspec.structs.replace(first, message=f"{first.message}{end} No tool calls were made.")
    return msgspec.structs.replace(evidence, findings=(noted, *others))


def error_verdict(assertion: Compiled, code: str, reason: str, details: dict[str, Any]) -> Verdict:
    """The verdict of an assertion that could not be judged."""
    return _unsettled(assertion, Status.ERROR, code, reason, details)


def _unsettled(assertion: Compiled, status: Status, code: str, reason: str, details: dict[str, Any]) -> Verdict:
    return Verdict(
        id=assertion.id,
        name=assertion.name,
        kind=assertion.kind,
        status=status,
        severity=assertion.severity,
        ban=assertion.ban,
        evidence=Evidence((Finding(code=code, message=reason),), details),
    )


def _why(trajectory: Trajectory) -> str:
    return trajectory.warnings[0] if trajectory.warnings else "the trajectory has no `tool_calls`."
