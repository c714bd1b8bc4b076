"""The conventions that spans follow, each a function that says what one span is.

A file may mix conventions, and a span may carry two. So every span is asked for by each of them in the order of
`CONVENTIONS`, and the first that knows it decides. A format of spans is the name of a convention: it decides which
files are detected under that name, and nothing else.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec

from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from rightcall.traces import heads, spans
from rightcall.traces.conventions import (
    differing,
    genai,
    google_adk,
    ingesting,
    logfire,
    observations,
    openinference,
    traceloop,
    unwrapping,
    vercel,
)
from rightcall.traces.conventions.model import Part
from rightcall.traces.conventions.trajectories import trajectory
from rightcall.traces.cutting import Cutting, GroupBy
from rightcall.traces.spans import Group, Grouping, Record, Span, root, roots

SESSION_KEYS: Final = (
    "session.id",
    "langfuse.session.id",
    "gen_ai.conversation.id",
    "gcp.vertex.agent.session_id",
    "mlflow.trace.session",
    "langsmith.metadata.session_id",
    "langsmith.trace.session_id",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.thread_id",
    "ai.telemetry.metadata.sessionId",
)
"""Where spans say which conversation they belong to; the first that a span has counts."""

_ALONE: Final = Cutting()


_ENVELOPES: Final = (b'"batches"', b'"operationName"', b'"trace_id"', b'"spanType"', b'"entityType"')


class Convention(msgspec.Struct, frozen=True, kw_only=True):
    """A convention: what says what a span is, and the bytes that only files of this convention hold.

    `roots` are the first words of the attributes that it knows a span by. `exports` are bytes of exports of a
    product, which may hold the attributes of any other convention.
    """

    read: Callable[[Span], Part | None]
    roots: frozenset[str]
    marks: tuple[bytes, ...] = ()
    exports: tuple[bytes, ...] = ()


CONVENTIONS: Final[dict[str, Convention]] = {
    "openinference": Convention(
        read=openinference.read,
        roots=frozenset({"openinference"}),
        marks=(b"openinference.span.kind", b"llm.input_messages", b"llm.output_messages", b'"openinference"'),
    ),
    "vercel-ai-spans": Convention(read=vercel.read, roots=frozenset({"ai"}), marks=(b"ai.operationId",)),
    "langfuse": Convention(
        read=observations.reader(observations.LANGFUSE),
        roots=frozenset({"langfuse"}),
        marks=(b"langfuse.observation.",),
        exports=(b'"parentObservationId"',),
    ),
    "mlflow": Convention(
        read=observations.reader(observations.MLFLOW), roots=frozenset({"mlflow"}), exports=(b"mlflow.spanType",)
    ),
    "langsmith": Convention(
        read=observations.reader(observations.LANGSMITH),
        roots=frozenset({"langsmith"}),
        marks=(b"langsmith.span.kind",),
        exports=(b'"dotted_order"', b'"child_runs"'),
    ),
    "openllmetry": Convention(
        read=traceloop.read,
        roots=frozenset({"traceloop"}),
        marks=(b"traceloop.", b"llm.request.type", b"gen_ai.completion.0", b"gen_ai.prompt.0"),
    ),
    "google-adk-spans": Convention(read=google_adk.read, roots=frozenset({"gcp"}), marks=(b"gcp.vertex.agent",)),
    "logfire": Convention(
        read=logfire.read, roots=frozenset({"logfire"}), marks=(b"logfire.", b"pydantic_ai.", b"pydantic-ai")
    ),
    "otel-genai": Convention(
        read=genai.read,
        roots=genai.ROOTS,
        marks=(b"gen_ai", b"mcp.method.name", b"resourceSpans", b"resource_spans", *_ENVELOPES),
    ),
}
"""Every convention by the name of its format. Spans and files are given to the first that knows them.

The last also claims files of spans that show no convention in their first bytes.
"""

NAMES: Final = tuple(CONVENTIONS)
"""The names of the formats of spans."""


def claims(name: str, head: bytes) -> bool:
    """Whether a file holds spans, and its first bytes a mark of this convention."""
    return name == _owner(head) and spans.is_envelope(heads.sketch(head))


def _owner(head: bytes) -> str | None:
    """The convention whose marks the bytes hold; those of exports go before all others."""
    for field in ("exports", "marks"):
        for name, convention in CONVENTIONS.items():
            if any(mark in head for mark in getattr(convention, field)):
                return name
    return None


def part(span: Span) -> Part | None:
    """What a span is, by the first convention that knows it; `None` if none does.

    If a model span shows nothing in that convention, another that shows something goes before.
    """
    words = roots(span.attributes).union(root(event.name) for event in span.events)
    readers = [convention.read for convention in CONVENTIONS.values() if not words.isdisjoint(convention.roots)]
    known = [found for read in readers if (found := read(span)) is not None]
    return differing.settled(known) if len(known) > 1 else next(iter(known), None)


def read(chunks: Iterable[bytes], file: str = "-", cut: Cutting = _ALONE) -> Iterator[Trajectory | TraceError]:
    """Every conversation, by its start. All spans of a file are needed before the first can be told."""
    rejected: list[str] = []
    items = trajectories(spans.read(chunks, rejected), rejected, cut)
    first = next(items, None)
    if rejected and first is None:
        raise TraceError(f"no spans were found: {rejected[0]}")
    for item in itertools.chain([] if first is None else [first], items):
        yield item.within(file=file) if isinstance(item, TraceError) else item


def trajectories(
    found: Iterable[Span | Record], gaps: Iterable[str] = (), cut: Cutting = _ALONE
) -> Iterator[Trajectory | TraceError]:
    """Every conversation that spans in any order tell, by its start; or what else `cut` says belongs together.

    `gaps` are those of all, known when all spans were taken. Traces in which nothing is of an agent are beside the
    point.
    """
    groups, left_out = spans.grouped(found, _grouping(cut), _is_of_an_agent)
    gaps = tuple(gaps)
    for number, group in enumerate(groups):
        parts, kept = _parts(group, cut)
        item = trajectory(group, parts, gaps)
        if isinstance(item, Trajectory) and (notes := (*kept, *_notes(group, 0 if number else left_out))):
            item = msgspec.structs.replace(item, warnings=(*item.warnings, *notes))
        yield item


def _parts(group: Group, cut: Cutting) -> tuple[list[Part | None], tuple[str, ...]]:
    """What the spans of a group are, and notes on it."""
    parts = [part(span) for span in group.spans]
    return (parts, ()) if cut.tool_at is None else unwrapping.unwrapped(parts, cut.tool_at)


def _notes(group: Group, left_out: int) -> Iterator[str]:
    if left_out:
        yield f"traces that hold no span of an agent, and are not read: {left_out}"
    torn = sum(bool(span.parent_id) and above < 0 for span, above in zip(group.spans, group.parents, strict=True))
    if torn:
        yield f"spans whose parent is not among those that were read: {torn}; others may be missing too"


def _grouping(cut: Cutting) -> Grouping:
    by = cut.by or GroupBy(kind="conversation")
    if by.kind == "attribute":
        return Grouping(session_keys=(by.key,), keep=cut.keep)
    return Grouping(session_keys=SESSION_KEYS, unit=by.kind, keep=cut.keep)


def _is_of_an_agent(group: Group) -> bool:
    """Whether a convention knows a span of the group, or one looks like that of a tool."""
    known = any(part(span) is not None for span in group.spans)
    return known or any(map(ingesting.looks_like_tool, group.spans))
