"""One conversation of spans, whatever conventions they follow, into one trajectory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rightcall.core.calls import ToolCall, ToolSpec, Trajectory
from rightcall.errors import TraceError
from rightcall.traces import documents, merging, stopping
from rightcall.traces.conventions import ingesting, retold
from rightcall.traces.conventions.model import Around, Asked, Message, Part, plain
from rightcall.traces.conventions.nesting import nested
from rightcall.traces.conversation import joined, structured
from rightcall.traces.merging import Execution
from rightcall.traces.spans import Group, Span, along, child, decoded, root, roots, text

TEST_KEYS: Final = ("rightcall.test_id", "test_id", "case_id")
_TEST_ROOTS: Final = frozenset(map(root, TEST_KEYS))
_METADATA: Final = ("metadata", "langfuse.trace.metadata", "traceloop.association.properties", "ai.telemetry.metadata")
_ATTRIBUTE_LIMIT: Final = 128


class _Asking(msgspec.Struct, frozen=True):
    """A model span, by its index in the group, with what it was given and what it put out."""

    index: int
    span: Span
    part: Asked

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return self.part.calls


def trajectory(group: Group, parts: list[Part | None], gaps: tuple[str, ...] = ()) -> Trajectory | TraceError:
    """The trajectory of one conversation. `parts` are what its spans are; `gaps` are those of the whole file."""
    group = nested(group, parts)
    asking = [_Asking(at, group.spans[at], part) for at, part in enumerate(parts) if isinstance(part, Asked)]
    ran = _ran(parts, asking)
    hiding = ingesting.unread(group, parts, ran)
    if not asking and not ran:
        around = {**_identity(group), "ingestion": ingesting.ingestion(group, parts, hiding=hiding)}
        return _summarised(parts, around, (*gaps, *ingesting.gaps(hiding, ())))
    asking, nameless = _named(asking, bool(ran))
    merged = merging.merge(group, [merging.Model(one.index, one.calls) for one in asking], ran)
    before, told = _continued(group, asking, ran)
    calls = (*before, *_placed(group, parts, asking, merged, len(before), len(told)))
    if too_many := documents.too_many_calls(len(calls), record_id=group.id or None):
        return too_many
    missing = (*ingesting.gaps(hiding, calls), *retold.gaps(_histories(group, parts), calls))
    return Trajectory(
        **_identity(group),
        tool_calls=calls,
        gaps=(*gaps, *_gaps(group, parts, asking, merged), *missing),
        available_tools=_tools(asking),
        messages=_transcript(asking),
        output=_output(asking),
        warnings=(*nameless, *_warnings(asking, len(before))),
        ingestion=ingesting.ingestion(group, parts, ran, calls, hiding),
    )


def _identity(group: Group) -> dict[str, Any]:
    return {
        "id": group.id,
        "conversation_id": group.session_id,
        "trace_ids": group.trace_ids,
        "test_id": _test_id(group),
    }


def _warnings(asking: list[_Asking], before: int) -> Iterator[str]:
    """What is odd in model spans, and how many calls were made before the first."""
    yield from (f"span {one.span.span_id} {odd}" for one in asking for odd in one.part.said.warnings)
    if before:
        yield f"calls that only the history of the first model span shows: {before}"


def _ran(parts: list[Part | None], asking: list[_Asking]) -> list[Execution]:
    """The executions, also those that only their names tell: they are called like something that was asked for.

    They count only where no span is an execution of that name beyond doubt, and never more often than it was asked.
    """
    found = {index: part for index, part in enumerate(parts) if isinstance(part, Execution)}
    names = Counter(call.name for one in asking for call in one.calls)
    known = {run.name for run in found.values()}
    perhaps = {index: run for index, part in enumerate(parts) if isinstance(part, Around) and (run := part.perhaps)}
    counts = Counter(run.name for run in perhaps.values())
    likely = {name for name, count in counts.items() if name not in known and count <= names[name]}
    found |= {
        index: msgspec.structs.replace(run, certain=False) for index, run in perhaps.items() if run.name in likely
    }
    return [msgspec.structs.replace(run, index=index) for index, run in sorted(found.items())]


def _summarised(parts: list[Part | None], around: dict[str, Any], gaps: tuple[str, ...]) -> Trajectory:
    """What a trace tells that holds no model span and no tool span: at most the summary of an agent."""
    summaries = [part.messages for part in parts if isinstance(part, Around) and part.messages]
    if not summaries:
        why = "the trace has neither a model span nor a tool span"
        return Trajectory(**around, gaps=gaps, warnings=(why,))
    told = joined(retold.events(summaries[0]))
    source = "the calls are those that an agent span sums up; the trace has neither a model span nor a tool span"
    return Trajectory(
        **around,
        tool_calls=told.calls,
        gaps=(*gaps, *told.gaps),
        messages=[plain(message) for message in summaries[0]],
        warnings=(source,),
    )


def _test_id(group: Group) -> str | None:
    """The id of a test that a span names, in an attribute of its own or in its metadata."""
    for span in group.spans:
        known = roots(span.attributes)
        found_in = [decoded(child(span.attributes, key)) for key in _METADATA if root(key) in known]
        places = [span.attributes, *found_in] if known & _TEST_ROOTS else found_in
        for key in TEST_KEYS:
            if found := next(filter(None, (text(place, key) for place in places)), None):
                return found
    return None


def _named(asking: list[_Asking], tools_seen: bool) -> tuple[list[_Asking], list[str]]:
    """Without entries that have no name where TOOL spans show the calls: they are fragments of a stream."""
    warnings, kept = [], []
    for one in asking:
        named = tuple(call for call in one.calls if call.name)
        if tools_seen and len(named) < len(one.calls):
            count = len(one.calls) - len(named)
            warnings.append(f"span {one.span.span_id} has {count} calls without a name; they are not read")
            one = msgspec.structs.replace(one, part=msgspec.structs.replace(one.part, calls=named))
        elif len(named) < len(one.calls):
            warnings.append(f"span {one.span.span_id} has a call without a name")
        kept.append(one)
    return kept, warnings


def _continued(
    group: Group, asking: list[_Asking], ran: list[Execution]
) -> tuple[tuple[ToolCall, ...], tuple[Message, ...]]:
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
    history = asking[0].part.said.history
    calls = joined(retold.events(history)).calls
    sources = (f"span {asking[0].span.span_id or asking[0].index}, history",)
    models = tuple(message for message in history if message.role in ("assistant", "model"))
    return tuple(msgspec.structs.replace(call, sources=sources) for call in calls), models


def _placed(
    group: Group, parts: list[Part | None], asking: list[_Asking], merged: merging.Merged, before: int, told: int
) -> Iterator[ToolCall]:
    """The merged calls with what the group knows of them: agents, turns, and results that only history shows."""
    start: tuple[str, ...] = ()
    paths = along(group.parents, lambda index, above: _agents(parts[index], above), start)
    turns, results = _turns(asking), _results(asking)
    ids = Counter(call.id for call in merged.calls)
    calls = retold.completed(merged.calls, merged.shown, [(one.index, one.part.said.history) for one in asking])
    for call, index in zip(calls, merged.shown, strict=True):
        known: dict[str, Any] = {"turn": turns.get(index)}
        if path := paths[index]:
            known |= {"agent": path[-1], "agent_path": path}
        if call.parent is not None:
            known["parent"] = call.parent + before
        if call.message is not None:
            known["message"] = call.message + told
        if call.status == "requested" and call.result is None and call.id in results and ids[call.id] == 1:
            answer = retold.answered(results[call.id])
            known |= {"result": structured(answer.result), "status": answer.status}
        yield msgspec.structs.replace(call, **known)


def _agents(part: Part | None, above: tuple[str, ...]) -> tuple[str, ...]:
    """The agents around a span, the innermost last; at most fifty are kept."""
    if not isinstance(part, Around) or part.agent is None or above[-1:] == (part.agent,):
        return above
    return (*above, part.agent)[-50:]


def _turns(asking: list[_Asking]) -> dict[int, int]:
    """The user turn of each LLM span, from the user messages it was given."""
    counts = {one.index: sum(message.role == "user" for message in one.part.said.history) for one in asking}
    return {index: count - 1 for index, count in counts.items() if count}


def _results(asking: list[_Asking]) -> dict[str | None, Message]:
    """Results by call id, from the tool messages that LLM spans were given; the first one counts."""
    found: dict[str | None, Message] = {}
    for one in asking:
        for message in one.part.said.history:
            if message.tool_call_id and message.role in ("tool", "function", "user"):
                found.setdefault(message.tool_call_id, message)
    return found


def _gaps(group: Group, parts: list[Part | None], asking: list[_Asking], merged: merging.Merged) -> Iterator[str]:
    """Where calls may be missing."""
    following = [*(one.index for one in asking), len(group.spans)][1:]
    for one, next_index in zip(asking, following, strict=True):
        covered = any(index in merged.alone for index in range(one.index, next_index))
        reason = next((reason for reason in one.part.said.reasons if stopping.is_calling(reason)), None)
        if reason and not one.calls and not covered:
            yield f"span {one.span.span_id} finished with `{reason}`, but shows no calls"
        yield from (f"span {one.span.span_id} {gap}" for gap in one.part.said.gaps)
    withheld = [one.span.span_id for one in asking if one.part.withheld and not one.span.failed]
    if withheld and not any(one.part.said.output for one in asking) and not merged.alone:
        yield f"span {withheld[0]} shows nothing of what the model put out: content was not captured"
    for span, part in zip(group.spans, parts, strict=True):
        yield from (f"span {span.span_id} {fault}" for fault in span.faults)
        if isinstance(part, Asked | Execution):
            yield from _lost(span)


def _histories(group: Group, parts: list[Part | None]) -> Iterator[retold.History]:
    """What model spans were given, and what spans around others sum up."""
    for at, (span, part) in enumerate(zip(group.spans, parts, strict=True)):
        if isinstance(part, Asked | Around):
            yield f"span {span.span_id or at}", part.said.history if isinstance(part, Asked) else part.messages


def _lost(span: Span) -> Iterator[str]:
    if span.dropped:
        yield f"span {span.span_id} lost {span.dropped} attributes or events to a limit of the exporter"
    elif len(span.attributes) == _ATTRIBUTE_LIMIT and child(span.attributes, "input.value") is UNSET:
        yield f"span {span.span_id} has exactly {_ATTRIBUTE_LIMIT} attributes: others may have been dropped"


def _tools(asking: list[_Asking]) -> tuple[ToolSpec, ...]:
    """The union of the tools that were offered, each name once."""
    found: dict[str, ToolSpec] = {}
    for one in asking:
        for tool in one.part.tools:
            found.setdefault(tool.name, tool)
    return tuple(found.values())


def _transcript(asking: list[_Asking]) -> list[Any] | None:
    """The messages of the LLM span that was given most, with its answer."""
    longest = max(asking, key=lambda one: len(one.part.said.history), default=None)
    return (
        None
        if longest is None
        else [plain(message) for message in (*longest.part.said.history, *longest.part.said.output)]
    )


def _output(asking: list[_Asking]) -> Any:
    """The text of the last answer, if it asks for no call."""
    last = asking[-1] if asking else None
    if last is None or last.calls or not last.part.said.output:
        return None
    return last.part.said.output[-1].content
