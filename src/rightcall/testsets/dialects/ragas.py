"""Ragas' samples with `reference_tool_calls`, for `ToolCallAccuracy` and `ToolCallF1`.

Their scores are shares; here a sample passes where the score is 1. `ToolCallAccuracy` compares the arguments of the
reference and ignores others, unless the reference has none. Shapes and meaning: ragas 0.4.
"""

from __future__ import annotations

from typing import Any, Final

from rightcall.testsets.dialects.base import Dialect, Written
from rightcall.testsets.foreign import At, Note, Opened, Translated, call, choice, head, opened, rows
from rightcall.testsets.model import TestSet
from rightcall.testsets.saying import Said, agreed, plain, said

_METRICS: Final = ("tool_call_accuracy", "tool_call_f1")
_TEXTS: Final = "arguments are compared as Python writes them there, so that 1 and `1` are the same; here they are not"
_SETS: Final = "`tool_call_f1` counts equal calls once; here each call counts"


def open_file(file: At) -> Opened:
    """A list of samples, with `metric` and, for `tool_call_accuracy`, `strict_order` beside them."""
    metric = choice(file, "metric", _METRICS)
    order = file.get("strict_order")
    if order is not None and metric == "tool_call_f1":
        order.refuse("`strict_order` is a parameter of `tool_call_accuracy`")
    tests = [_test(row, metric) for row in rows(file, "samples")]
    is_strict = metric == "tool_call_accuracy" and (order is None or order.flag())
    match = "exact" if is_strict else "any_order"
    if metric == "tool_call_f1":
        return opened(tests, [Note(_SETS)], match=match, arguments="exact")
    return opened(tests, [Note(_TEXTS)], match=match, arguments="partial")


def _test(row: At, metric: str) -> Translated:
    calls = [_expected(item, metric) for item in row.need("reference_tool_calls").items()]
    test = head(row, ("id",), ("user_input",))
    return Translated(test={**test, "expected_tool_calls": calls}, path=row.path)


def _expected(item: At, metric: str) -> dict[str, Any]:
    name, arguments = item.need("name").text(), item.need("args").mapping()
    if not arguments and metric == "tool_call_accuracy":
        return {"name": name, "match": {"mode": "exact", "args": {}}}
    return call(name, arguments)


def write(test_set: TestSet) -> Written:
    """Samples for the metric whose arguments are compared in the same way."""
    tests = [said(test, "ragas") for test in test_set.tests]
    mode = agreed(tests, "arguments", {"partial": "tool_call_accuracy", "exact": "tool_call_f1"}, "ragas")
    known = {"any_order": "any_order"} if mode == "tool_call_f1" else {"exact": "exact", "any_order": "any_order"}
    match = agreed(tests, "match", known, "ragas")
    order = {"strict_order": match == "exact"} if mode == "tool_call_accuracy" else {}
    note = Note(_TEXTS if mode == "tool_call_accuracy" else _SETS)
    data = {"dialect": "ragas", "metric": mode, **order, "samples": [_sample(test, mode) for test in tests]}
    return Written(data=data, notes=(note, *[note for test in tests for note in test.notes]))


def _sample(test: Said, metric: str) -> dict[str, Any]:
    given = {} if test.prompt is None else {"user_input": test.prompt}
    calls = [{"name": item.name, "args": plain(test, item)} for item in test.calls]
    if metric == "tool_call_accuracy" and any(not item["args"] for item in calls):
        test.refuse("an expected call that accepts any arguments cannot be said in Ragas' words")
    return {**test.identity("id"), **given, "reference_tool_calls": calls}


DIALECT = Dialect(name="ragas", open=open_file, write=write)
