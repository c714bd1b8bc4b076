"""Amazon Bedrock AgentCore's evaluation scenarios with `expected_trajectory`: tool names only.

`evaluator` names one of its three trajectory evaluators. Shapes: bedrock-agentcore 1.25; meaning: its documentation.
"""

from __future__ import annotations

from typing import Any, Final

from rightcall.testsets.dialects.base import Dialect
from rightcall.testsets.foreign import At, Note, Opened, Translated, head, opened, rows

_MATCH: Final = {
    "Builtin.TrajectoryExactOrderMatch": "exact",
    "Builtin.TrajectoryInOrderMatch": "in_order",
    "Builtin.TrajectoryAnyOrderMatch": "superset",
}
_OTHERS: Final = "`{}` is not about tool calls; it is left out"


def open_file(file: At) -> Opened:
    """A dataset of `scenarios`, with the `evaluator` beside them."""
    evaluator = file.need("evaluator").one_of(tuple(_MATCH))
    tests = [_test(row) for row in rows(file, "scenarios")]
    return opened(tests, match=_MATCH[evaluator], arguments="ignore")


def _test(row: At) -> Translated:
    test = head(row, ("scenario_id",), metadata="metadata")
    if turns := [turn.need("input").value for turn in _turns(row)]:
        test["prompt"] = turns[0] if len(turns) == 1 else turns
    notes = [Note(_OTHERS.format(key), row.path) for key in ("assertions",) if row.get(key) is not None]
    names = row.get("expected_trajectory", "expectedTrajectory")
    if names is None:
        return Translated(test=test, path=row.path, notes=tuple(notes))
    listed = names.need("toolNames") if isinstance(names.value, dict) else names
    calls = [_named(item) for item in listed.items()]
    if not calls:
        listed.refuse("expected at least one tool name: an empty trajectory is not evaluated there")
    return Translated(test={**test, "expected_tool_calls": calls}, path=row.path, notes=tuple(notes))


def _turns(row: At) -> list[At]:
    turns = row.get("turns")
    return turns.items() if turns is not None else []


def _named(item: At) -> dict[str, Any]:
    return {"name": item.text()}


DIALECT = Dialect(name="bedrock-agentcore", open=open_file)
