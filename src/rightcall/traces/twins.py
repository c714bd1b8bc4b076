"""Spans that show again what another span shows: a model call, or a run of a tool, by two instrumentations.

One stands around the other, or beside it at the same time. Runs of a tool beside one another must be of different
instrumentations, and each has at most one twin of each of them: so two runs at the same time stay two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, Protocol, TypeVar

from rightcall.core.calls import UNKNOWN_STATES, ToolCall
from rightcall.traces import shapes
from rightcall.traces.spans import Span

DECORATED: Final = "rightcall"
"""The scope of spans of `@rightcall.tool`: the function itself, to which a framework may hand more than was asked."""

_LOOK: Final = 500


class Run(Protocol):
    """What is looked at of an execution."""

    @property
    def name(self) -> str:
        """Of the tool."""

    @property
    def arguments(self) -> shapes.Arguments:
        """As far as the span shows them."""


_R = TypeVar("_R", bound=Run)

Calls = tuple[ToolCall, ...]
"""What one model span puts out."""


def repeated(
    spans: Sequence[Span], parents: Sequence[int], enclosing: Sequence[int], models: Mapping[int, Calls], index: int
) -> int | None:
    """The model span that shows the same model call as this one does: around it, or beside it and before.

    Around it, arguments that one of the two does not show hide no difference; beside it they may, unless ids tell.
    Below another parent only another instrumentation shows the same, and only if ids tell.
    """
    calls = models[index]
    if not calls:
        return None
    if (around := enclosing[index]) in models:
        return around if _same(models[around], calls, _may_be_same) else None
    near = (other for other in range(max(index - _NEAR, 0), index) if other in models)
    beside = (
        other for other in near if _both_ended(spans[other], spans[index]) and _overlap(spans[other], spans[index])
    )
    return next((other for other in beside if _tells_again(spans, parents, models, other, index)), None)


def _tells_again(
    spans: Sequence[Span], parents: Sequence[int], models: Mapping[int, Calls], other: int, index: int
) -> bool:
    if 0 <= parents[index] == parents[other]:
        return _same(models[other], models[index], _is_same)
    return _differ_in_scope(spans[other], spans[index]) and _same(models[other], models[index], _is_known_same)


_NEAR: Final = 8


def _same(some: Calls, others: Calls, alike: Callable[[ToolCall, ToolCall], bool]) -> bool:
    return len(some) == len(others) and all(map(alike, some, others))


def _is_same(one: ToolCall, other: ToolCall) -> bool:
    return _is_known_same(one, other) or (_may_be_same(one, other) and one.arguments_state == other.arguments_state)


def _is_known_same(one: ToolCall, other: ToolCall) -> bool:
    return one.id is not None and one.id == other.id and _may_be_same(one, other)


def _may_be_same(one: ToolCall, other: ToolCall) -> bool:
    if one.name != other.name or (one.id and other.id and one.id != other.id):
        return False
    unknown = one.arguments_state in UNKNOWN_STATES or other.arguments_state in UNKNOWN_STATES
    return unknown or one.arguments == other.arguments


def runs_again(
    spans: Sequence[Span], parents: Sequence[int], enclosing: Sequence[int], runs: Mapping[int, _R]
) -> dict[int, int]:
    """For each execution that only shows another one again, by their indices: which one. The first sight is kept.

    `enclosing` has for each span the nearest execution or model span with calls around it.
    """
    found: dict[int, int] = {}
    kept: dict[str, _Kept] = {}
    for index, run in runs.items():
        known = kept.setdefault(run.name, _Kept())
        first = _around(spans, enclosing, runs, index)
        if first is None:
            first = _beside(spans, parents, runs, index, known.without(spans[index].scope))
        first = index if first is None else found.get(first, first)
        if first != index:
            found[index] = first
        known.add(first, spans[index].scope)
    return found


class _Kept:
    """The runs of one tool that are kept, each with the instrumentations that show it."""

    def __init__(self) -> None:
        self._scopes: dict[int, set[str]] = {}
        self._counts: Counter[str] = Counter()

    def add(self, index: int, scope: str) -> None:
        scopes = self._scopes.setdefault(index, set())
        self._counts[scope] += scope not in scopes
        scopes.add(scope)

    def without(self, scope: str) -> list[int]:
        """The latest ones that this instrumentation does not show yet, by start."""
        if not scope or self._counts[scope] == len(self._scopes):
            return []
        latest = islice(reversed(self._scopes.items()), _LOOK)
        return [index for index, scopes in latest if scope not in scopes][::-1]


def _around(spans: Sequence[Span], enclosing: Sequence[int], runs: Mapping[int, _R], index: int) -> int | None:
    """The execution that directly encloses this one, if it is a wrapper of the same call."""
    run, around = runs[index], runs.get(enclosing[index])
    if around is None or around.name != run.name:
        return None
    same = not _differ(around.arguments, run.arguments) or _implements(spans[index], spans[enclosing[index]])
    return enclosing[index] if same else None


def _differ(one: shapes.Arguments, other: shapes.Arguments) -> bool:
    """Whether two sights of arguments cannot be of the same call."""
    return one.state == other.state == "ok" and one.value != other.value


def _implements(span: Span, other: Span) -> bool:
    """Whether a span is that of the function that a tool of a framework runs."""
    return span.scope == DECORATED and other.scope not in ("", DECORATED)


def _beside(
    spans: Sequence[Span], parents: Sequence[int], runs: Mapping[int, _R], index: int, others: Sequence[int]
) -> int | None:
    """The execution that another instrumentation shows at the same time; equal arguments go first."""
    span, run = spans[index], runs[index]
    near = [other for other in others if spans[other].scope and _overlap(spans[other], span)]
    around = set(above(parents, index)) if near else set()
    likely = [other for other in near if other not in around]
    equal = (other for other in likely if _equal(runs[other].arguments, run.arguments))
    unlike = (
        other
        for other in likely
        if not _differ(runs[other].arguments, run.arguments) or _implements(span, spans[other])
    )
    return next(equal, next(unlike, None))


def _equal(one: shapes.Arguments, other: shapes.Arguments) -> bool:
    return one.state == other.state == "ok" and one.value == other.value


def _overlap(one: Span, other: Span) -> bool:
    if one.start is None or other.start is None:
        return False
    return (other.end is None or one.start < other.end) and (one.end is None or other.start < one.end)


def _both_ended(one: Span, other: Span) -> bool:
    return one.end is not None and other.end is not None


def _differ_in_scope(one: Span, other: Span) -> bool:
    return "" != one.scope != other.scope != ""


def above(parents: Sequence[int], index: int) -> Iterator[int]:
    """The spans that enclose one, the nearest first; each once, even where they enclose one another."""
    seen: set[int] = set()
    at = parents[index]
    while at >= 0 and at not in seen:
        seen.add(at)
        yield at
        at = parents[at]


def moved(parents: Iterable[int], found: Mapping[int, int]) -> tuple[int, ...]:
    """The parents, with what is inside a twin inside the execution that is kept."""
    return tuple(found.get(index, parent) for index, parent in enumerate(parents))
