"""OpenInference: spans of kind LLM, TOOL, AGENT, CHAIN in any envelope, grouped into conversations.

Calls are what LLM spans put out; TOOL spans give them results, and are calls themselves where no LLM span shows
them. Input messages are history: they only fill in what precedes everything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from rightcall.traces import heads, spans
from rightcall.traces.openinference import trajectories
from rightcall.traces.openinference.span import LLMSpan, read_llm_span

__all__ = ["LLMSpan", "claims", "read", "read_llm_span"]

_MARKS = (b"openinference.span.kind", b"llm.input_messages", b"llm.output_messages")
_NESTED = b'"openinference"'


def claims(head: bytes) -> bool:
    """Whether the first value is an envelope of spans, and one of its spans follows this convention."""
    if not any(mark in head for mark in _MARKS) and _NESTED not in head:
        return False
    return spans.is_envelope(heads.sketch(head))


def read(chunks: Iterable[bytes], file: str = "-") -> Iterator[Trajectory | TraceError]:
    """Every conversation, by its start. All spans of a file are needed before the first can be told."""
    rejected: list[str] = []
    found = list(spans.read(chunks, rejected))
    for item in trajectories.trajectories(found, tuple(rejected)):
        yield item.within(file=file) if isinstance(item, TraceError) else item
