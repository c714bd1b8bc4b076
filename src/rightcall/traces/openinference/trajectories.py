"""One conversation of OpenInference spans into one trajectory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rightcall.core.calls import ToolCall, ToolSpec, Trajectory
from rightcall.errors import TraceError, Where
from rightcall.traces import documents, merging
from rightcall.traces.conversation import Answered, Asked, Event, Said, joined, structured
from rightcall.traces.openinference import executions, messages
from rightcall.traces.spans import Group, Span, along, child, decoded, groups, text

SESSION_KEYS: Final = ("session.id",)
TEST_KEYS: Final = ("rightcall.test_id", "test_id", "case_id")
_CALLING: Final = frozenset({"tool_calls", "tool_use", "function_call"})
_ATTRIBUTE_LIMIT: Final = 128


def trajectories(found: Iterable[Span], gaps: tuple[str, ...] = ()) -> Iterator[Trajectory | TraceError]:
    """The trajectories of all conversations among the spans; `gaps` are those of every one of them."""
    for group in groups(found, SESSION_KEYS):
        yield trajectory(group, gaps)


class _Asking(msgspec.Struct, frozen=True):
    """A model span with what it was given and what it put out."""

    index: int
    span: Span
    history: tuple[messages.Message, ...]
    output: tuple[messages.Message, ...]
    calls: tuple[ToolCall, ...]


def trajectory(group: Group, gaps: tuple[str, ...] = ()) -> Trajectory | TraceError:
    """The trajectory of one conversation."""
    asking = [_asking(span, index) for index, span in enumerate(group.spans) if _is(span, "LLM")]
    tools = [(index, span) for index, span in enumerate(group.spans) if _is(span, "TOOL")]
    ran = [run for index, span in tools if (run := executions.execution(span, index)) is not None]
    identity = group.session_id or (group.trace_ids[0] if len(group.trace_ids) == 1 else "")
    around: dict[str, Any] = {
        "id": identity,
        "conversation_id": group.session_id,
        "trace_ids": group.trace_ids,
        "test_id": _test_id(group),
    }
    if not asking and not tools:
        why = "the trace has neither an LLM span nor a TOOL span"
        return Trajectory(**around, gaps=gaps, warnings=(why,))
    asking, warnings = _named(asking, bool(ran))
    merged = merging.merge(group, [merging.Model(one.index, one.calls) for one in asking], ran)
    before, told = _continued(group, asking, ran)
    calls = (*before, *_placed(group, asking, merged, len(before), len(told)))
    if len(calls) > documents.MAX_CALLS:
        limit = f"{len(calls):,} calls are more than the limit of {documents.MAX_CALLS:,}"
        return TraceError(limit, Where(), identity or None)
    if before:
        warnings.append(f"calls that only the history of the first LLM span shows: {len(before)}")
    return Trajectory(
        **around,
        tool_calls=calls,
        gaps=(*gaps, *_gaps(group, asking, merged)),
        available_tools=_tools(asking),
        messages=_transcript(asking),
        output=_output(asking),
        warnings=tuple(warnings),
    )


def _is(span: Span, kind: str) -> bool:
    return messages.kind(span.attributes) == kind


def _test_id(group: Group) -> str | None:
    """The id of a test that a span names, in an attribute of its own or in its metadata."""
    for span in group.spans:
        for key in TEST_KEYS:
            if found := text(span.attributes, key) or text(decoded(child(span.attributes, "metadata")), key):
                return found
    return None


def _asking(span: Span, index: int) -> _Asking:
    output = messages.messages(span.attributes, "output", span.dropped)
    calls = tuple(call for message in output for call in message.calls)
    history = messages.messages(span.attributes, "input", span.dropped)
    return _Asking(index, span, history, output, (*calls, *messages.invalid_calls(span)))


def _named(asking: list[_Asking], tools_seen: bool) -> tuple[list[_Asking], list[str]]:
    """Without entries that have no name where TOOL spans show the calls: they are fragments of a stream."""
    warnings, kept = [], []
    for one in asking:
        named = tuple(call for call in one.calls if call.name)
        if tools_seen and len(named) < len(one.calls):
            count = len(one.calls) - len(named)
            warnings.append(f"span {one.span.span_id} has {count} calls without a name; they are not read")
            one = msgspec.structs.replace(one, calls=named)
        elif len(named) < len(one.calls):
            warnings.append(f"span {one.span.span_id} has a call without a name")
        kept.append(one)
    return kept, warnings


def _continued(
    group: Group, asking: list[_Asking], ran: list[merging.Execution]
) -> tuple[tuple[ToolCall, ...], tuple[messages.Message, ...]]:
    """The calls of a conversation that began elsewhere: those in the history of what comes first.

    The second value is the model messages of that history. A span that encloses what it asked for may have
    been given its own calls in the end, so its history tells nothing.
    """
    if not asking:
        return (), ()
    first = asking[0].index
    below = along(group.parents, lambda index, above: above or index == first, False)
    if any(run.index < first or below[run.index] for run in ran):
        return (), ()
    history = asking[0].history
    calls = joined(_events(history)).calls
    sources = (f"span {asking[0].span.span_id or asking[0].index}, history",)
    models = tuple(message for message in history if message.role in ("assistant", "model"))
    return tuple(msgspec.structs.replace(call, sources=sources) for call in calls), models


def _events(history: Iterable[messages.Message]) -> Iterator[Event]:
    """History as events. Whether a result is a failure is not recorded there, so the status stays open."""
    for message in history:
        if message.role in ("assistant", "model"):
            yield Asked(message.calls)
        elif message.role == "user":
            yield Said()
        elif message.role in ("tool", "function"):
            identity = message.tool_call_id
            yield Answered(id=identity, name=message.name, result=message.content, status="requested")


def _placed(group: Group, asking: list[_Asking], merged: merging.Merged, before: int, told: int) -> Iterator[ToolCall]:
    """The merged calls with what the group knows of them: agents, turns, and results that only history shows."""
    start: tuple[str, ...] = ()
    paths = along(group.parents, lambda index, above: _agents(group.spans[index], above), start)
    turns, results = _turns(asking), _results(asking)
    ids = Counter(call.id for call in merged.calls)
    for call, index in zip(merged.calls, merged.shown, strict=True):
        known: dict[str, Any] = {"turn": turns.get(index)}
        if path := paths[index]:
            known |= {"agent": path[-1], "agent_path": path}
        if call.parent is not None:
            known["parent"] = call.parent + before
        if call.message is not None:
            known["message"] = call.message + told
        if call.status == "requested" and call.id in results and ids[call.id] == 1:
            known["result"] = structured(results[call.id])
        yield msgspec.structs.replace(call, **known)


def _agents(span: Span, above: tuple[str, ...]) -> tuple[str, ...]:
    """The agents around a span, the innermost last; at most fifty are kept."""
    if not _is(span, "AGENT"):
        return above
    name = text(span.attributes, "agent.name") or span.name
    return above if above[-1:] == (name,) else (*above, name)[-50:]


def _turns(asking: list[_Asking]) -> dict[int, int]:
    """The user turn of each LLM span, from the user messages it was given."""
    counts = {one.index: sum(message.role == "user" for message in one.history) for one in asking}
    return {index: count - 1 for index, count in counts.items() if count}


def _results(asking: list[_Asking]) -> dict[str | None, Any]:
    """Results by call id, from the tool messages that LLM spans were given; the first one counts."""
    found: dict[str | None, Any] = {}
    for one in asking:
        for message in one.history:
            if message.tool_call_id and message.role in ("tool", "function", "user"):
                found.setdefault(message.tool_call_id, message.content)
    return found


def _gaps(group: Group, asking: list[_Asking], merged: merging.Merged) -> Iterator[str]:
    """Where calls may be missing."""
    following = [*(one.index for one in asking), len(group.spans)][1:]
    for one, next_index in zip(asking, following, strict=True):
        reason = child(one.span.attributes, "llm.finish_reason")
        covered = any(index in merged.alone for index in range(one.index, next_index))
        if str(reason) in _CALLING and not one.calls and not covered:
            yield f"span {one.span.span_id} finished with `{reason}`, but shows no calls"
    for span in group.spans:
        if messages.kind(span.attributes) in ("LLM", "TOOL"):
            yield from _lost(span)


def _lost(span: Span) -> Iterator[str]:
    if span.dropped:
        yield f"span {span.span_id} lost {span.dropped} attributes to a limit of the exporter"
    elif len(span.attributes) == _ATTRIBUTE_LIMIT and child(span.attributes, "input.value") is UNSET:
        yield f"span {span.span_id} has exactly {_ATTRIBUTE_LIMIT} attributes: others may have been dropped"


def _tools(asking: list[_Asking]) -> tuple[ToolSpec, ...]:
    """The union of the tools that were offered, each name once."""
    found: dict[str, ToolSpec] = {}
    for one in asking:
        for tool in messages.tools(one.span.attributes):
            found.setdefault(tool.name, tool)
    return tuple(found.values())


def _transcript(asking: list[_Asking]) -> list[Any] | None:
    """The messages of the LLM span that was given most, with its answer."""
    longest = max(asking, key=lambda one: len(one.history), default=None)
    return None if longest is None else [messages.plain(message) for message in (*longest.history, *longest.output)]


def _output(asking: list[_Asking]) -> Any:
    """The text of the last answer, if it asks for no call."""
    last = asking[-1] if asking else None
    if last is None or last.calls or not last.output:
        return None
    return last.output[-1].content
