"""What was read of one conversation of spans: how much, and what looks like a tool's span but told of no call."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from rightcall.core.calls import MOST_NAMES, Ingestion, ToolCall
from rightcall.core.wording import amount, listed
from rightcall.traces import merging
from rightcall.traces.conventions.model import Around, Asked, Message, Part
from rightcall.traces.merging import Execution
from rightcall.traces.spans import Group, Span

_BEGINNING: Final = r"(?:(?:execute|call|run|invoke|running)[ _]tool|tools/call|tool(?:[ _]call)?)"
_LABEL: Final = re.compile(_BEGINNING + r"(?:[\s.:/]|$)", re.IGNORECASE)
_NAMING_LABEL: Final = re.compile(_BEGINNING + r"[\s.:/]+['\"`]?\w", re.IGNORECASE)
_KEY: Final = re.compile(r"(?:^|[._])tool(?:_call)?[._](?:name|id|args|arguments|input|output|result|parameters)$")
_NAME_KEY: Final = re.compile(r"(?:^|[._])tool[._]name$")
_KIND_KEY: Final = re.compile(r"(?:^|[._])(?:kind|type|category|operation|operation\.name)$")
_KINDS: Final = frozenset(
    {"tool", "toolcall", "tooluse", "toolexecution", "executetool", "mcptoolcall", "functioncall"}
)
_LONGEST_KIND: Final = 20
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORDS: Final = re.compile(r"[\w-]+")
_DEPTH: Final = 3
_SHOWN: Final = 5


def looks_like_tool(span: Span, part: Part | None = None) -> bool:
    """Whether a span that tells of no call says by its label, a kind or its keys that it is a tool's.

    One that a convention knows as something else must be labelled with the name of the tool.
    """
    label = _LABEL if part is None else _NAMING_LABEL
    return bool(label.match(span.name)) or any(_says_tool(key, value) for key, value in _leaves(span.attributes))


def _says_tool(key: str, value: Any) -> bool:
    if "tool" in key.lower() and _KEY.search(_snake(key)):
        return True
    return isinstance(value, str) and _is_kind(value) and bool(_KIND_KEY.search(_snake(key)))


def _snake(key: str) -> str:
    return _HUMP.sub("_", key).lower()


def _is_kind(value: str) -> bool:
    """Whether a value is the word for a tool's span; long texts are not looked through."""
    return len(value) < _LONGEST_KIND and _plain(value) in _KINDS


def _plain(word: str) -> str:
    return word.replace("_", "").replace("-", "").replace(" ", "").lower()


def _leaves(attributes: dict[str, Any], path: str = "", depth: int = _DEPTH) -> Iterator[tuple[str, Any]]:
    """The values of attributes with their paths; what is nested deeper than any convention nests is no attribute."""
    for key, value in attributes.items():
        if isinstance(value, dict) and depth:
            yield from _leaves(value, f"{path}{key}.", depth - 1)
        else:
            yield f"{path}{key}", value


def unread(group: Group, parts: Sequence[Part | None], ran: Iterable[Execution]) -> list[Span]:
    """The spans that look like a tool's, but from which no execution is read."""
    known = {run.index for run in ran}
    return [
        span
        for index, (span, part) in enumerate(zip(group.spans, parts, strict=True))
        if index not in known and (part is None or (isinstance(part, Around) and not part.phantom))
        if looks_like_tool(span, part)
    ]


def gaps(spans: Iterable[Span], calls: Iterable[ToolCall]) -> Iterator[str]:
    """The gap that unread spans of tools leave, unless each may be another sight of a call that was read (G12).

    A span is one of a call if it names it, and no more spans than there are calls of that name.
    """
    left = Counter(call.name for call in calls)
    hiding = []
    for span in spans:
        name = next((name for name in _named(span) if left[name]), None)
        if name is None:
            hiding.append(span.name or f"span {span.span_id}")
        else:
            left[name] -= 1
    if hiding:
        names = [f"`{name}`" for name in dict.fromkeys(hiding)]
        more = [f"{len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
        said = "looks like that of a tool" if len(hiding) == 1 else "look like those of tools"
        told = listed([*names[:_SHOWN], *more])
        them = "it" if len(hiding) == 1 else "them"
        yield f"{amount(len(hiding), 'span')} {said}, but no call is read from {them}: {told}"


def _named(span: Span) -> list[str]:
    """What may be the name of the tool: what an attribute or the label gives as one, else any word or text.

    Other texts of a span that names its tool may speak of other tools.
    """
    if told := [value for key, value in _leaves(span.attributes) if _NAME_KEY.search(_snake(key))]:
        return [name for name in told if isinstance(name, str)]
    if found := _NAMING_LABEL.match(span.name):
        rest = span.name[found.end() - 1 :]
        return [rest.strip("'\"`"), _WORDS.findall(rest)[0]]
    return [span.name, *_WORDS.findall(span.name), *_texts(span)]


def _texts(span: Span) -> list[str]:
    return [value for _, value in _leaves(span.attributes) if isinstance(value, str)]


def ingestion(
    group: Group,
    parts: Sequence[Part | None],
    ran: Sequence[Execution] = (),
    calls: Sequence[ToolCall] = (),
    hiding: Sequence[Span] = (),
) -> Ingestion:
    """What was read. `ran` are the spans that are executions, `hiding` those that look so."""
    asking = [part for part in parts if isinstance(part, Asked)]
    unknown = [span.name for span, part in zip(group.spans, parts, strict=True) if part is None]
    shown = {source.partition(",")[0] for call in calls for source in call.sources}
    repeated = sum(len(message.calls) for part in asking for message in part.said.history)
    sightings = sum(len(part.calls) for part in asking) + len(ran) + repeated
    return Ingestion(
        spans=len(group.spans),
        model_spans=len(asking),
        tool_spans=len(ran) + len(hiding),
        understood=len(ran),
        idle=len(group.spans) - len(shown),
        joined=max(0, sightings - len(calls)),
        unknown_spans=len(unknown),
        unknown=_names(unknown),
        unread=_names(span.name for span in hiding),
        labels=_names(_labels(group, ran, asking)),
        content_off=bool(asking or ran) and not any(map(_has_content, asking)) and not any(map(_shows, ran)),
    )


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if name})[:MOST_NAMES])


def _labels(group: Group, ran: Iterable[Execution], asking: Iterable[Asked]) -> Iterator[str]:
    """The names that only the label of a span gives to a call that no model span asks for."""
    asked = {call.name for part in asking for call in part.calls}
    for run in ran:
        span = group.spans[run.index]
        if run.name not in asked and run.name in span.name and run.name not in _texts(span):
            yield run.name


def _has_content(part: Asked) -> bool:
    said = (*part.said.history, *part.said.output)
    return any(map(_is_told, said)) or any(call.arguments_state != "not_captured" for call in part.calls)


def _is_told(message: Message) -> bool:
    return message.content not in (None, "") or any(call.arguments_state != "not_captured" for call in message.calls)


def _shows(run: merging.Execution) -> bool:
    return run.arguments.state != "not_captured" or run.arguments.text is not None or run.result is not None
