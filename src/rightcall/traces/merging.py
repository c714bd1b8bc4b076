"""The same call seen by several spans, told once: model outputs, enriched by executions.

The views of a trace never add up. Calls are what model spans put out; executions of tools give them status,
result and times, and are calls of their own where no model span asked for them.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Set
from typing import Any, Final

import msgspec

from rightcall.core.calls import CallKind, CallStatus, ToolCall
from rightcall.traces import shapes, twins
from rightcall.traces.spans import Group, Span, along, rfc3339


class Model(msgspec.Struct, frozen=True):
    """A model span, by its index in the group, and the calls that it put out."""

    index: int
    calls: tuple[ToolCall, ...] = ()


class Execution(msgspec.Struct, frozen=True, kw_only=True):
    """A span that ran a tool, by its index in the group (-1 before it is known).

    One that is not `certain` is only taken for the execution of a call that a model asked for; it is no call itself.
    """

    index: int = -1
    name: str
    arguments: shapes.Arguments
    id: str | None = None
    result: Any = None
    status: CallStatus = "ok"
    error: str | None = None
    kind: CallKind = "client"
    server: str | None = None
    certain: bool = True


class Merged(msgspec.Struct, frozen=True):
    """The calls of a group in order: a call, then what was called inside it.

    `shown` has for each call the index of the span that shows it first: the model span, else the execution.
    `alone` has the executions that no model span asked for.
    """

    calls: tuple[ToolCall, ...]
    shown: tuple[int, ...]
    alone: frozenset[int]


class _Made(msgspec.Struct):
    """A call on its way: who asked for it, who ran it, and where it stands."""

    call: ToolCall
    scope: int
    order: tuple[int, int]
    model: int | None = None
    execution: Execution | None = None


def merge(group: Group, models: Iterable[Model], executions: Iterable[Execution]) -> Merged:
    """The calls of one conversation."""
    models = list(models)
    tree = _once(_Tree(group, models, list(executions)), group, models)
    asked = _asked(tree)
    _join(tree, asked)
    ran = {made.execution.index for made in asked if made.execution is not None}
    left = [execution for index, execution in tree.executions.items() if index not in ran and execution.certain]
    alone = [_ran(tree, execution) for execution in left]
    return _flattened(tree, [*asked, *alone])


class _Tree:
    """A group with its model spans and executions by index, and for each span the nearest of them around it.

    `enclosing` is the nearest execution or model span that shows calls, `scopes` the nearest execution; -1 if there
    is none. A model span without calls, by another instrumentation, hides nothing.
    """

    def __init__(self, group: Group, models: list[Model], executions: list[Execution]) -> None:
        self.spans = group.spans
        self.parents = group.parents
        self.models = {model.index: model for model in sorted(models, key=lambda model: model.index)}
        self.executions = {run.index: run for run in sorted(executions, key=lambda run: run.index)}
        telling = {index for index, model in self.models.items() if model.calls}
        self.enclosing = _around(group, telling | self.executions.keys())
        self.scopes = _around(group, self.executions.keys())


def _around(group: Group, marked: Set[int]) -> list[int]:
    """For each span the nearest marked one that encloses it, -1 if there is none."""
    reach = along(group.parents, lambda index, above: (index if index in marked else above[0], above[0]), (-1, -1))
    return [around for _, around in reach]


def _once(tree: _Tree, group: Group, models: list[Model]) -> _Tree:
    """The tree with each run of a tool once: what another span shows of it again stands in the one that is kept."""
    found = twins.runs_again(group.spans, group.parents, tree.enclosing, tree.executions)
    if not found:
        return tree
    kept = {index: run for index, run in tree.executions.items() if index not in found}
    for index, first in found.items():
        kept[first] = _united(kept[first], tree.executions[index])
    group = msgspec.structs.replace(group, parents=twins.moved(group.parents, found))
    return _Tree(group, models, list(kept.values()))


def _united(one: Execution, other: Execution) -> Execution:
    """Two sights of one run: the first, with arguments, an id and a result from the second where it shows none."""
    known: dict[str, Any] = {}
    if one.arguments.state == "not_captured" and other.arguments.state == "ok":
        known["arguments"] = other.arguments
    if one.result is None and other.result is not None:
        known["result"] = other.result
    if other.kind == "mcp" and one.kind in ("client", "mcp"):
        known |= {"kind": "mcp", "server": one.server or other.server}
    return msgspec.structs.replace(one, **known, id=one.id or other.id, certain=one.certain or other.certain)


def _asked(tree: _Tree) -> list[_Made]:
    """The calls that model spans put out, without spans that repeat or overwrite others."""
    inside: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for index, execution in tree.executions.items():
        inside[tree.enclosing[index]][execution.name] += 1
    made: dict[int, list[_Made]] = {}
    shown_calls = {index: model.calls for index, model in tree.models.items()}
    for index, model in tree.models.items():
        names = Counter(call.name for call in model.calls)
        shown = twins.repeated(tree.spans, tree.parents, tree.enclosing, shown_calls, index)
        if shown is not None:
            made[shown] = list(map(_told, made.get(shown, ()), model.calls))
        elif inside.get(index, names) == names:
            scope = tree.scopes[index]
            made[index] = [_Made(call, scope, (index, number), index) for number, call in enumerate(model.calls)]
    return [one for ones in made.values() for one in ones]


def _told(made: _Made, again: ToolCall) -> _Made:
    """A call with the arguments of another sight of it, where it shows none."""
    if made.call.arguments_state == "not_captured" and again.arguments_state == "ok":
        made.call = msgspec.structs.replace(made.call, arguments=again.arguments, arguments_state="ok")
    return made


def _join(tree: _Tree, asked: list[_Made]) -> None:
    """Give each execution to the call that it ran: by an id that is unique on both sides, else by name."""
    left = _join_by_id(asked, list(tree.executions.values()))
    waiting: defaultdict[tuple[int, str], dict[int, list[_Made]]] = defaultdict(dict)
    for made in asked:
        if made.execution is None and made.model is not None:
            waiting[made.scope, made.call.name].setdefault(made.model, []).append(made)
    for execution in left:
        _join_by_name(tree, waiting[tree.scopes[execution.index], execution.name], execution)


def _join_by_id(asked: list[_Made], executions: list[Execution]) -> list[Execution]:
    """Join what has a unique id and the same name; the executions that are left."""
    ids = Counter(made.call.id for made in asked if made.call.id)
    run_ids = Counter(execution.id for execution in executions if execution.id)
    by_id = {made.call.id: made for made in asked if made.call.id and ids[made.call.id] == 1}
    left = []
    for execution in executions:
        made = by_id.get(execution.id) if execution.id and run_ids[execution.id] == 1 else None
        if made is not None and made.call.name == execution.name:
            made.execution = execution
        else:
            left.append(execution)
    return left


def _join_by_name(tree: _Tree, waiting: dict[int, list[_Made]], execution: Execution) -> None:
    """Join to a call of a model span that began before, the latest first.

    Equal arguments go before other ones, then the order of asking. The search has a limit, so that thousands
    of calls that were never run cannot slow it down.
    """
    before = [model for model in reversed(waiting) if _began_before(tree, model, execution.index)]
    looked = itertools.islice((made for model in before for made in waiting[model]), _LOOK)
    equal = (made for made in looked if _equal(made.call, execution.arguments))
    chosen = next(equal, waiting[before[0]][0] if before else None)
    if chosen is not None and chosen.model is not None:
        chosen.execution = execution
        waiting[chosen.model].remove(chosen)
        if not waiting[chosen.model]:
            del waiting[chosen.model]


_LOOK: Final = 500


def _began_before(tree: _Tree, model: int, execution: int) -> bool:
    """Spans stand in order; nobody knows the place of one without any time among others that have one."""
    asked, ran = tree.spans[model], tree.spans[execution]
    if asked.start is not None and ran.start is not None:
        return asked.start <= ran.start
    return model < execution or _has_time(asked) != _has_time(ran)


def _has_time(span: Span) -> bool:
    return span.start is not None or span.end is not None


def _equal(call: ToolCall, ran: shapes.Arguments) -> bool:
    return call.arguments_state == ran.state == "ok" and call.arguments == ran.value


def _ran(tree: _Tree, execution: Execution) -> _Made:
    """A call that only its execution shows."""
    call = ToolCall(
        name=execution.name,
        arguments=execution.arguments.value,
        arguments_state=execution.arguments.state,
        arguments_text=execution.arguments.text,
        id=execution.id,
    )
    return _Made(call, tree.scopes[execution.index], (execution.index, 0), None, execution)


def _flattened(tree: _Tree, made: list[_Made]) -> Merged:
    """Each call, then the calls made inside its execution, each level in the order of asking."""
    children: dict[int, list[_Made]] = {}
    for one in sorted(made, key=lambda one: one.order):
        children.setdefault(one.scope, []).append(one)
    messages = {model: number for number, model in enumerate(tree.models)}
    calls: list[ToolCall] = []
    shown: list[int] = []
    while children:
        waiting: deque[tuple[_Made, int | None]] = deque((one, None) for one in children.pop(min(children)))
        while waiting:
            one, parent = waiting.popleft()
            inside = children.pop(one.execution.index, []) if one.execution is not None else []
            waiting.extendleft((child, len(calls)) for child in reversed(inside))
            message = None if one.model is None else messages[one.model]
            calls.append(_finished(tree, one, parent, message, bool(inside)))
            shown.append(one.order[0])
    alone = frozenset(one.order[0] for one in made if one.model is None)
    return Merged(tuple(calls), tuple(shown), alone)


def _finished(tree: _Tree, one: _Made, parent: int | None, message: int | None, encloses: bool) -> ToolCall:
    ran = one.execution
    known: dict[str, Any] = {"parent": parent, "message": message, "sources": _sources(tree, one)}
    if encloses and one.call.kind == "client":
        known["kind"] = "agent"
    if ran is not None:
        known |= _run(tree.spans[ran.index], ran)
        if one.call.arguments_state == "not_captured" and ran.arguments.state == "ok":
            known |= {"arguments": ran.arguments.value, "arguments_state": "ok", "arguments_text": None}
        if ran.kind != "client":
            known["kind"] = ran.kind
        if ran.server is not None:
            known["server"] = ran.server
    return msgspec.structs.replace(one.call, **known)


def _run(span: Span, ran: Execution) -> dict[str, Any]:
    """What an execution tells of its call. One that has begun, and of which no end is recorded, need not have ended."""
    goes_on = span.start is not None and span.end is None and ran.result is None
    return {
        "status": "requested" if goes_on and ran.status == "ok" else ran.status,
        "result": ran.result,
        "error": ran.error,
        "started_at": rfc3339(span.start),
        "ended_at": rfc3339(span.end),
    }


def _sources(tree: _Tree, one: _Made) -> tuple[str, ...]:
    indices = [one.model, one.execution.index if one.execution is not None else None]
    return tuple(f"span {tree.spans[index].span_id or index}" for index in indices if index is not None)
