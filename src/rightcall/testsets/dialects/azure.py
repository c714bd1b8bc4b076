"""Azure AI Evaluation's `ground_truth`, for its task navigation efficiency evaluator.

A ground truth is a list of tool names, or a pair of such a list and the parameters by tool: a tool has the same
parameters in each of its steps, and none where they are not given. Shapes and meaning: azure-ai-evaluation 1.18.
"""

from __future__ import annotations

from typing import Any, Final

from rightcall.testsets.dialects.base import Dialect
from rightcall.testsets.foreign import At, Note, Opened, Translated, call, choice, head, opened, rows

_MATCH: Final = {"exact_match": "exact", "in_order_match": "in_order", "any_order_match": "superset"}
_TEXTS: Final = "parameters are compared as text there, so that 1 and `1` are the same; here they are not"


def open_file(file: At) -> Opened:
    """A list of rows, with `matching_mode` beside them."""
    mode = choice(file, "matching_mode", tuple(_MATCH))
    tests = [_test(row) for row in rows(file, "data")]
    return opened(tests, match=_MATCH[mode], arguments="exact")


def _test(row: At) -> Translated:
    truth = row.need("ground_truth").decoded()
    items = truth.items()
    has_parameters = len(items) == 2 and isinstance(items[0].value, list)
    steps = items[0].items() if has_parameters else items
    parameters = items[1] if has_parameters else None
    if not steps:
        truth.refuse("expected at least one step, found none")
    test = head(row, ("id",), ("query",))
    calls = [_step(step, parameters) for step in steps]
    notes = () if parameters is None else (Note(_TEXTS, row.path),)
    return Translated(test={**test, "expected_tool_calls": calls}, path=row.path, notes=notes)


def _step(step: At, parameters: At | None) -> dict[str, Any]:
    name = step.text()
    if parameters is None:
        return {"name": name}
    given = parameters.get(name)
    return call(name, {} if given is None else given.mapping())


DIALECT = Dialect(name="azure", open=open_file)
