"""What a block of `rightcall.capture()` recorded: a trajectory, read whenever it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from rightcall.agents import conversations
from rightcall.agents.described import UNWRITTEN
from rightcall.agents.recording import Recording
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from rightcall.traces import conventions
from rightcall.traces.spans import Span, logs, readable

NOTHING: Final = (
    "no model call and no tool call was traced in the block; install and activate an instrumentation of the model's"
    " client or of the framework, such as `openinference-instrumentation-openai`, or decorate the tools with"
    " `@rightcall.tool`; that none of those was called shows only where the model's calls are traced too, or the agent"
    " returns its `tool_calls`"
)


class Captured:
    """The calls of one block. Goes wherever a trajectory goes, and has the fields of a `Trajectory`.

    Inside the block it shows what happened so far; when the block has ended it does not change any more. Where the
    block holds several conversations, `trajectory` and its fields raise `TraceError`; `trajectories` has each.
    """

    def __init__(self, recording: Recording, conversation_id: str | None, gaps: Sequence[str] = ()) -> None:
        self._recording: Recording | None = recording
        self._conversation_id = conversation_id
        self._gaps = tuple(gaps)
        self._kept: tuple[Trajectory, ...] | TraceError = ()

    @property
    def trajectories(self) -> tuple[Trajectory, ...]:
        """Each conversation of the block, by start; at least one. `TraceError` if it holds too many calls."""
        found = self._kept if self._recording is None else self._read(self._recording)
        if isinstance(found, TraceError):
            raise found
        return found

    @property
    def trajectory(self) -> Trajectory:
        """The conversation of the block; `TraceError` if it holds several."""
        found = self.trajectories
        if len(found) > 1:
            names = ", ".join(f"`{one.conversation_id or one.id or 'no id'}`" for one in found)
            raise TraceError(f"the block holds {len(found)} conversations ({names}); {_ONE}")
        return found[0]

    def keep(self, ended: str | None = None) -> None:
        """The block has ended: what was recorded is read, and the spans are let go. `ended` says with what error."""
        if self._recording is None:
            return
        try:
            found = self._read(self._recording)
        except TraceError as error:
            self._kept = error
        else:
            told = () if ended is None else (f"the block ended with {ended}",)
            self._kept = tuple(msgspec.structs.replace(one, warnings=(*one.warnings, *told)) for one in found)
        self._recording = None

    def _read(self, recording: Recording) -> tuple[Trajectory, ...]:
        held = [readable.span(span) for span in list(recording.spans.values())]
        spans = logs.joined([*held, *map(readable.record, list(recording.records))])
        strayed = [span for span in map(readable.span, list(recording.strays)) if _is_call(span)]
        elsewhere = (_ELSEWHERE,) if recording.is_elsewhere else ()
        gaps = (*self._gaps, *_unfinished(spans), *_strayed(strayed), *elsewhere)
        found = conversations.trajectories(spans, gaps, self._conversation_id)
        notes = tuple(_unwritten(spans))
        return tuple(_explained(one, gaps, notes) for one in found)

    def __getattr__(self, name: str) -> Any:
        if name not in Trajectory.__struct_fields__:
            raise AttributeError(f"`{type(self).__name__}` has no attribute `{name}`")
        return getattr(self.trajectory, name)

    def __repr__(self) -> str:
        state = "ended" if self._recording is None else "open"
        return f"<Captured, {state}>"


_ONE: Final = (
    "grade each of `.trajectories`, use a `capture()` for each, or, if they are one, name it:"
    " `capture(conversation_id=…)`"
)


def _is_call(span: Span) -> bool:
    return conversations.is_call(conventions.part(span))


def _unfinished(spans: Sequence[Span]) -> Iterator[str]:
    """The gap that spans leave which may still go on to call something: those of agents, and what is around them."""
    parents = {span.span_id: span.parent_id for span in spans}
    around: set[str] = set()
    for span in spans:
        at = span.span_id if conventions.part(span) is not None else ""
        while at in parents and at not in around:
            around.add(at)
            at = parents[at]
    names = [span.name for span in spans if span.end is None and span.span_id in around]
    if names:
        yield f"spans that had not ended when the block was read: {_listed(names)}"


def _strayed(spans: Sequence[Span]) -> Iterator[str]:
    if spans:
        names = _listed(span.name for span in spans)
        yield f"spans that began outside of any block while this one was open, and may be of it: {names}; {_CARRY}"


_CARRY: Final = "let the thread that they began in take the context along, with `contextvars.copy_context().run(…)`"


_ELSEWHERE: Final = "spans began in another process, which was forked inside the block: what it called is not captured"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names))


def _unwritten(spans: Sequence[Span]) -> Iterator[str]:
    """Why `@rightcall.tool` could not write arguments."""
    for span in spans:
        if UNWRITTEN in span.attributes:
            yield f"the arguments of `{span.name}` are not captured: {span.attributes[UNWRITTEN]}"


def _explained(one: Trajectory, gaps: Sequence[str], notes: Sequence[str]) -> Trajectory:
    """The trajectory, with the reason where nothing was recorded: what is known to miss, else what to install."""
    reason = () if one.tool_calls is not None else ("; ".join(gaps) or NOTHING,)
    return msgspec.structs.replace(one, warnings=(*reason, *one.warnings, *notes))
