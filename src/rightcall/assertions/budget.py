"""How many calls may be made: in all, of one tool, of the same call again, and how many may go wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from rightcall.core import doubt
from rightcall.core.assertion import Assertion, CannotJudge, Check, Setting
from rightcall.core.calls import FAILED_STATUSES, UNSETTLED_STATUSES, ToolCall, Trajectory
from rightcall.core.counting import Counted
from rightcall.core.values import freeze, visible
from rightcall.core.verdicts import Evidence, Finding
from rightcall.core.wording import amount, times
from rightcall.errors import TestSetError, Where

Limit = Annotated[int, msgspec.Meta(ge=0)]
Key = TypeVar("Key")


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the key `budget` holds: limits, each of which gives a verdict of its own."""

    max_calls: Annotated[Limit, msgspec.Meta(description="Calls that may be made in all.")] | UnsetType = UNSET
    max_calls_per_tool: (
        Annotated[
            Limit | dict[str, Limit],
            msgspec.Meta(description="Calls of one tool: a number for each of them, or a mapping of names."),
        ]
        | UnsetType
    ) = UNSET
    max_repeats: (
        Annotated[Limit, msgspec.Meta(description="How often a call may be made again with equal arguments.")]
        | UnsetType
    ) = UNSET
    max_errors: Annotated[Limit, msgspec.Meta(description="Calls that may fail or be refused.")] | UnsetType = UNSET


