"""A list of calls in the words of the scripts: what a script says, and what was read, in the same rows."""

from __future__ import annotations

import json
from typing import Any

from rightcall.core.calls import ToolCall, Trajectory
from support.staged.scripts import Call, Script, Step

Row = dict[str, Any]
"""One call: name, arguments, status, answer, kind, turn, batch (calls of one message share one), parent."""


def scripted(script: Script) -> list[Row]:
    """The rows of a script, as a recording that can say everything tells them."""
    rows: list[Row] = []
    for turn, steps in enumerate(script.turns):
        _add(rows, steps, turn, None)
    return _numbered(rows)


def _add(rows: list[Row], steps: tuple[Step, ...], turn: int, parent: int | None) -> None:
    for step in steps:
        batch = object()
        for call in step:
            rows.append({**_row(call), "turn": turn, "batch": batch, "parent": parent})
            _add(rows, call.inside, turn, len(rows) - 1)


def _row(call: Call) -> Row:
    return {
        "name": call.name,
        "arguments": f"malformed: {call.text}" if call.is_malformed else _typed(json.loads(call.text)),
        "status": "error" if call.fails else "ok",
        "answer": call.result,
        "kind": "agent" if call.inside else "client",
    }


def read(trajectory: Trajectory) -> list[Row]:
    """The rows of a trajectory."""
    return _numbered([_read(call) for call in trajectory.tool_calls or ()])


def scripted_call(call: Call) -> Row:
    """The name and the arguments of a call, as a script has them."""
    return {key: _row(call)[key] for key in ("name", "arguments")}


def asked(call: ToolCall) -> Row:
    """The name and the arguments of a call that was read."""
    return {key: _read(call)[key] for key in ("name", "arguments")}


def _read(call: ToolCall) -> Row:
    return {
        "name": call.name,
        "arguments": _typed(call.arguments) if call.arguments_state == "ok" else _unread(call),
        "status": call.status,
        "answer": call.error if call.result is None else call.result,
        "kind": call.kind,
        "turn": call.turn,
        "batch": call.message,
        "parent": call.parent,
    }


def _unread(call: ToolCall) -> str:
    return f"{call.arguments_state}: {call.arguments_text}" if call.arguments_text else call.arguments_state


def _typed(value: Any) -> str:
    """Arguments as text, so that `1`, `1.0` and `true` are three things."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _numbered(rows: list[Row]) -> list[Row]:
    """The rows with batches numbered as they come."""
    numbers: dict[Any, int] = {}
    for row in rows:
        batch = row["batch"]
        row["batch"] = None if batch is None else numbers.setdefault(batch, len(numbers))
    return rows
