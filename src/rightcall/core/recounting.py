"""What is recorded of a conversation, as whoever judges it reads it: messages, calls with what came of them, answer."""

from __future__ import annotations

from typing import Any, Final

from rightcall.core import jsontext
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.counting import Count, Scope, numbered
from rightcall.core.judging import CannotJudge
from rightcall.core.scoping import final_text, turns

MOST_BYTES: Final = 400_000
"""Of what is recorded, as JSON, that a judge is given; more is an error, for a part would not be the whole."""

NOT_RECORDED: Final = "not recorded"


def transcript(trajectory: Trajectory, count: Count, scope: Scope | None = None) -> dict[str, Any]:
    """The conversation, or what is recorded of one turn or one agent of it.

    `CannotJudge` if neither messages nor an answer are recorded, if those of a turn cannot be told, or if it is too
    long.
    """
    made: Any = NOT_RECORDED
    if trajectory.tool_calls is not None:
        made = list(map(_made, numbered(trajectory.tool_calls, count)))
    return fitting({**said(trajectory, None if scope is None else scope.turn), "tool_calls": made})


def said(trajectory: Trajectory, turn: int | None) -> dict[str, Any]:
    """The messages and the final answer; or those of one turn, and the messages before it."""
    if turn is not None:
        return _said_in(turn, trajectory.messages or [])
    answer = final_text(trajectory)
    if not trajectory.messages and answer is None:
        raise CannotJudge("no_transcript", "Neither messages nor a final answer were recorded.")
    messages: Any = trajectory.messages or NOT_RECORDED
    return {"messages": messages, "final_answer": NOT_RECORDED if answer is None else answer}


def _said_in(turn: int, messages: list[Any]) -> dict[str, Any]:
    placed = list(zip(turns(messages), messages, strict=True))
    own = [message for at, message in placed if at == turn]
    if not own:
        raise CannotJudge("no_transcript", f"No messages of turn {turn} were recorded.")
    return {"messages_before": [message for at, message in placed if at < turn], "messages": own}


def fitting(recorded: dict[str, Any]) -> dict[str, Any]:
    """The same; `CannotJudge` if it is more than a judge is given."""
    if (size := len(jsontext.encode(recorded))) > MOST_BYTES:
        reason = f"What is recorded has {size:,} bytes; a judge is given at most {MOST_BYTES:,}."
        raise CannotJudge("too_long", reason)
    return recorded


def asked_for(made: tuple[int, ToolCall]) -> dict[str, Any]:
    """A call as the agent asked for it, with its number in the trajectory, from 1."""
    index, call = made
    if call.arguments_state == "ok":
        return {"number": index + 1, "name": call.name, "arguments": call.arguments}
    return {"number": index + 1, "name": call.name, "arguments_are": call.arguments_state}


def _made(made: tuple[int, ToolCall]) -> dict[str, Any]:
    """A call with what came of it, as far as that is known."""
    call = made[1]
    text = None if call.arguments_state == "ok" else call.arguments_text
    known = {"arguments_text": text, "result": call.result, "error": call.error, "agent": call.agent}
    return {**asked_for(made), "status": call.status, **{key: part for key, part in known.items() if part is not None}}
