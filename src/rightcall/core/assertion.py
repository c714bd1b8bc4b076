"""The shape of every assertion, and the one way to grade: assertions compile once, then check many trajectories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Protocol

import msgspec

from rightcall.core.calls import Trajectory
from rightcall.core.counting import EVERY_CALL, Count, Scope, narrowed
from rightcall.core.judging import CannotJudge as CannotJudge
from rightcall.core.judging import NothingToJudge as NothingToJudge
from rightcall.core.provenance import placed, uses_results
from rightcall.core.scoping import last_turn
from rightcall.core.values import visible
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
    that have none of their own.
    """

    regex: RegexEngine
    schema: SchemaEngine = no_schemas
    code: CodeLoader = no_code
    tool_schemas: Mapping[str, Any] = {}
    tool_aliases: Mapping[str, str] = {}
    ignore_arguments: tuple[str, ...] = ()
    count: Count = Count()
    every_call: Count = EVERY_CALL
    parallel_unordered: bool = False
    severity: Severity = "block"


class Check(Protocol):
    """A compiled assertion. `name` is the verdict's name. Checking is pure and may raise only `CannotJudge`.

    A check may have `is_ban = True`: it forbids something, and no rate over assertions softens it. With
    `only_forbids = True`, fewer calls never make it fail. With `needs_calls = False` it is asked also where no calls
    were recorded. It may have `align(trajectory)`, which gives rows of expected beside made for showing a failure.
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
        compiled.append(Compiled(identity, name, kind, severity, check, is_ban, _preparation(assertion)))
    return tuple(compiled)


def _preparation(assertion: Assertion) -> Callable[[Trajectory], Trajectory] | None:
    """Calls must know what was there before them where an assertion asks where values come from."""
    return placed if uses_results(assertion) else None


def compile_one(assertion: Assertion, setting: Setting) -> Check:
    """Compile an assertion for all of the conversation, or for the part that it speaks of."""
    if assertion.scope is None:
        return assertion.compile(setting)
    return ScopedCheck(assertion, assertion.scope, setting)


class ScopedCheck:
    """A check of one part of a conversation. Calls are numbered as they are in the whole of it.

    Calls of which it is not recorded whether they belong there may do: they are an error where they matter (G11).
    """

    def __init__(self, assertion: Assertion, scope: Scope, setting: Setting) -> None:
        self.scope = scope
        self.certain, self.possible = (
            assertion.compile(
                msgspec.structs.replace(
                    setting,
                    count=narrowed(setting.count, scope, unknown=unknown),
                    every_call=narrowed(setting.every_call, scope, unknown=unknown),
                )
            )
            for unknown in (False, True)
        )
        self.name = f"{self.certain.name}{scope.suffix}"
        self.is_ban = bool(getattr(self.certain, "is_ban", False))
        self.count = EVERY_CALL if self.is_ban else setting.count
        if hasattr(self.certain, "align"):
            self.align = self.certain.align

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """The evidence of the calls of this part; none if an agent was not there."""
        self._refuse_turn(trajectory)
        held = [self.scope.holds(call) for call in trajectory.tool_calls or () if self.count.takes(call)]
        evidence = self._doubtful(trajectory) if None in held else self.certain(trajectory)
        if self.scope.agent is not None and True not in held and not is_against(evidence):
            raise NothingToJudge("no_agent", f"There is no call of the agent `{visible(self.scope.agent)}` to judge.")
        return evidence

    def _refuse_turn(self, trajectory: Trajectory) -> None:
        last = last_turn(trajectory)
        if self.scope.turn is not None and self.scope.turn > last:
            seen = f"turn {last} is the last one recorded" if last else "no turns are recorded"
            raise CannotJudge("turn_not_recorded", f"It is not known that there was a turn {self.scope.turn}: {seen}.")

    def _doubtful(self, trajectory: Trajectory) -> Evidence:
        """Calls that may belong here matter where calls that are missing from the trace would (G12)."""
        if getattr(self.certain, "only_forbids", False):
            evidence = self.certain(trajectory)
            if is_against(evidence) or not is_against(self.possible(trajectory)):
                return evidence
            raise self._unknown(trajectory)
        try:
            return self.certain(msgspec.structs.replace(trajectory, gaps=(*trajectory.gaps, "of unknown scope")))
        except CannotJudge as error:
            if error.code == "gap" and not trajectory.gaps:
                raise self._unknown(trajectory) from None
            raise

    def _unknown(self, trajectory: Trajectory) -> CannotJudge:
        calls = trajectory.tool_calls or ()
        number = next(number for number, call in enumerate(calls, 1) if self.scope.holds(call) is None)
        what = "turn" if self.scope.turn is not None and calls[number - 1].turn is None else "agent"
        reason = f"The {what} of call {number} is not recorded; the verdict depends on it."
        return CannotJudge("scope_unknown", reason)


def is_against(evidence: Evidence) -> bool:
    """Whether the evidence speaks against the trajectory."""
    return evidence.fails or bool(evidence.findings)


def grade(trajectory: Trajectory, assertions: Sequence[Compiled]) -> tuple[Verdict, ...]:
    """All verdicts, in order. Pure and total: never raises on recorded data, whatever it holds (G5)."""
    return tuple([judge(trajectory, assertion) for assertion in assertions])


def judge(trajectory: Trajectory, assertion: Compiled) -> Verdict:
    """One verdict: its status, score and reason are read off the evidence."""
    try:
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
    noted = msgspec.structs.replace(first, message=f"{first.message} No tool calls were made.")
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
