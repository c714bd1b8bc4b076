"""Bodies of replies: one value of JSON, a stream of events, lines of JSON, or text; read as they come.

With a mapping each value is read by it, and they are put together. Without one the whole is an object with the keys of
a reply, or a trace of any known format, assembled by its reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from rightcall import traces
from rightcall.agents import gathering, mapping, replies, templates
from rightcall.agents.configuring import Watch
from rightcall.agents.events import DONE, Event, Events, Lines, Parts
from rightcall.agents.exchange import Reply
from rightcall.agents.secrets import Secrets
from rightcall.core import jsontext
from rightcall.core.values import display
from rightcall.errors import EndpointError, TestSetError, UsageError
from rightcall.testsets.marks import child

_EVENTS: Final = "text/event-stream"
_LINES: Final = frozenset(
    {
        "application/x-ndjson",
        "application/ndjson",
        "application/jsonl",
        "application/x-jsonlines",
        "application/json-seq",
    }
)


_PERHAPS_CUT: Final = (
    "nothing says that the stream had come to its end: it has no length, no `[DONE]` and nothing that `done` is about"
)


class Reading(msgspec.Struct, frozen=True):
    """How a reply is read: by mappings, those of named events beside the one for all others, or as a format."""

    mapper: mapping.Mapper | None = None
    named: dict[str, mapping.Mapper] = {}
    done: mapping.Find | None = None
    format: str | None = None

    @property
    def is_mapped(self) -> bool:
        """Whether a mapping reads the reply."""
        return self.mapper is not None or bool(self.named)

    def part(self, event: Event, value: Any, variables: templates.Variables) -> mapping.Mapped:
        """What the mapping for an event finds in it; nothing where no mapping is for it."""
        mapper = self.named.get(event.name, self.mapper)
        return mapping.Mapped(reply=value) if mapper is None else mapper.mapped(value, variables)

    def is_last(self, value: Any, variables: templates.Variables) -> bool:
        """Whether a message is one that ends the reply; one that has nothing of what is asked does not."""
        if self.done is None:
            return False
        try:
            found = self.done(value, variables)
        except templates.FindsNothingError:
            return False
        return any(item not in (None, False) for _, item in found.items)


def reading(
    response: mapping.Response | UnsetType,
    events: dict[str, mapping.Response],
    done: str | UnsetType,
    format: str | None,
    path: str,
) -> Reading:
    """How a reply is read, ready; `TestSetError` with the place of what cannot be used."""
    if format is not None and (response is not UNSET or events):
        message = "`format` is for replies that no mapping reads; leave it or the mapping out"
        raise TestSetError(message).within(path=child(path, "format"))
    if format not in (None, replies.TEXT):
        _check_format(format, child(path, "format"))
    return Reading(
        mapper=None if response is UNSET else mapping.compiled(response, child(path, "response")),
        named={name: mapping.compiled(one, child(child(path, "events"), name)) for name, one in events.items()},
        done=None if done is UNSET else mapping.expression(done, child(path, "done")),
        format=format,
    )


def _check_format(format: str | None, path: str) -> None:
    try:
        traces.find(str(format))
    except UsageError as error:
        raise TestSetError(error.message).within(path=path) from None


class Stream:
    """One reply while it comes in."""

    def __init__(self, how: Reading, headers: Mapping[str, str], secrets: Secrets) -> None:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        self._how = how
        self._is_delimited = "content-length" in headers or "transfer-encoding" in headers
        self._kind = kind
        self._secrets = secrets
        self._bytes = bytearray()
        self._events: Parts | None = Events() if kind == _EVENTS else Lines() if kind in _LINES else None
        self._found: list[Event] = []
        self._ended = False

    @property
    def text(self) -> str:
        """All that came so far, without secrets."""
        return self._secrets.hide(bytes(self._bytes).decode("utf-8", "replace"))

    def feed(self, chunk: bytes) -> bool:
        """Take what came; whether the reply has ended with it, whatever may still come."""
        self._bytes += chunk
        if self._events is not None:
            self._take(self._events.feed(chunk))
        return self._ended

    def _take(self, events: list[Event]) -> None:
        for event in events:
            if self._ended:
                return
            if event.data == DONE:
                self._ended = True
                return
            self._found.append(event)
            self._ended = self._how.done is not None and self._how.is_last(value(event.data), {})

    def reply(self, variables: templates.Variables, watch: Watch | None) -> Reply:
        """The reply that came; `EndpointError` if what came is none."""
        data = self._secrets.hide_bytes(bytes(self._bytes))
        if not data.strip():
            raise EndpointError("the reply is empty")
        if self._events is not None:
            self._take(self._events.end())
            return self._streamed(self._found, variables, watch)
        self._check_kind(data)
        if not self._how.is_mapped:
            is_json, how = self._is_json(), self._how.format
            found = replies.of_value(replies.decoded(data)) if is_json else replies.of_bytes(data, how)
            return replies.answer_alone(found, how)
        return mapped([self._how.part(Event(), replies.decoded(data), variables)], watch)

    def _streamed(self, events: list[Event], variables: templates.Variables, watch: Watch | None) -> Reply:
        if self._how.done is not None and not self._is_done(events, variables):
            raise EndpointError("the stream ended before what `done` says is its end", is_passing=True)
        shown = [msgspec.structs.replace(one, data=self._secrets.hide(one.data)) for one in events]
        reply = together(self._how, shown, variables, watch)
        return reply if self._is_delimited or self._ended else replies.with_gap(reply, _PERHAPS_CUT)

    def _is_done(self, events: list[Event], variables: templates.Variables) -> bool:
        return self._ended or any(self._how.is_last(value(event.data), variables) for event in events)

    def _is_json(self) -> bool:
        return self._how.format is None and (self._kind == "application/json" or self._kind.endswith("+json"))

    def _check_kind(self, data: bytes) -> None:
        """Refuse a body that says of itself that it is something else, such as a page for people."""
        kind = self._kind
        if kind in ("", "application/json", "text/plain", "text/json", "application/octet-stream"):
            return
        if not kind.endswith("+json"):
            text = display(data[:200].decode("utf-8", "replace").strip(), 100)
            raise EndpointError(f"expected JSON or a stream of events, found the content type `{kind}`: {text}")


def together(how: Reading, events: list[Event], variables: templates.Variables, watch: Watch | None) -> Reply:
    """The reply that several messages are."""
    values = [value(event.data) for event in events]
    if how.is_mapped:
        return mapped([how.part(event, one, variables) for event, one in zip(events, values, strict=True)], watch)
    if how.format is None and all(map(replies.is_object, values)):
        return mapped([gathering.as_it_is(one) for one in values], watch)
    if how.format == replies.TEXT or not any(isinstance(one, dict | list) for one in values):
        return Reply(output="".join(event.data for event in events))
    if len(values) == 1:
        return replies.answer_alone(replies.of_value(values[0], how.format), how.format)
    found = replies.of_trace(b"\n".join(jsontext.encode(one) for one in values), how.format)
    return replies.answer_alone(found, how.format)


def value(text: str) -> Any:
    """The object, list or text that a message writes as JSON; all else is words, as they are.

    `EndpointError` for half an object.
    """
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return text
    try:
        return jsontext.decode(text)
    except jsontext.JSONError as error:
        if text.lstrip().startswith('"'):
            return text
        raise EndpointError(f"a message is no whole JSON: {error.message}: {display(text, 60)}") from None


def mapped(parts: list[mapping.Mapped], watch: Watch | None) -> Reply:
    """The reply of mapped parts, which are shown to who watches."""
    if watch is not None:
        for name, found in [item for part in parts for item in part.fields.items()]:
            watch.came(f"mapped {name}", found.value)
    return gathering.reply(parts)
