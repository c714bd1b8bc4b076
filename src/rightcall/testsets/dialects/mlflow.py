"""MLflow's evaluation data with `expectations.expected_tool_calls`, for its `ToolCallCorrectness` scorer.

Only `should_exact_match: true` compares without a model. Shapes and meaning: mlflow 3.18.
"""

from __future__ import annotations

from typing import Any, Final

from rightcall.testsets.dialects.base import Dialect
from rightcall.testsets.foreign import At, Note, Opened, Translated, call, flag, head, opened, rows

_JUDGED: Final = "without `should_exact_match: true` a model judges the calls there, which cannot be said here"
_EMPTY: Final = "an empty list expects nothing there, and a model judges the calls; here the test is not judged"
_ALL: Final = "one expected call without arguments lets any arguments pass for all calls there; here only for itself"
_SETS: Final = "equal calls count once there, so that [a, a, b] and [a, b, b] are the same; here each counts"


def open_file(file: At) -> Opened:
    """A list of rows, with the scorer's parameters beside them."""
    if not flag(file, "should_exact_match"):
        (file.get("should_exact_match") or file).refuse(_JUDGED)
    is_ordered = flag(file, "should_consider_ordering")
    tests = [_test(row) for row in rows(file, "data")]
    return opened(
        tests, [] if is_ordered else [Note(_SETS)], match="exact" if is_ordered else "any_order", arguments="exact"
    )


def _test(row: At) -> Translated:
    test = head(row, ("id", "dataset_record_id"), ("inputs",))
    expectations = row.get("expectations")
    expected = expectations.get("expected_tool_calls") if expectations is not None else None
    if expected is None:
        return Translated(test=test, path=row.path)
    calls = [_expected(item) for item in expected.items()]
    if not calls:
        return Translated(test=test, path=row.path, notes=(Note(_EMPTY, expected.path),))
    open_calls = [item for item in calls if "arguments" not in item]
    notes = (Note(_ALL, expected.path),) if 0 < len(open_calls) < len(calls) else ()
    return Translated(test={**test, "expected_tool_calls": calls}, path=row.path, notes=notes)


def _expected(item: At) -> dict[str, Any]:
    name, arguments = item.need("name").text(), item.get("arguments")
    return {"name": name} if arguments is None else call(name, arguments.mapping())


DIALECT = Dialect(name="mlflow", open=open_file)
