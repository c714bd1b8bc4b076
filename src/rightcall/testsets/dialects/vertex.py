"""Vertex AI's evaluation datasets with `reference_trajectory`, for its trajectory metrics.

Precision and recall are shares; here they must be 1: every call made is among the reference, every call of the
reference was made. Shapes and meaning: the documentation of the Gen AI evaluation service.
"""

from __future__ import annotations

from typing import Any, Final

from rightcall.testsets.dialects.base import Dialect
from rightcall.testsets.foreign import At, Note, Opened, Translated, call, head, opened, rows

_MATCH: Final = {
    "trajectory_exact_match": "exact",
    "trajectory_in_order_match": "in_order",
    "trajectory_any_order_match": "superset",
    "trajectory_precision": "subset",
    "trajectory_recall": "superset",
}
_SINGLE: Final = "trajectory_single_tool_use"
_SHARES: Final = "`{}` is a share there; here it must be 1, each call counted once"


def open_file(file: At) -> Opened:
    """A dataset, with the names of its trajectory `metrics` beside it, `{metric, tool_name}` for a single tool."""
    metrics = file.need("metrics").items()
    if not metrics:
        file.need("metrics").refuse("expected at least one metric, found none")
    tests = [_test(row, metrics) for row in rows(file, "dataset")]
    notes = [
        Note(_SHARES.format(metric.value), metric.path)
        for metric in metrics
        if metric.value in ("trajectory_precision", "trajectory_recall")
    ]
    return opened(tests, notes)


def _test(row: At, metrics: list[At]) -> Translated:
    test = head(row, ("id",), ("prompt",))
    return Translated(test={**test, "assertions": [_assertion(metric, row) for metric in metrics]}, path=row.path)


def _assertion(metric: At, row: At) -> dict[str, Any]:
    if isinstance(metric.value, dict):
        metric.need("metric").one_of((_SINGLE,))
        return {"kind": "required_tool", "tool": metric.need("tool_name").text(), "name": _SINGLE}
    if metric.value == _SINGLE:
        metric.refuse(f"write `{{metric: {_SINGLE}, tool_name: …}}`: the metric needs the tool's name")
    name = metric.one_of(tuple(_MATCH))
    calls = [_call(item) for item in row.need("reference_trajectory").decoded().items()]
    if not calls and _MATCH[name] != "exact":
        row.refuse(f"an empty reference has no meaning of its own for `{name}`")
    return {
        "kind": "trajectory",
        "name": name,
        "match": _MATCH[name],
        "arguments": "exact",
        "expected_tool_calls": calls,
    }


def _call(item: At) -> dict[str, Any]:
    given = item.get("tool_input")
    return call(item.need("tool_name").text(), {} if given is None else given.decoded().mapping())


DIALECT = Dialect(name="vertex", open=open_file)
