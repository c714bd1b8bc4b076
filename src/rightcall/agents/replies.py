"""What an agent gives back, as a reply: text, an object with `output` and `tool_calls`, or a trace of any known format.

The object has the keys of `Reply`: `output`, `tool_calls`, `conversation_id`, `context`, `metadata`, `error`; every
one may be left out. Anything that is none of all these is the output, and nothing is then known of calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rightcall import traces
from rightcall.agents import looking, reported
from rightcall.agents.captured import Captured
from rightcall.agents.exchange import Reply
from rightcall.core import jsontext
from rightcall.core.calls import Trajectory
from rightcall.core.heard import heard
from rightcall.errors import EndpointError, TraceError, Where, did_you_mean
from rightcall.traces import objects
from rightcall.traces.containers import sse

KEYS: Final = ("output", "tool_calls", "conversation_id", "context", "metadata", "error")
"""The keys of a reply that is an object."""

TEXT: Final = "text"
"""The format of a reply that is text, whatever it looks like."""

_SAYING: Final = frozenset({"output", "tool_calls", "error"})
"""Keys of a reply by which it is known: the others stand in objects of all sorts."""


def of_value(value: Any, format: str | None = None) -> Reply:
    """The reply that a value of a program is; `EndpointError` if it is none."""
    if isinstance(value, Reply):
        return value
    if isinstance(value, Captured):
        value = value.trajectory
    if isinstance(value, Trajectory):
        return of_trajectory(value)
    if value is None or isinstance(value, str | int | float):
        return Reply(output=value)
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return Reply(output="".join(value))
    if format is None and is_object(value):
        return of_object(value)
    try:
        return of_trajectory(traces.read_object(value, format=format))
    except TraceError as error:
        if format is not None:
            raise _unread(error) from error
        return _output(value, error)


def of_trajectory(trajectory: Trajectory) -> Reply:
    """The reply that a trajectory is."""
    return Reply(output=trajectory.output, trajectory=trajectory)


def is_object(value: Any) -> bool:
    """Whether a value is an object with the keys of a reply."""
    return isinstance(value, Mapping) and bool(_SAYING & value.keys()) and value.keys() <= set(KEYS)


def of_object(value: Mapping[str, Any]) -> Reply:
    """The reply that an object with the keys of one is."""
    known = {key: _plain(part, key) for key, part in value.items()}
    metadata = known.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise EndpointError("expected an object", Where(path="metadata"))
    made = Reply(
        output=known.get("output"),
        conversation_id=known.get("conversation_id"),
        context=known.get("context"),
        metadata=metadata or {},
        error=failure(known.get("error")),
    )
    return with_calls(made, reported.read(known["tool_calls"], "tool_calls")) if "tool_calls" in known else made


def with_calls(reply: Reply, found: reported.Reported) -> Reply:
    """The reply with calls that were reported; as a trajectory, if some may be missing or messages tell of more."""
    if not found.gaps and found.messages is None:
        return msgspec.structs.replace(reply, tool_calls=found.calls, warnings=(*reply.warnings, *found.warnings))
    made = Trajectory(
        tool_calls=found.calls,
        gaps=found.gaps,
        messages=found.messages,
        output=reply.output,
        warnings=found.warnings,
    )
    return msgspec.structs.replace(reply, trajectory=made)


def with_gap(reply: Reply, gap: str) -> Reply:
    """The reply, of which calls may be missing; where it tells of no calls, that is only a note."""
    if reply.calls is None:
        return reply.noting(gap)
    around = reply.trajectory or Trajectory(tool_calls=reply.calls, output=reply.output)
    made = msgspec.structs.replace(around, gaps=(*around.gaps, gap))
    return msgspec.structs.replace(reply, trajectory=made, tool_calls=UNSET)


def failure(value: Any) -> str | None:
    """What a reply says of the agent's failure: nothing, if it is null, false or empty."""
    if value is None or value is False or value in ("", [], {}):
        return None
    if isinstance(value, Mapping) and isinstance(value.get("message"), str):
        value = value["message"]
    return value if isinstance(value, str) else jsontext.encode(value).decode()


def _plain(value: Any, path: str) -> Any:
    """The value in JSON types; messages of any library may stand in it."""
    try:
        return objects.plain(value)
    except TraceError as error:
        raise EndpointError(error.message, error.where).within(path=path) from error


_UNREAD: Final = "is not read: no mapping names it; see `rightcall endpoint try`"


def _output(value: Any, error: TraceError) -> Reply:
    """What no format knows is an output, unless it was meant as a reply or is no JSON."""
    plain = _plain(value, "")
    if isinstance(plain, dict) and _SAYING & plain.keys():
        unknown = next(key for key in plain if key not in KEYS)
        raise EndpointError(
            f"a reply has no key `{unknown}`{did_you_mean(unknown, KEYS)}; its keys are {', '.join(KEYS)}",
            Where(path=unknown),
        ) from error
    places = looking.calls(plain)
    return Reply(output=plain, warnings=tuple(f"what looks like calls at `{one.path}` {_UNREAD}" for one in places[:1]))


def _unread(error: TraceError) -> EndpointError:
    return EndpointError(f"the reply cannot be read: {error.message}", error.where)


def of_bytes(data: bytes, format: str | None = None) -> Reply:
    """The reply that bytes are: a trace of a known format, an object of JSON, or else text.

    What begins like JSON must be JSON: half an object is no reply.
    """
    if format == TEXT:
        return Reply(output=_text(data))
    if format is not None or _is_lines(data):
        return of_trace(data, format)
    if data.lstrip()[:1] in (b"{", b"["):
        return of_value(decoded(data))
    return Reply(output=_text(data))


def decoded(data: bytes) -> Any:
    """The JSON that a reply is; `EndpointError` with the place if it is none."""
    try:
        return jsontext.decode(data)
    except jsontext.JSONError as error:
        place = Where(line=error.line, column=error.column)
        raise EndpointError(f"the reply is no whole JSON: {error.message}", place) from None


def _is_lines(data: bytes) -> bool:
    """Whether bytes are a stream of events, or several lines of JSON."""
    if sse.claims(data[:4096]):
        return True
    first, _, rest = data.strip().partition(b"\n")
    return bool(rest) and first[:1] == b"{" and first.rstrip()[-1:] == b"}" and rest.lstrip()[:1] == b"{"


def of_trace(data: bytes, format: str | None = None) -> Reply:
    """The reply that a trace is; `EndpointError` if it is none that can be read."""
    try:
        return of_trajectory(traces.read_object(data, format=format))
    except TraceError as error:
        raise _unread(error) from error


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise EndpointError(f"the reply is neither JSON nor text in UTF-8: byte {error.start + 1} is none") from None


def answer_alone(reply: Reply, format: str | None) -> Reply:
    """The reply of an agent elsewhere, of which nothing is known of calls if it is only what the model said last.

    Many servers answer like a model and keep to themselves what they called. Who says the `format` says that calls are
    reported in it; so does whoever tells the user's message too.
    """
    told = reply.trajectory
    if format is not None or told is None or told.tool_calls != () or not told.messages:
        return reply
    if any(text.speaker == "user" for text in heard(told.messages).texts):
        return reply
    unknown = msgspec.structs.replace(told, tool_calls=None, warnings=(*told.warnings, _ALONE))
    return msgspec.structs.replace(reply, trajectory=unknown)


_ALONE: Final = (
    "an answer alone does not show whether tools were called; if the agent reports its calls in such answers, name the"
    " `format`, or reply with `output` and `tool_calls`"
)
