"""DeepEval's test cases and goldens, with the parameters of `ToolCorrectnessMetric` and `ToolPermissionMetric`.

Its score is a share of matches, with credit for arguments that are right in part; here a test passes where that score
is 1. Shapes and meaning: deepeval 4.3.
"""

from __future__ import annotations

from typing import Any, Final

from rightcall.testsets.dialects.base import Dialect, Written
from rightcall.testsets.foreign import At, Note, Opened, Translated, call, flag, head, opened, rows
from rightcall.testsets.model import TestSet
from rightcall.testsets.saying import Said, agreed, plain, said

_PARAMETERS: Final = ("input_parameters", "output")
_HALF: Final = "half the score is enough there without a `threshold`; here the whole score is needed"
_TYPE: Final = "the `type` of a tool is compared there; here its name tells it"
_PARTS: Final = "the `threshold` there may be a part of the score, which cannot be said here; write 1"


def open_file(file: At) -> Opened:
    """A list of test cases or goldens with `expected_tools`, the metric's parameters beside them."""
    notes = _check_threshold(file)
    policy = {
        **_names(file, "allowed_tools", "allowed_tools"),
        **_names(file, "denied_tools", "forbidden_tools"),
    }
    compares = _compares_arguments(file)
    tests = [_test(row, compares, policy) for row in rows(file, "test_cases", "testCases", "goldens")]
    return opened(tests, notes, match=_match(file), arguments="exact" if compares else "ignore")


def _check_threshold(file: At) -> list[Note]:
    threshold = file.get("threshold")
    if flag(file, "strict_mode") or (threshold is not None and threshold.number() == 1):
        return []
    if threshold is not None:
        threshold.refuse(_PARTS)
    return [Note(_HALF)]


def _match(file: At) -> str:
    if flag(file, "should_exact_match"):
        return "exact"
    return "in_order" if flag(file, "should_consider_ordering") else "superset"


def _compares_arguments(file: At) -> bool:
    found = file.get("evaluation_params")
    named = found.items() if found is not None else []
    for item in named:
        if At(item.text().lower(), item.path).one_of(_PARAMETERS) == "output":
            item.refuse("what tools return is not compared here; leave `output` out")
    return bool(named)


def _names(file: At, key: str, native: str) -> dict[str, list[str]]:
    found = file.get(key)
    return {} if found is None else {native: [item.text() for item in found.items()]}


def _test(row: At, compares: bool, policy: dict[str, list[str]]) -> Translated:
    test = head(row, (), ("input",), name="name")
    expected = row.get("expected_tools", "expectedTools")
    calls = (
        {} if expected is None else {"expected_tool_calls": [_expected(item, compares) for item in expected.items()]}
    )
    typed = [item for item in expected.items() if item.get("type") is not None] if expected is not None else []
    return Translated(
        test={**test, **calls, **policy}, path=row.path, notes=tuple(Note(_TYPE, item.path) for item in typed)
    )


def _expected(item: At, compares: bool) -> dict[str, Any]:
    name = item.need("name").text()
    arguments = item.get("input_parameters", "inputParameters")
    return call(name, {} if arguments is None else arguments.mapping()) if compares else {"name": name}


def write(test_set: TestSet) -> Written:
    """Test cases with `expected_tools`, and the parameters that make the metric as strict."""
    tests = [said(test, "deepeval") for test in test_set.tests]
    match = agreed(tests, "match", {"exact": "exact", "in_order": "in_order", "superset": "superset"}, "deepeval")
    mode = agreed(tests, "arguments", {"exact": "exact", "ignore": "ignore"}, "deepeval")
    data = {
        "dialect": "deepeval",
        "threshold": 1,
        "should_exact_match": match == "exact",
        "should_consider_ordering": match == "in_order",
        "evaluation_params": ["input_parameters"] if mode == "exact" else [],
        "test_cases": [_case(test, mode == "exact") for test in tests],
    }
    return Written(data=data, notes=tuple([note for test in tests for note in test.notes]))


def _case(test: Said, compares: bool) -> dict[str, Any]:
    given = {} if test.prompt is None else {"input": test.prompt}
    tools = [
        {"name": item.name, **({"input_parameters": plain(test, item)} if compares else {})} for item in test.calls
    ]
    return {**test.identity("name"), **given, "expected_tools": tools}


DIALECT = Dialect(name="deepeval", open=open_file, write=write)
