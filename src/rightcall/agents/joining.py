"""From the replies of a conversation to its trajectory. Nothing that was answered is lost, nothing is made up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from rightcall.agents.exchange import Reply, Turn
from rightcall.core.calls import ToolCall, Trajectory

_SILENT = "the agent's reply says nothing of tool calls"
_FAILED = "the agent failed before it told of any"
_WITHOUT = "the agent's reply says that none were recorded"


class Exchange(msgspec.Struct, frozen=True):
    """One turn of the user and the agent's reply to it."""

    turn: Turn
    reply: Reply


def joined(exchanges: Sequence[Exchange]) -> Trajectory:
    """The one trajectory of all replies.

    Calls are those of all turns, in order, each with its turn; indices of calls and of messages go on counting. Where
    no turn tells of calls they are not recorded; where only some do, the others are a gap. Metadata is that of all
    replies, later ones before earlier ones.
    """
    if not exchanges:
        return Trajectory()
    exchanges = _settled(exchanges)
    replies = [exchange.reply for exchange in exchanges]
    parts = [reply.trajectory or Trajectory() for reply in replies]
    named = [reply.conversation_id for reply in replies if reply.conversation_id is not None]
    calls = [reply.calls for reply in replies]
    return Trajectory(
        conversation_id=_as_id(named[-1]) if named else _only(part.conversation_id for part in parts),
        trace_ids=_united(part.trace_ids for part in parts),
        tool_calls=_joined_calls(calls),
        gaps=_united([*(part.gaps for part in parts), tuple(_gaps(calls))]),
        available_tools=tuple({tool.name: tool for part in parts for tool in part.available_tools}.values()),
        messages=[message for exchange in exchanges for message in _messages(exchange)],
        output=_output(replies[-1]),
        failure=_failure(replies),
        trouble=_only(part.trouble for part in parts),
        warnings=tuple(_warnings(replies, calls)),
        metadata={key: value for reply in replies for key, value in _metadata(reply)},
    )


def _settled(exchanges: Sequence[Exchange]) -> Sequence[Exchange]:
    """The same, where nothing captured in a turn is known to be none made: calls of other turns were captured."""
    watched = [exchange.reply for exchange in exchanges if exchange.reply.is_watched]
    if all(reply.calls is None for reply in watched):
        return exchanges
    return [
        replace(exchange, reply=_none_made(exchange.reply)) if exchange.reply.is_watched else exchange
        for exchange in exchanges
    ]


def _none_made(reply: Reply) -> Reply:
    if reply.trajectory is None or reply.trajectory.tool_calls is not None:
        return reply
    return replace(reply, trajectory=replace(reply.trajectory, tool_calls=(), warnings=()))


def _joined_calls(turns: Sequence[tuple[ToolCall, ...] | None]) -> tuple[ToolCall, ...] | None:
    if all(calls is None for calls in turns):
        return None
    made: list[ToolCall] = []
    messages = 0
    for turn, calls in enumerate(turns):
        numbered = [_moved(call, turn, len(made), messages) for call in calls or ()]
        made += numbered
        messages = max([messages, *(call.message + 1 for call in numbered if call.message is not None)])
    return tuple(made)


def _moved(call: ToolCall, turn: int, calls: int, messages: int) -> ToolCall:
    parent = None if call.parent is None else call.parent + calls
    message = None if call.message is None else call.message + messages
    return replace(call, turn=turn, parent=parent, message=message)


def _gaps(turns: Sequence[tuple[ToolCall, ...] | None]) -> Iterator[str]:
    """The turns of which no calls were recorded, where there are others."""
    silent = [str(number) for number, calls in enumerate(turns, 1) if calls is None]
    if silent and len(silent) < len(turns):
        yield f"the calls of turn{'s' if len(silent) > 1 else ''} {', '.join(silent)} were not recorded"


def _messages(exchange: Exchange) -> Iterator[Any]:
    """What was said in one turn. Messages that the agent tells of itself are kept as they are."""
    told = None if exchange.reply.trajectory is None else exchange.reply.trajectory.messages
    first = told[0] if told else None
    if not (isinstance(first, dict) and first.get("role", first.get("type")) in ("user", "human", "system")):
        yield {"role": "user", "content": exchange.turn.input}
    if told:
        yield from told
    elif exchange.reply.failure is None:
        yield {"role": "assistant", "content": exchange.reply.output}


def _output(last: Reply) -> Any:
    if last.failure is not None:
        return None
    return last.output if last.output is not None or last.trajectory is None else last.trajectory.output


def _failure(replies: Sequence[Reply]) -> str | None:
    told = replies[-1].failure
    return told if told is None or len(replies) == 1 else f"in turn {len(replies)}: {told}"


def _warnings(replies: Sequence[Reply], calls: Sequence[tuple[ToolCall, ...] | None]) -> Iterator[str]:
    """What was worth knowing in each turn; why no calls were recorded comes first, if none were."""
    told = [dict.fromkeys((*(reply.trajectory or Trajectory()).warnings, *reply.warnings)) for reply in replies]
    has_said_why = any(reply.trajectory is not None and reply.trajectory.warnings for reply in replies)
    if all(made is None for made in calls) and not has_said_why:
        is_told = any(reply.tool_calls is None for reply in replies)
        yield _FAILED if replies[-1].failure is not None else _WITHOUT if is_told else _SILENT
    for number, warnings in enumerate(told, 1):
        yield from (warning if len(replies) == 1 else f"turn {number}: {warning}" for warning in warnings)


def _metadata(reply: Reply) -> Iterator[tuple[str, Any]]:
    if reply.trajectory is not None:
        yield from reply.trajectory.metadata.items()
    yield from reply.metadata.items()
    if reply.context is not None:
        yield "context", reply.context


def _as_id(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _only(values: Iterable[str | None]) -> str | None:
    """The last value that there is."""
    return next((value for value in reversed(list(values)) if value is not None), None)


def _united(parts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for part in parts for item in part))
