"""A conversation as markup: collapsed, the calls in their order, then the messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rightcall.core.wording import amount
from rightcall.reports.html.markup import NOTHING, Html, join, tag
from rightcall.reports.html.pieces import left_out, long
from rightcall.reports.html.transcript import MadeView, MessageView, TranscriptView


def conversation(view: TranscriptView) -> Html:
    """Calls, messages and what may be missing."""
    return join([_gaps(view), _calls(view), _messages(view)])


def _gaps(view: TranscriptView) -> Html:
    gaps = [tag("li", long(gap)) for gap in view.gaps]
    return tag("div", tag("strong", "Calls may be missing"), tag("ul", *gaps), class_="notes") if gaps else NOTHING


def _calls(view: TranscriptView) -> Html:
    if not view.calls:
        return NOTHING
    number = len(view.calls) + view.calls_left_out
    shown = tag("div", join(_by_turns(view.calls)), class_="calls", role="list")
    return _collapsed(f"Transcript: {amount(number, 'call')}", shown, left_out(view.calls_left_out, "call"))


def _by_turns(calls: Sequence[MadeView]) -> Iterator[Html]:
    has_turns = len({call.turn for call in calls}) > 1
    turn = None
    for call in calls:
        started = call.turn if has_turns and call.turn != turn and not call.depth else None
        turn = call.turn if not call.depth else turn
        yield _call(call, f"turn {started}" if started is not None else "")


def _call(view: MadeView, turn: str) -> Html:
    remarks = ", ".join((view.status, *view.remarks))
    title = tag("p", tag("span", f"{view.number} ", class_="number"), tag("code", view.name or '""'), " ")
    return tag(
        "div",
        tag("p", turn, class_="turn") if turn else NOTHING,
        title,
        tag("small", remarks),
        tag("div", tag("span", "arguments ", class_="of"), long(view.arguments)),
        tag("div", tag("span", "result ", class_="of"), long(view.result)) if view.result is not None else NOTHING,
        tag("div", tag("span", "error ", class_="of"), long(view.error)) if view.error is not None else NOTHING,
        class_=f"call depth-{view.depth}",
        role="listitem",
    )


def _messages(view: TranscriptView) -> Html:
    if not view.messages:
        return NOTHING
    number = len(view.messages) + view.messages_left_out
    shown = tag("ol", join(map(_message, view.messages)), class_="messages")
    return _collapsed(f"Transcript: {amount(number, 'message')}", shown, left_out(view.messages_left_out, "message"))


def _message(view: MessageView) -> Html:
    return tag(
        "li",
        tag("strong", view.speaker or "message"),
        tag("div", long(view.content)) if view.content is not None else NOTHING,
        tag("div", tag("span", "beside it ", class_="of"), long(view.rest)) if view.rest is not None else NOTHING,
    )


def _collapsed(title: str, *content: Html) -> Html:
    return tag("details", tag("summary", title), *content, class_="transcript")
