"""Aegis' custom runs: each metric of an evaluation scores each row of its `data`, which is a span.

Only `tool_select` is about tool calls. Without `expected_tools` a judge decides. The threshold is the metric's, else
that of the evaluation, else that of the run, else 100.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rightcall.testsets.dialects.base import Dialect
from rightcall.testsets.foreign import At, Note, Opened, Translated, opened

_METRIC: Final = "tool_select"
_OTHERS: Final = "only `tool_select` is about tool calls; other metrics are left out: "


def open_file(file: At) -> Opened:
    """A custom run. A test is one row under one metric; its id is that of the row's span, where it has one."""
    tests = [test for evaluation in file.need("evaluations").items() for test in _tests(evaluation, file)]
    return opened(tests)


def _tests(evaluation: At, run: At) -> Iterator[Translated]:
    data = evaluation.need("data").items()
    for metric in evaluation.need("metrics").items():
        name = metric if isinstance(metric.value, str) else metric.need("metric")
        if name.text() != _METRIC:
            note = Note(f"{_OTHERS}`{name.value}`", metric.path)
            yield from [Translated(test=_identity(row), path=row.path, notes=(note,)) for row in data]
            continue
        expected, threshold = _expected(metric), _threshold(metric, evaluation, run)
        judged = {"assertions": [{"kind": "selection", "threshold": threshold}]}
        keys = {"expected_tools": expected, "threshold": threshold} if expected else judged
        for row in data:
            yield Translated(test={**_identity(row), **keys}, path=row.path)


def _expected(metric: At) -> list[str]:
    """The names that are expected; none where a judge decides."""
    arguments = metric.get("metric_args") if isinstance(metric.value, dict) else None
    expected = arguments.get("expected_tools") if arguments is not None else None
    return [] if expected is None else [item.text() for item in expected.items()]


def _threshold(*holders: At) -> float:
    """The threshold of the innermost that has one."""
    for holder in holders:
        if isinstance(holder.value, dict) and (found := holder.get("threshold")) is not None:
            return found.number()
    return 100


def _identity(row: At) -> dict[str, Any]:
    span = row.need("span")
    context = span.get("context")
    found = (context.get("span_id") if context is not None else None) or span.get("span_id", "spanId")
    return {} if found is None else {"id": found.text()}


DIALECT = Dialect(name="aegis", open=open_file)
