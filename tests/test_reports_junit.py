"""The JUnit report is what Jenkins, GitLab and GitHub's reporters read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rightcall.core.results import Result
from rightcall.core.verdicts import Evidence, Finding
from rightcall.reports.junit import JUnitReport
from support.reporting import (
    EMPTY,
    FAILED,
    FLAKY,
    HOSTILE,
    PASSED,
    RUN,
    UNJUDGED,
    attempt,
    heavy,
    report,
    result,
    results,
    verdict,
)

CHILDREN: Final[Mapping[str, frozenset[str]]] = {
    "testsuites": frozenset({"testsuite"}),
    "testsuite": frozenset({"properties", "testcase", "system-out"}),
    "testcase": frozenset({"skipped", "error", "failure", "system-out"}),
    "properties": frozenset({"property"}),
    "property": frozenset(),
    "skipped": frozenset(),
    "error": frozenset(),
    "failure": frozenset(),
    "system-out": frozenset(),
}
"""Which elements stand in which, by the schema of Jenkins' xUnit plugin (junit-10.xsd), which is strict."""

REQUIRED: Final[Mapping[str, frozenset[str]]] = {
    "testsuite": frozenset({"name", "tests", "failures", "errors"}),
    "testcase": frozenset({"name"}),
    "property": frozenset({"name", "value"}),
}
ALLOWED: Final[Mapping[str, frozenset[str]]] = {
    "testsuites": frozenset({"name", "tests", "failures", "errors", "time"}),
    "testsuite": REQUIRED["testsuite"] | {"skipped", "time"},
    "testcase": frozenset({"name", "classname", "time", "group"}),
    "property": REQUIRED["property"],
    "skipped": frozenset({"message", "type"}),
    "error": frozenset({"message", "type"}),
    "failure": frozenset({"message", "type"}),
}
ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def parsed(*made: Result, **end: Any) -> Element:
    return ElementTree.fromstring(report(JUnitReport(), made, **end))


def case(made: Result) -> Element:
    found = parsed(made).find("testsuite/testcase")
    assert found is not None
    return found


def properties(made: Result) -> dict[str, str]:
    lines = str(case(made).findtext("system-out")).split("\n")
    inside = [line[len("[[PROPERTY|") : -2] for line in lines if line.startswith("[[PROPERTY|") and line.endswith("]]")]
    return dict(line.split("=", 1) for line in inside)


def faults(element: Element) -> list[str]:
    """What in an element, and below it, the schema does not allow."""
    allowed = ALLOWED.get(element.tag, frozenset())
    found = [f"{element.tag} has {name}" for name in element.attrib.keys() - allowed]
    found += [f"{element.tag} lacks {name}" for name in REQUIRED.get(element.tag, frozenset()) - element.attrib.keys()]
    found += [f"{element.tag} holds {child.tag}" for child in element if child.tag not in CHILDREN[element.tag]]
    return found + [fault for child in element for fault in faults(child)]


@heavy
@given(st.lists(results(), max_size=3))
def test_document_has_the_shape_of_the_schema(made: list[Result]) -> None:
    """Elements, attributes and their places are those of the schema, for any run."""
    assert faults(parsed(*made)) == []


@heavy
@given(st.lists(results(), max_size=3))
def test_characters_are_legal_in_xml(made: list[Result]) -> None:
    """Only characters that XML 1.0 allows are written; the others are shown as escapes."""
    assert ILLEGAL.findall(report(JUnitReport(), made).decode("utf-8")) == []


@heavy
@given(st.lists(results(), max_size=4))
def test_counts_are_those_of_the_children(made: list[Result]) -> None:
    """The numbers on a suite are the numbers of its test cases of each sort."""
    suite = parsed(*made)[0]
    cases = list(suite.iter("testcase"))
    counts = [str(len(cases)), *(str(len(list(suite.iter(tag)))) for tag in ("failure", "error", "skipped"))]
    assert counts == [suite.attrib[name] for name in ("tests", "failures", "errors", "skipped")]


def test_illegal_characters_are_shown_as_escapes() -> None:
    """An escape character in a reason is visible as text."""
    failure = case(result("a", attempt(verdict("x", "fail", "\x1b[31m \ufffe \ud800"))))[0]
    assert failure.attrib["message"] == "\\x1b[31m \\ufffe \\ud800"


@pytest.mark.parametrize(
    ("made", "element"), [(FAILED, "failure"), (UNJUDGED, "error"), (EMPTY, "skipped"), (FLAKY, "failure")]
)
def test_outcomes_have_their_elements(made: Result, element: str) -> None:
    """G1: failures, errors and what is inconclusive stay distinct."""
    assert [child.tag for child in case(made)] == [element, "system-out"]


def test_passed_test_has_no_element_but_tells_its_verdicts() -> None:
    """A passed test case lists its verdicts as output."""
    found = case(PASSED)
    assert [child.tag for child in found] == ["system-out"]
    assert str(found[0].text).split("\n")[-1] == "pass tool_sequence"


