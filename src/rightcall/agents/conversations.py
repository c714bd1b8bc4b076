"""The spans of one block into conversations. Pure.

What a block holds is one conversation, unless the spans say otherwise: by two session ids, or by a model that is begun
anew just as before. Spans of a block need not share a trace: a program without a span around it writes one trace for
each model call. So a strand, which is a span without a parent in the block and all below it, is what is sorted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from rightcall.core.calls import ToolCall, Trajectory
from rightcall.errors import TraceError
from rightcall.traces import conventions
from rightcall.traces.conventions.model import Around, Asked, Message, Part
from rightcall.traces.merging import Execution
from rightcall.traces.spans import Span, along, text

SESSION_KEY: Final = conventions.SESSION_KEYS[0]
_SPEAKING: Final = ("assistant", "model", "user")
_BEGINNING: Final = ("system", "developer", "user")
_CONTINUING: Final = "previous_response_id"


class _Strand(msgspec.Struct, frozen=True):
    """Spans below one root, by start. `asked` are those that are model calls, and that came to an answer."""

    spans: tuple[Span, ...]
    root: Part | None
    asked: tuple[Asked, ...]

    @property
    def history(self) -> tuple[Message, ...]:
        """What the first model call was given, as far as that was captured."""
        return next((one.said.history for one in self.asked if one.said.history), ())


class _Opening(msgspec.Struct, frozen=True):
    """How a conversation begins: `of` is who begins it, with which instructions and which tools."""

    of: str
    question: tuple[str, ...]
    start: int
    end: int
    scopes: frozenset[str]


class _Conversation(msgspec.Struct):
    """Strands on their way to a trajectory, with every message of the user and of the model in them."""

    strands: list[_Strand] = []
    said: set[str] = set()


def is_call(part: Part | None) -> bool:
    """Whether a span is a call of a model or of a tool."""
    return isinstance(part, Asked | Execution)


def trajectories(
    spans: Sequence[Span], gaps: Sequence[str] = (), conversation_id: str | None = None
) -> tuple[Trajectory, ...]:
    """One trajectory for each conversation, by start; at least one. `conversation_id` says that there is one.

    Calls that were made before the block, which the history of the first model call shows, are none of the block's.
    `TraceError` if there are more calls than the limit.
    """
    strands = _strands(spans)
    told, left = ([strands], []) if conversation_id is not None else _sorted(strands)
    if left:
        names = ", ".join(sorted({f"`{strand.spans[0].name}`" for strand in left}))
        gaps = [*gaps, f"spans that cannot be given to one of {len(told)} conversations: {names}"]
    traces = {f"block {number}": found for number, found in enumerate(told)}
    rooted = [span for name, found in traces.items() for span in _rooted(name, found, conversation_id)]
    made = []
    for item in conventions.trajectories(rooted, tuple(gaps)):
        if isinstance(item, TraceError):
            raise item
        made.append(_of_block(item, [strand for name in item.trace_ids for strand in traces[name]]))
    telling = [item for item in made if item.tool_calls is not None or set(item.gaps).difference(gaps)]
    return tuple(telling or made[:1])


def _strands(spans: Sequence[Span]) -> list[_Strand]:
    """The strands by their start."""
    places = {(span.trace_id, span.span_id): at for at, span in enumerate(spans)}
    parents = [places.get((span.trace_id, span.parent_id), -1) for span in spans]
    below: dict[int, list[Span]] = {}
    for at, root in enumerate(along(parents, lambda index, above: index if above < 0 else above, -1)):
        below.setdefault(root, []).append(spans[at])
    strands = [_strand(found, spans[root]) for root, found in below.items()]
    return sorted(strands, key=lambda strand: strand.spans[0].start or 0)


def _strand(spans: list[Span], root: Span) -> _Strand:
    ordered = sorted(spans, key=lambda span: span.start or 0)
    parts = map(conventions.part, ordered)
    asked = tuple(part for part in parts if isinstance(part, Asked) and (part.said.output or part.calls))
    return _Strand(tuple(ordered), conventions.part(root), asked)


def _sorted(strands: list[_Strand]) -> tuple[list[list[_Strand]], list[_Strand]]:
    """The strands of each conversation, and those that may be of any."""
    found = [_Conversation()]
    begun: list[_Opening] = []
    left: list[_Strand] = []
    for strand in strands:
        opening = _opening(strand)
        if opening is not None and any(_is_anew(opening, other) for other in begun):
            found.append(_Conversation())
            chosen: _Conversation | None = found[-1]
        else:
            chosen = found[0] if len(found) == 1 else _continued(found, strand)
        begun += [opening] if opening is not None else []
        _add(chosen, strand) if chosen is not None else left.append(strand)
    return [one.strands for one in found], left


def _add(conversation: _Conversation, strand: _Strand) -> None:
    conversation.strands.append(strand)
    messages = (message for asked in strand.asked for message in (*asked.said.history, *asked.said.output))
    conversation.said.update(_told(message) for message in messages if message.role in _SPEAKING)


def _continued(found: list[_Conversation], strand: _Strand) -> _Conversation | None:
    """The conversation whose words the strand goes on from; `None` if none stands out."""
    given = {_told(message) for message in strand.history if message.role in _SPEAKING}
    counts = [sum(words in one.said for words in given) for one in found]
    most = max(counts)
    return found[counts.index(most)] if most and counts.count(most) == 1 else None


def _told(message: Message) -> str:
    return repr((message.content or "", [(call.name, call.arguments, call.id) for call in message.calls]))


def _opening(strand: _Strand) -> _Opening | None:
    """How a strand begins a conversation with a model that may call tools; `None` if it begins none.

    Where content is not captured, nothing tells that a conversation begins.
    """
    history = strand.history
    tools = tuple(sorted({tool.name for one in strand.asked for tool in one.tools}))
    may_call = tools or any(one.calls for one in strand.asked)
    if not history or not may_call or any(message.role not in _BEGINNING for message in history):
        return None
    if any(_CONTINUING in words for words in _texts(strand, "llm.invocation_parameters")):
        return None
    agent = strand.root.agent if isinstance(strand.root, Around) else None
    instructions = [_told(message) for message in history if message.role != "user"]
    instructions += [*_texts(strand, "gen_ai.system_instructions")][:1]
    ends = [span.end for span in strand.spans if span.end is not None]
    return _Opening(
        of=repr((agent, instructions, tools)),
        question=tuple(_told(message) for message in history if message.role == "user"),
        start=strand.spans[0].start or 0,
        end=max(ends, default=0),
        scopes=frozenset(span.scope for span in strand.spans),
    )


def _is_anew(one: _Opening, other: _Opening) -> bool:
    """Whether the same is begun twice, and not seen twice at one time by two instrumentations."""
    is_seen_twice = one.question == other.question and one.start < other.end and one.scopes.isdisjoint(other.scopes)
    return one.of == other.of and not is_seen_twice


def _texts(strand: _Strand, key: str) -> Iterator[str]:
    return filter(None, (text(span.attributes, key) for span in strand.spans))


def _rooted(name: str, strands: Sequence[_Strand], conversation_id: str | None) -> Iterator[Span]:
    """The spans in one trace of that name, below one span: the block itself, which counts as no more than a step."""
    spans = [span for strand in strands for span in strand.spans]
    session: dict[str, Any] = {} if conversation_id is None else {SESSION_KEY: conversation_id}
    start = min((span.start for span in spans if span.start is not None), default=None)
    step = {"openinference.span.kind": "CHAIN", **session}
    yield Span(trace_id=name, span_id=name, name="rightcall.capture", start=start, attributes=step)
    known = {span.span_id for span in spans}
    for span in spans:
        parent = span.parent_id if span.parent_id in known else name
        yield msgspec.structs.replace(span, trace_id=name, parent_id=parent)


def _of_block(item: Trajectory, strands: Sequence[_Strand]) -> Trajectory:
    """The trajectory with the traces that its spans really had, and without the calls made before the block."""
    traces = tuple(dict.fromkeys(span.trace_id for strand in strands for span in strand.spans))
    calls = item.tool_calls or ()
    before = sum(map(_is_history, calls))
    told = (f"calls made before the block, which are left out: {before}",) if before else ()
    return msgspec.structs.replace(
        item,
        id=item.conversation_id or (traces[0] if len(traces) == 1 else ""),
        trace_ids=traces,
        tool_calls=None if item.tool_calls is None else tuple(_own(call, before) for call in calls[before:]),
        warnings=(*item.warnings, *told),
    )


def _is_history(call: ToolCall) -> bool:
    return len(call.sources) == 1 and call.sources[0].endswith(", history")


def _own(call: ToolCall, before: int) -> ToolCall:
    """A call of the block, by its place in it."""
    return msgspec.structs.replace(call, parent=None if call.parent is None else call.parent - before)
