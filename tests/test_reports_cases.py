"""Every public bug report is a test, or is named here with the reason why it is none yet."""

from __future__ import annotations

import importlib
import itertools
from pathlib import Path

import rightcall
from support.bug_reports import REPORTS, TESTED, Case, judge, report
from support.openinference import request, tool

NOT_YET = {
    "B038": "calls written as text, such as `f(x=1)`",
    "B039": "calls written as text, such as `f(x=1)`",
    "B151": "calls written as text, such as `f(x=1)`",
}
"""Cases that need something that does not exist here yet, and what."""

DISPUTED = {
    "B099": "there is no option to coerce text into numbers; `$one_of` lists both values, exactly",
}
"""Cases of which we decide a part otherwise, and why; each has a test of what we do."""


def _import_all() -> None:
    for file in sorted(Path(__file__).parent.glob("test_reports_cases_*.py")):
        importlib.import_module(file.stem)


def test_every_report_is_tested_or_named() -> None:
    """No case is left out, and none is both tested and waiting."""
    _import_all()
    assert REPORTS.keys() - TESTED.keys() == NOT_YET.keys()
    assert DISPUTED.keys() <= TESTED.keys()


def test_every_test_names_the_kind_of_its_report() -> None:
    """The name of a test begins with the kind of the case that it is about."""
    _import_all()
    wrong = [
        (identity, name)
        for identity, names in TESTED.items()
        for name in names
        if not name.startswith(f"test_{_slug(REPORTS[identity]['kind'])}")
    ]
    assert wrong == []


def _slug(kind: str) -> str:
    return kind.lower().replace("&", "and").replace(" ", "_")


@report("B055")
def test_order_of_spans_that_start_together(case: Case) -> None:
    """Where the model's list does not say it, equal start times are broken by end and id, never by the file."""
    spans = {
        one["span_id"]: tool(one["span_id"], one["name"], start=one["start_ms"])
        for one in case["input"]["tool_spans_in_file_order"]
    }
    for order in itertools.permutations(spans):
        calls = rightcall.read(request(*(spans[identity] for identity in order))).tool_calls or ()
        assert [call.name for call in calls] == ["x", "y"]


@report("B099")
def test_numbers_given_as_text_are_not_coerced(case: Case) -> None:
    """A number in quotes is text; an operator lists both, without losing a digit (G7)."""
    assert case["expect"]["verdict"] == judge(case["input"]).status
    number, text = (case["input"][side][0]["arguments"]["id"] for side in ("expected", "actual"))
    either = [{"name": "get_row", "arguments": {"id": {"$one_of": [number, text]}}}]
    assert judge({**case["input"], "expected": either}).status == case["expect"]["with_coercion"]
    rounded = [{"name": "get_row", "arguments": {"id": "1234567890123456768"}}]
    assert judge({**case["input"], "expected": either, "actual": rounded}).status == "fail"
