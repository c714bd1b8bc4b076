"""What the page shows of a conversation: the calls in their order, as the tree that they form, and the messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from rightcall.core.calls import ToolCall, Transcript
from rightcall.core.values import cut
from rightcall.reports.html.longtext import LongText, long_text, long_value, spoken

SHOWN_CALLS: Final = 500
SHOWN_MESSAGES: Final = 500
SHOWN_GAPS: Final = 20
DEEPEST: Final = 6
"""Levels of calls inside calls that are indented; deeper ones stand under the last."""

_NAME: Final = 200
_SPEAKERS: Final = ("role", "type", "kind")
_CONTENTS: Final = ("content", "parts", "text")


class MadeView(msgspec.Struct, frozen=True, kw_only=True):
    """One call: its number from 1, how deep it stands in other calls, what it asked for and what came of it.

    `remarks` are what is not usual: its agent, its kind, who asked for it. `turn` counts from 1.
    """

    number: int
    depth: int
    turn: int | None
    name: str
    status: str
    remarks: tuple[str, ...]
    arguments: LongText
    result: LongText | None
    error: LongText | None


class MessageView(msgspec.Struct, frozen=True):
    """One message: who speaks, what is said, and what else stands in it as JSON."""

    speaker: str
    content: LongText | None
    rest: LongText | None


class TranscriptView(msgspec.Struct, frozen=True, kw_only=True):
    """The calls and messages, `None` where none were recorded, with how many were left out."""

    calls: tuple[MadeView, ...] | None
    calls_left_out: int
    messages: tuple[MessageView, ...] | None
    messages_left_out: int
    gaps: tuple[LongText, ...]


def transcript_view(transcript: Transcript) -> TranscriptView:
    """What is shown of a conversation."""
    calls, messages = transcript.calls, transcript.messages
    return TranscriptView(
        calls=None if calls is None else tuple(_made(calls[:SHOWN_CALLS])),
        calls_left_out=max(0, len(calls or ()) - SHOWN_CALLS),
        messages=None if messages is None else tuple(map(_message, messages[:SHOWN_MESSAGES])),
        messages_left_out=max(0, len(messages or ()) - SHOWN_MESSAGES),
        gaps=tuple(map(long_text, transcript.gaps[:SHOWN_GAPS])),
    )


def _made(calls: Sequence[ToolCall]) -> Iterator[MadeView]:
    depths: list[int] = []
    for index, call in enumerate(calls):
        is_inside = call.parent is not None and 0 <= call.parent < index
        depths.append(min(depths[call.parent] + 1, DEEPEST) if is_inside and call.parent is not None else 0)
        yield MadeView(
            number=index + 1,
            depth=depths[index],
            turn=None if call.turn is None else call.turn + 1,
            name=cut(call.name, _NAME),
            status=call.status,
            remarks=tuple(_remarks(call)),
            arguments=_arguments(call),
            result=None if call.result is None else spoken(call.result),
            error=long_text(call.error) if call.error else None,
        )


def _arguments(call: ToolCall) -> LongText:
    if call.arguments_state == "ok":
        return long_value(call.arguments)
    kept = "" if call.arguments_text is None else f": {call.arguments_text}"
    return long_text(f"{call.arguments_state.replace('_', ' ')}{kept}")


def _remarks(call: ToolCall) -> Iterator[str]:
    if call.kind != "client":
        yield cut(f"{call.kind} {call.server}" if call.server else call.kind, _NAME)
    if call.requestor != "assistant":
        yield f"by the {call.requestor}"
    if call.agent:
        yield cut(f"agent {' > '.join(call.agent_path) or call.agent}", _NAME)


def _message(message: Any) -> MessageView:
    if not isinstance(message, dict):
        return MessageView("", spoken(message), None)
    speaker = next((key for key in _SPEAKERS if isinstance(message.get(key), str)), None)
    content = next((key for key in _CONTENTS if message.get(key) is not None), None)
    rest = {key: value for key, value in message.items() if key not in (speaker, content) and value is not None}
    return MessageView(
        cut(message[speaker], _NAME) if speaker else "",
        spoken(_text(message[content])) if content else None,
        long_value(rest) if rest else None,
    )


def _text(content: Any) -> Any:
    """The text of parts that are nothing but text; any other content as it is."""
    parts = content if isinstance(content, list) else [content]
    texts = [text for text in map(_text_of, parts) if text is not None]
    return "\n\n".join(texts) if texts and len(texts) == len(parts) else content


def _text_of(part: Any) -> str | None:
    text = part.get("text") if isinstance(part, dict) and part.keys() <= {"type", "text"} else part
    return text if isinstance(text, str) else None
