"""Spans that tell what a model put out in several places, which need not tell the same (G12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from rightcall.core.calls import ToolCall
from rightcall.traces.conventions.model import Around, Asked, Part


def settled(known: Sequence[Part]) -> Part:
    """What a span is, of what each convention says of it, in their order: the first has the word.

    If it is a model span that shows nothing there, another that shows something goes before. Calls that only others
    show are a gap, and so are they where the first says that the span only stands around others.
    """
    first, others = known[0], [part for part in known[1:] if isinstance(part, Asked)]
    if isinstance(first, Around) and not first.messages:
        told = next((other.said.output for other in others if other.calls), ())
        return msgspec.structs.replace(first, messages=told)
    if not isinstance(first, Asked):
        return first
    if not (first.said.output or first.calls):
        first = next((other for other in others if other.said.output), first)
    lost = gaps(first.calls, (other.calls for other in others))
    said = msgspec.structs.replace(first.said, gaps=(*first.said.gaps, *lost))
    return msgspec.structs.replace(first, said=said)


def gaps(calls: Iterable[ToolCall], others: Iterable[Iterable[ToolCall]]) -> Iterator[str]:
    """A gap for calls that other views of a model span show, and the one that is read does not."""
    names = Counter(call.name for call in calls)
    for other in others:
        missing = Counter(call.name for call in other if call.name) - names
        if missing:
            shown = ", ".join(f"`{name[:60]}`" for name in sorted(missing))
            yield f"shows calls in one place that it does not show in another: {shown}"
        names |= missing
