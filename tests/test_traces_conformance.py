"""The calls of the conformance rows are records that users write by hand: every one of them reads."""

from __future__ import annotations

import json
from typing import Any

from rightcall import traces
from support.conformance import of_every_row, rows


def distinct(name: str) -> list[Any]:
    """The calls of the rows of a file, each once."""
    return list({json.dumps(row["tool_calls"]): row["tool_calls"] for row in rows(name)}.values())


@of_every_row({"id": json.dumps(calls), "tool_calls": calls} for calls in distinct("trajectory"))
def test_every_entry_of_a_record_is_counted(row: dict[str, Any]) -> None:
    """Whatever its shape, an entry is one call (G9); not recorded stays not recorded (G3)."""
    calls = row["tool_calls"]
    made = traces.read_object({"tool_calls": calls}).tool_calls
    assert (None if made is None else len(made)) == (None if calls is None else len(calls))


@of_every_row(rows("unknown"))
def test_unknown_arguments_and_gaps_are_read_as_written(row: dict[str, Any]) -> None:
    """States and gaps of hand-written trajectories arrive unchanged (G11, G12)."""
    written = row["trajectory"]
    read = traces.read_object(written)
    states = [call.get("arguments_state", "ok") for call in written["tool_calls"]]
    assert [call.arguments_state for call in read.tool_calls or ()] == states
    assert (read.gaps, read.warnings) == (tuple(written.get("gaps", ())), ())
