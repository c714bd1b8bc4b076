"""The calls of the conformance rows are records that users write by hand: every one of them reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rightcall import traces

ROWS = Path(__file__).parent / "conformance"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (ROWS / name).read_text("utf-8").splitlines()]


def distinct(found: list[Any]) -> list[Any]:
    return list({json.dumps(calls): calls for calls in found}.values())


@pytest.mark.parametrize("calls", distinct([row["tool_calls"] for row in rows("trajectory.jsonl")]), ids=json.dumps)
def test_every_entry_of_a_record_is_counted(calls: Any) -> None:
    """Whatever its shape, an entry is one call (G9); not recorded stays not recorded (G3)."""
    made = traces.read_object({"tool_calls": calls}).tool_calls
    assert (None if made is None else len(made)) == (None if calls is None else len(calls))


@pytest.mark.parametrize("row", rows("unknown.jsonl"), ids=lambda row: str(row["id"]))
def test_unknown_arguments_and_gaps_are_read_as_written(row: dict[str, Any]) -> None:
    """States and gaps of hand-written trajectories arrive unchanged (G11, G12)."""
    written = row["trajectory"]
    read = traces.read_object(written)
    states = [call.get("arguments_state", "ok") for call in written["tool_calls"]]
    assert [call.arguments_state for call in read.tool_calls or ()] == states
    assert (read.gaps, read.warnings) == (tuple(written.get("gaps", ())), ())