def test_failure_has_the_full_reason() -> None:
    """Everything that explains a failure is in the report: every finding, expected beside made, the reply."""
    failure = case(FAILED).find("failure")
    assert failure is not None
    assert failure.attrib == {"message": "Expected check_policy; it was never called.", "type": "missing"}
    expected = [
        "fail tool_sequence: Expected check_policy; it was never called.",
        "    Expected amount = 19.5.",
        "        expected                      made",
        "      = 1 lookup_order(order_id=7)    1 lookup_order(order_id=7)",
        "      - 2 check_policy(…)",
        "      ≠ 3 issue_refund(amount=19.5)   2 issue_refund(amount=195)",
        "          expected with amount = 19.5; had amount = 195",
        "      +                               3 send_email()",
        "pass no_unexpected_tool",
        "The agent replied: All done, 195 EUR are on their way.",
        "trajectory t-1, log.jsonl:3",
        "The test stands at refund.rightcall.yaml:12",
    ]
    assert expected == str(failure.text).split("\n")


def test_error_has_its_reason() -> None:
    """What could not be judged says why."""
    error = case(UNJUDGED).find("error")
    assert error is not None
    assert error.attrib == {"message": "no trajectory for test `gone`", "type": "error"}


def test_inconclusive_test_is_skipped_with_a_reason() -> None:
    """A test that expected nothing is skipped, and says so."""
    skipped = case(EMPTY).find("skipped")
    assert skipped is not None
    assert skipped.attrib == {"message": "The test is inconclusive.", "type": "inconclusive"}
    assert skipped.text == "not_applicable tool_sequence"


def test_case_says_where_its_test_stands() -> None:
    """The name, the suite, and in the text the line of the test in its file; the schema has no attribute for that."""
    assert case(FAILED).attrib == {"name": "damaged", "classname": "Refund flow", "time": "0"}
    assert str(case(FAILED).findtext("failure")).endswith("\nThe test stands at refund.rightcall.yaml:12")
    assert case(PASSED).attrib["name"] == "late-order: Late order"


def test_case_has_what_was_measured() -> None:
    """Precision and recall are properties; what was not measured is none."""
    found = properties(FAILED)
    assert (found["tool_sequence.precision"], found["tool_sequence.recall"], found["attempts"]) == ("0.5", "0.25", "1")
    assert "tool_sequence.f1" not in found


def test_attempts_have_a_rate() -> None:
    """G37: a test of several attempts tells how many passed and how sure that is."""
    found = properties(FLAKY)
    assert (found["attempts"], found["attempts_passed"], found["interval_95"]) == ("2", "1", "0.0945 to 0.9055")


def test_suite_has_the_run() -> None:
    """The versions, the hash of the test set and the decision are properties of the suite."""
    found = {item.attrib["name"]: item.attrib["value"] for item in parsed(*RUN)[0][0]}
    assert found["rightcall.version"] == "0.0"
    assert found["rightcall.test_set_hash"] == "abc"
    assert (found["rightcall.passed"], found["rightcall.exit_code"]) == ("false", "1")


def test_unused_trajectories_are_told() -> None:
    """What was not used stands in the suite's output."""
    output = parsed(PASSED, unused=("t-9",), warnings=("no ids",))[0].find("system-out")
    assert output is not None
    assert output.text == "no test for trajectory t-9\nno ids"


def test_crash_keeps_its_traceback() -> None:
    """A mistake of ours is shown with the lines that are needed to mend it."""
    crashed = verdict("x", "error", "rightcall itself failed", details={"traceback": "Traceback:\n  line 1"})
    error = case(result("a", attempt(crashed))).find("error")
    assert error is not None
    assert "    Traceback:\n      line 1" in str(error.text)


def test_markup_stays_text() -> None:
    """Markup in recorded text is text in the report."""
    failure = case(result("<a>&", attempt(verdict("x", "fail", "<b>\"'&</failure>")))).find("failure")
    assert failure is not None
    assert failure.attrib["message"] == "<b>\"'&</failure>"
    assert "fail x: <b>\"'&</failure>" in str(failure.text)


def test_long_rows_are_cut_with_how_many_there_were() -> None:
    """A very long alignment is cut, and says by how much."""
    rows = (FAILED.attempts[0].alignments["tool_sequence"][1],) * 250
    failure = case(result("a", attempt(verdict("x", "fail", "No."), alignments={"x": rows}))).find("failure")
    assert failure is not None
    assert "      and 50 more rows" in str(failure.text).split("\n")


def test_reason_comes_from_what_decided() -> None:
    """A verdict that does not count gives neither the message nor the type."""
    shadow = verdict("s", "fail", "Not this.", severity="shadow")
    decided = replace(verdict("x", "fail"), evidence=Evidence((Finding(code="forbidden", message="This."),)))
    failure = case(result("a", attempt(shadow, decided))).find("failure")
    assert failure is not None
    assert failure.attrib == {"message": "This.", "type": "forbidden"}


def test_hostile_names_stay_whole() -> None:
    """A name of strange characters is escaped, not cut."""
    assert case(result(HOSTILE, attempt(verdict("x", "pass")))).attrib["name"].startswith("x\\x1b[31m\\r\\n\\t")
