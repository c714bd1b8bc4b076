"""Spans of the SDK's own tracing into trajectories.

Calls are the spans of functions and handoffs. The model's answers are not in the trace, except in `generation`
spans, so a call that never ran does not show.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from rightcall.core.calls import Ingestion, ToolCall, ToolSpec, Trajectory
from rightcall.errors import TraceError
from rightcall.traces import documents, merging, records, shapes
from rightcall.traces.conversation import structured
from rightcall.traces.spans import Group, Span, along, arguments, groups, nanoseconds

_GROUP: Final = "group_id"
_MODELS: Final = frozenset({"generation", "response"})
_CALLS: Final = frozenset({"function", "handoff"})


def is_part(value: Any) -> bool:
    """Whether a value is a span or a trace as the SDK exports them."""
    if not isinstance(value, dict) or value.get("object") not in ("trace", "trace.span"):
        return False
    return value["object"] == "trace" or isinstance(value.get("span_data"), dict)


def trajectories(parts: Iterable[dict[str, Any]]) -> Iterator[Trajectory | TraceError]:
    """The conversations among spans and traces: those of one group belong together."""
    listed = list(parts)
    about = {str(part.get("id")): part for part in listed if part["object"] == "trace"}
    spans = [_span(part, about) for part in listed if part["object"] == "trace.span"]
    for group in groups(spans, (_GROUP,)):
        try:
            yield _trajectory(group, about)
        except TraceError as error:
            yield error
    told = {str(part.get("trace_id")) for part in listed if part["object"] == "trace.span"}
    for identity in about.keys() - told:
        yield Trajectory(id=identity, trace_ids=(identity,), warnings=("the trace has no spans",))


def _span(part: dict[str, Any], about: dict[str, Any]) -> Span:
    trace_id, error = str(part.get("trace_id")), part.get("error")
    group = about.get(trace_id, {}).get(_GROUP)
    return Span(
        trace_id=trace_id,
        span_id=str(part.get("id") or ""),
        parent_id=str(part.get("parent_id") or ""),
        name=str(part["span_data"].get("type")),
        start=nanoseconds(part.get("started_at")),
        end=nanoseconds(part.get("ended_at")),
        attributes={_GROUP: group, "data": part["span_data"], "error": error},
        failed=error is not None,
        message=str(error.get("message") or "") if isinstance(error, dict) else str(error or ""),
    )


def _data(span: Span) -> dict[str, Any]:
    data: dict[str, Any] = span.attributes["data"]
    return data


def _trajectory(group: Group, about: dict[str, Any]) -> Trajectory:
    traces = [about[identity] for identity in group.trace_ids if identity in about]
    known: dict[str, Any] = {
        "id": group.session_id or next(iter(group.trace_ids), ""),
        "conversation_id": group.session_id,
        "trace_ids": group.trace_ids,
        "test_id": next((found["test_id"] for found in map(records.identity, traces) if "test_id" in found), None),
    }
    kinds = {span.name for span in group.spans}
    if not kinds & (_MODELS | _CALLS):
        return Trajectory(**known, warnings=("the trace has neither a span of the model nor one of a tool",))
    calls = _calls(group)
    if too_many := documents.too_many_calls(len(calls), record_id=known["id"] or None):
        raise too_many
    return Trajectory(
        **known,
        tool_calls=calls,
        gaps=tuple(_gaps(group)),
        available_tools=_tools(group),
        ingestion=_ingestion(group, calls),
        warnings=("answers of the model are not in the trace: only calls that ran show",)
        if "response" in kinds
        else (),
    )


def _ingestion(group: Group, calls: tuple[ToolCall, ...]) -> Ingestion:
    """What was read. A span of a handover names no tool, but is that of a call."""
    ran = [span for span in group.spans if span.name in _CALLS]
    shown = {source for call in calls for source in call.sources}
    return Ingestion(
        spans=len(group.spans),
        model_spans=sum(span.name in _MODELS for span in group.spans),
        tool_spans=len(ran),
        understood=sum(map(_is_named, ran)),
        idle=len(group.spans) - len(shown),
        joined=sum(max(0, len(call.sources) - 1) for call in calls),
    )


def _calls(group: Group) -> tuple[ToolCall, ...]:
    models = [
        merging.Model(index, _output(_data(span)))
        for index, span in enumerate(group.spans)
        if span.name == "generation"
    ]
    delegating = _delegating(group)
    runs = [
        _execution(span, index, index in delegating)
        for index, span in enumerate(group.spans)
        if span.name in _CALLS and _is_named(span)
    ]
    merged = merging.merge(group, models, runs)
    return tuple(_placed(group, merged))


def _is_named(span: Span) -> bool:
    return isinstance(_data(span).get("name" if span.name == "function" else "to_agent"), str)


def _output(data: dict[str, Any]) -> tuple[ToolCall, ...]:
    """The calls in what a model put out."""
    output = data.get("output")
    messages = output if isinstance(output, list) else []
    entries = (message.get("tool_calls") for message in messages if isinstance(message, dict))
    return tuple(_asked(entry) for listed in entries if isinstance(listed, list) for entry in listed)


def _asked(entry: Any) -> ToolCall:
    made, _ = shapes.call(entry)
    return msgspec.structs.replace(made, kind="handoff") if made.name.startswith("transfer_to_") else made


def _delegating(group: Group) -> frozenset[int]:
    """The spans of functions inside which an agent runs."""
    around = along(
        group.parents,
        lambda index, above: (index if group.spans[index].name in _CALLS else above[0], above[0]),
        (-1, -1),
    )
    return frozenset(around[index][1] for index, span in enumerate(group.spans) if span.name == "agent")


def _execution(span: Span, index: int, delegates: bool) -> merging.Execution:
    data = _data(span)
    if span.name == "handoff":
        return merging.Execution(
            index=index,
            name=_handoff(str(data["to_agent"])),
            arguments=shapes.Arguments({}),
            status="error" if span.failed else "ok",
            error=_error(span),
            kind="handoff",
        )
    source, about = data.get("input"), data.get("mcp_data")
    return merging.Execution(
        index=index,
        name=data["name"],
        arguments=shapes.Arguments({}) if source == "" else arguments(source, "not_captured"),
        result=structured(data.get("output")),
        status="error" if span.failed else "ok",
        error=_error(span),
        kind="agent" if delegates else "mcp" if about else "client",
        server=shapes.label(about.get("server")) if isinstance(about, dict) else None,
    )


def _handoff(agent: str) -> str:
    """The name that the SDK gives to the tool which hands over to an agent."""
    return "transfer_to_" + re.sub(r"[^a-z0-9_]", "_", agent.lower())


def _error(span: Span) -> str | None:
    """The innermost message of a failed span."""
    if not span.failed:
        return None
    error = span.attributes["error"]
    data = error.get("data") if isinstance(error, dict) else None
    inner = data.get("error") if isinstance(data, dict) else None
    return inner if isinstance(inner, str) else span.message or None


def _placed(group: Group, merged: merging.Merged) -> Iterator[ToolCall]:
    """The calls with their agents, their turns (one trace each) and their messages (one turn of the SDK each)."""
    start: tuple[str, ...] = ()
    paths = along(group.parents, lambda index, above: _agents(group.spans[index], above), start)
    asking = _asking(group)
    messages = {index: number for number, index in enumerate(sorted({asking[shown] for shown in merged.shown}))}
    turns = {identity: number for number, identity in enumerate(group.trace_ids)}
    for call, shown in zip(merged.calls, merged.shown, strict=True):
        path = paths[shown]
        yield msgspec.structs.replace(
            call,
            agent=path[-1] if path else None,
            agent_path=path,
            turn=turns.get(group.spans[shown].trace_id),
            message=messages[asking[shown]],
        )


def _agents(span: Span, above: tuple[str, ...]) -> tuple[str, ...]:
    """The agents around a span, the innermost last; at most fifty are kept."""
    name = _data(span).get("name")
    return (*above, name)[-50:] if span.name == "agent" and isinstance(name, str) else above


def _asking(group: Group) -> list[int]:
    """For each span the one that stands for the message of the model it belongs to.

    That is the turn of the SDK around it, else the last model span before it that has the same parent.
    """
    around = along(group.parents, lambda index, above: index if _is_turn(group.spans[index]) else above, -1)
    latest: dict[int, int] = {}
    found = []
    for index, span in enumerate(group.spans):
        if span.name in _MODELS:
            latest[group.parents[index]] = index
        found.append(around[index] if around[index] >= 0 else latest.get(group.parents[index], index))
    return found


def _is_turn(span: Span) -> bool:
    inner = _data(span).get("data")
    return span.name == "custom" and isinstance(inner, dict) and inner.get("sdk_span_type") == "turn"


def _gaps(group: Group) -> Iterator[str]:
    """Where calls may be missing: a span of the model or of an agent that failed, such as for an unknown tool."""
    for span in group.spans:
        if span.failed and span.name not in _CALLS and span.name != "guardrail":
            yield f"span {span.span_id} failed, and a call may be missing: {span.message[:200]}"
        elif span.name in _CALLS and not _is_named(span):
            yield f"span {span.span_id} runs a tool without saying which"


def _tools(group: Group) -> tuple[ToolSpec, ...]:
    """The tools that agents and servers list, by name."""
    names: dict[str, None] = {}
    for span in group.spans:
        data = _data(span)
        listed = {"agent": data.get("tools"), "mcp_tools": data.get("result")}.get(span.name)
        names |= dict.fromkeys(name for name in listed if isinstance(name, str)) if isinstance(listed, list) else {}
        if span.name == "agent" and isinstance(data.get("handoffs"), list):
            names |= dict.fromkeys(_handoff(name) for name in data["handoffs"] if isinstance(name, str))
    return tuple(ToolSpec(name=name) for name in names)