class Budget(Assertion, frozen=True, kw_only=True, tag="budget"):
    """No more calls are made than one limit allows. Verdict `budget:<limit>`.

    The limit is one of `max_calls`, in all; `max_calls_per_tool`, a number for every tool or a mapping of names to
    numbers; `max_repeats`, how often the same call may be made again, with equal arguments (0: never); and
    `max_errors`, calls that failed or were refused. It looks at the calls that `count` says, also those that failed.
    No rate softens it.
    """

    max_calls: Limit | UnsetType = UNSET
    max_calls_per_tool: Limit | dict[str, Limit] | UnsetType = UNSET
    max_repeats: Limit | UnsetType = UNSET
    max_errors: Limit | UnsetType = UNSET

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories; `TestSetError` for no limit, or for several."""
        given = {name: getattr(self, name) for name in LIMITS if getattr(self, name) is not UNSET}
        if len(given) != 1:
            names = ", ".join(f"`{name}`" for name in LIMITS)
            raise TestSetError(f"expected one limit of {names}, found {len(given) or 'none'}")
        ((name, limit),) = given.items()
        if limit == {}:
            raise TestSetError("expected a number, or a mapping with at least one tool, found none", Where(path=name))
        return LIMITS[name](name, limit, setting)


class LimitCheck:
    """A compiled limit: what the kinds of limits have in common."""

    is_ban = only_forbids = True

    def __init__(self, name: str, limit: Any, setting: Setting) -> None:
        self.name = f"budget:{name}"
        self.limit = limit
        self.setting = setting

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """Calls that were seen to be too many stay so; what cannot be seen is no pass."""
        counted = self.setting.counted(trajectory)
        findings = tuple(self.excess(counted))
        if not findings:
            self.refuse_doubt(counted)
            if trajectory.gaps:
                raise doubt.gap(trajectory)
        return Evidence(findings, {"counted": len(counted.calls)})

    def excess(self, counted: Counted) -> Iterator[Finding]:
        """What is over the limit for certain."""
        raise NotImplementedError

    def refuse_doubt(self, counted: Counted) -> None:
        """`CannotJudge` where what is not recorded of the calls could be over the limit."""


class CallsCheck(LimitCheck):
    """`max_calls`."""

    def excess(self, counted: Counted) -> Iterator[Finding]:
        """All calls are of one sort."""
        if len(counted.calls) > self.limit:
            made = _were_made(len(counted.calls))
            yield _too_many(f"{made}, {_allowed(self.limit)}", counted, self.limit)


class ToolCallsCheck(LimitCheck):
    """`max_calls_per_tool`."""

    def excess(self, counted: Counted) -> Iterator[Finding]:
        """By the name that expectations use, in the order of the first calls."""
        for tool, positions in _positions(call.name for call in counted.calls).items():
            most = self._most(tool)
            if tool.strip() and most is not None and len(positions) > most:
                what = f"`{visible(tool)}` was called {times(len(positions))}, {_allowed(most)}"
                yield _too_many(what, counted, positions[most])

    def refuse_doubt(self, counted: Counted) -> None:
        """A call without a name could be of any tool."""
        made = Counter(call.name for call in counted.calls if call.name.strip())
        nameless = len(counted.calls) - made.total()
        tools = self.limit if isinstance(self.limit, Mapping) else {**made, "another tool": 0}
        if nameless and any(made[tool] + nameless > (self._most(tool) or 0) for tool in tools):
            _refuse_nameless(counted)

    def _most(self, tool: str) -> int | None:
        most: int | None = self.limit.get(tool) if isinstance(self.limit, Mapping) else self.limit
        return most


class RepeatsCheck(LimitCheck):
    """`max_repeats`: calls of one name are the same where their arguments are equal (G7)."""

    def excess(self, counted: Counted) -> Iterator[Finding]:
        """The same call, more often than it may be made again."""
        for key, positions in _positions(map(_identity, counted.calls)).items():
            if key is not None and len(positions) - 1 > self.limit:
                name = visible(counted.calls[positions[0]].name)
                first = counted.indices[positions[0]] + 1
                what = f"`{name}` was called {times(len(positions))} with the arguments of call {first}"
                may = f"may be made again {times(self.limit)}" if self.limit else "may not be made again"
                yield _too_many(f"{what}, and {may}", counted, positions[self.limit + 1])

    def refuse_doubt(self, counted: Counted) -> None:
        """Calls whose name or arguments are not known may be the same as any that they could be."""
        if all(call.arguments_state == "ok" and call.name.strip() for call in counted.calls):
            return
        same = Counter(map(_identity, counted.calls))
        most = Counter[str]()
        for key, number in same.items():
            if key is not None:
                most[key[0]] = max(most[key[0]], number)
        unknown = _positions(call.name.strip() and call.name for call in counted.calls if _identity(call) is None)
        nameless = len(unknown.get("", ()))
        for name in {**most, **unknown}:
            hidden = 0 if name == "" else len(unknown.get(name, ()))
            if hidden + nameless and most[name] + hidden + nameless - 1 > self.limit:
                self._refuse(counted, name if hidden else "")

    def _refuse(self, counted: Counted, name: str) -> None:
        if not name:
            _refuse_nameless(counted)
        for at, call in enumerate(counted.calls):
            if call.name == name and _identity(call) is None:
                raise doubt.arguments(counted, at)


class ErrorsCheck(LimitCheck):
    """`max_errors`: calls that failed or were refused."""

    def excess(self, counted: Counted) -> Iterator[Finding]:
        """Calls whose status says so."""
        failed = [at for at, call in enumerate(counted.calls) if call.status in FAILED_STATUSES]
        if len(failed) > self.limit:
            number = amount(len(failed), "call")
            yield _too_many(
                f"{number} failed or {'was' if len(failed) == 1 else 'were'} refused, {_allowed(self.limit)}",
                counted,
                failed[self.limit],
            )

    def refuse_doubt(self, counted: Counted) -> None:
        """Calls whose outcome is not recorded may have failed."""
        failed = sum(1 for call in counted.calls if call.status in FAILED_STATUSES)
        unsure = [at for at, call in enumerate(counted.calls) if call.status in UNSETTLED_STATUSES]
        if failed + len(unsure) > self.limit:
            raise doubt.success(counted, unsure[0])


LIMITS: Final[dict[str, type[LimitCheck]]] = {
    "max_calls": CallsCheck,
    "max_calls_per_tool": ToolCallsCheck,
    "max_repeats": RepeatsCheck,
    "max_errors": ErrorsCheck,
}


def _identity(call: ToolCall) -> tuple[str, Hashable, str] | None:
    """Equal for calls that are the same; `None` where that is not known."""
    if not call.name.strip():
        return None
    if call.arguments_state == "ok":
        return call.name, freeze(call.arguments), "ok"
    if call.arguments_state == "malformed" and call.arguments_text is not None:
        return call.name, call.arguments_text, "malformed"
    return None


def _positions(keys: Iterable[Key]) -> dict[Key, list[int]]:
    found: dict[Key, list[int]] = {}
    for at, key in enumerate(keys):
        found.setdefault(key, []).append(at)
    return found


def _were_made(number: int) -> str:
    return f"{amount(number, 'call')} {'was' if number == 1 else 'were'} made"


def _allowed(number: int) -> str:
    return f"at most {number} {'is' if number == 1 else 'are'} allowed"


def _too_many(what: str, counted: Counted, at: int) -> Finding:
    index = counted.indices[at]
    message = f"{what}; call {index + 1}, `{visible(counted.calls[at].name)}`, is the first beyond that."
    return Finding(code="too_many", message=message, made_index=index)


def _refuse_nameless(counted: Counted) -> None:
    unnamed: CannotJudge | None = doubt.nameless(zip(counted.indices, counted.calls, strict=True))
    if unnamed is not None:
        raise unnamed
