"""Strands Agents Evals' cases with `expected_trajectory`, for its three trajectory scorers.

A trajectory is a list of tool names, or of calls `{name, args}`. The scores are shares; here a case passes where the
score should be 1. Shapes and meaning: strands-agents-evals 1.7.
"""

from __future__ import annotations

from typing import Any, Final

from rightcall.testsets.dialects.base import Dialect
from rightcall.testsets.foreign import At, Note, Opened, Translated, call, choice, head, opened, rows

_MATCH: Final = {
    "exact_match_scorer": "exact",
    "in_order_match_scorer": "in_order",
    "any_order_match_scorer": "superset",
}
_EMPTY: Final = "nothing is expected, and such a case passes whatever is called there; here it is not judged"
_EXACT: Final = "calls after the expected ones are not looked at there; here `exact_match_scorer` allows none"
_SETS: Final = "equal steps count once there, so that an expected repetition never scores 1; here each counts"


def open_file(file: At) -> Opened:
    """An experiment's `cases`, with `scorer` beside them."""
    scorer = choice(file, "scorer", tuple(_MATCH))
    tests = [_test(row, scorer) for row in rows(file, "cases")]
    notes = {"exact_match_scorer": [Note(_EXACT)], "any_order_match_scorer": [Note(_SETS)]}.get(scorer, [])
    return opened(tests, notes, match=_MATCH[scorer], arguments="exact")


def _test(row: At, scorer: str) -> Translated:
    test = head(row, (), ("input",), name="name", metadata="metadata")
    expected = row.get("expected_trajectory")
    steps = expected.items() if expected is not None else []
    if not steps and scorer != "exact_match_scorer":
        return Translated(test=test, path=row.path, notes=(Note(_EMPTY, row.path),))
    if expected is None:
        return Translated(test=test, path=row.path)
    return Translated(test={**test, "expected_tool_calls": [_step(step) for step in steps]}, path=row.path)


def _step(step: At) -> dict[str, Any]:
    if isinstance(step.value, str):
        return {"name": step.value}
    arguments = step.get("args", "arguments", "input")
    return call(step.need("name").text(), {} if arguments is None else arguments.mapping())


DIALECT = Dialect(name="strands", open=open_file)
