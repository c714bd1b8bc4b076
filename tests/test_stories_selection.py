"""What the page about tool selection promises: its span, from the metric and from a file to the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rightcall.metrics import ToolSelect
from support.selecting import EXPECTED, SPAN, calling
from support.stories import Told, grade, write

THRESHOLDS = {60: True, 66.67: True, 66.68: False}

Variant = tuple[list[str], float, list[tuple[str, str, str]] | None, str]

VARIANTS: dict[str, Variant] = {
    "right": (EXPECTED, 100, None, "The tools called are the tools expected."),
    "order does not count": (EXPECTED[::-1], 100, None, "The tools called are the tools expected."),
    "missing": (
        ["get_weather"],
        66.67,
        [("send_email", "missing", "missing: expected 1, called 0")],
        "Missing: `send_email` (expected 1, called 0).",
    ),
    "extra": (
        [*EXPECTED, "delete_mail"],
        80,
        [("delete_mail", "incorrect", "extra: expected 0, called 1")],
        "Extra: `delete_mail` (expected 0, called 1).",
    ),
    "duplicated": (
        ["get_weather", *EXPECTED],
        80,
        [("get_weather", "redundant", "duplicated: expected 1, called 2")],
        "Duplicated: `get_weather` (expected 1, called 2).",
    ),
    "none called": (
        [],
        0,
        [
            ("get_weather", "missing", "missing: expected 1, called 0"),
            ("send_email", "missing", "missing: expected 1, called 0"),
        ],
        "Missing: `get_weather` (expected 1, called 0) and `send_email` (expected 1, called 0).",
    ),
    "two faults": (
        ["get_weather", "search", "search"],
        40,
        [
            ("send_email", "missing", "missing: expected 1, called 0"),
            ("search", "incorrect", "extra: expected 0, called 2"),
        ],
        "Missing: `send_email` (expected 1, called 0). Extra: `search` (expected 0, called 2).",
    ),
}
"""Names called: the score, the misaligned tools, and the explanation."""


def test_span_of_the_page() -> None:
    """The expected tools were called: 100, at the default threshold, and nothing to say of any tool."""
    result = ToolSelect(expected_tools=EXPECTED).evaluate(SPAN)
    assert (result.score, result.threshold, result.is_success, result.is_gte_threshold) == (100, 100, True, True)
    assert result.eval_metadata is None


@pytest.mark.parametrize("case", VARIANTS)
def test_metric(case: str) -> None:
    """The score, the explanation by category, and each misaligned tool with verdict and reason (G31, G32)."""
    called, score, incorrect, explanation = VARIANTS[case]
    result = ToolSelect(expected_tools=EXPECTED).evaluate(calling(called))
    assert (result.score, result.explanation) == (score, explanation)
    assert (result.is_success, result.is_gte_threshold) == (True, score == 100)
    assert result.eval_metadata == (None if incorrect is None else {"incorrect_tools": _tools(incorrect)})


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """One run over a file of the spans, each in a session of its own, with the expected tools in tests."""
    folder = tmp_path_factory.mktemp("selection")
    called = {
        **{name: case[0] for name, case in VARIANTS.items()},
        **{f"at {at}": ["get_weather"] for at in THRESHOLDS},
    }
    spans = [_in_session(calling(names), name) for name, names in called.items()]
    tests: list[dict[str, Any]] = [{"id": name, "expected_tools": EXPECTED} for name in VARIANTS]
    tests += [{"id": f"at {at}", "expected_tools": EXPECTED, "threshold": at} for at in THRESHOLDS]
    write(folder, {"tests.json": {"version": 1, "tests": tests}, "spans.jsonl": spans})
    return grade(folder, "spans.jsonl", "-t", "tests.json")


def _in_session(span: dict[str, Any], session: str) -> dict[str, Any]:
    return {"attributes": {**span["attributes"], "session.id": session}}


@pytest.mark.parametrize("case", VARIANTS)
def test_trace_file(graded: Told, case: str) -> None:
    """The same span in a file, the expected tools in a test: a verdict of the same score and evidence (G29)."""
    _, score, incorrect, explanation = VARIANTS[case]
    (verdict,) = graded.verdicts_of(case)
    status = "pass" if score == 100 else "fail"
    assert (verdict["name"], verdict["score"], verdict["status"]) == ("tool_select", score, status)
    assert verdict["details"]["incorrect_tools"] == _tools(incorrect or [])
    assert verdict["details"]["explanation"] == explanation


@pytest.mark.parametrize(("called", "code"), [(EXPECTED, 0), (["get_weather"], 1)])
def test_exit_code(tmp_path: Path, called: list[str], code: int) -> None:
    """One span, one test: the gate passes only what was right."""
    write(tmp_path, {"tests.json": {"tests": [{"expected_tools": EXPECTED}]}, "span.json": calling(called)})
    assert grade(tmp_path, "span.json", "-t", "tests.json").code == code


def _tools(incorrect: list[Any]) -> list[dict[str, str]]:
    return [dict(zip(("name", "verdict", "reason"), one, strict=True)) for one in incorrect]


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_threshold(graded: Told, threshold: float) -> None:
    """A score of 66.67 that reaches the threshold passes, for the metric and in a file (G29, G34)."""
    result = ToolSelect(expected_tools=EXPECTED, threshold=threshold).evaluate(calling(["get_weather"]))
    assert result.is_gte_threshold is THRESHOLDS[threshold]
    assert graded.outcomes[f"at {threshold}"] == ("pass" if THRESHOLDS[threshold] else "fail")


def test_arguments_and_results_do_not_count() -> None:
    """Only names are compared."""
    span = json.loads(json.dumps(SPAN))
    prefix = "llm.output_messages.0.message.tool_calls.0.tool_call"
    span["attributes"][f"{prefix}.function.arguments"] = '{"city": "Rome", "nonsense": '
    assert ToolSelect(expected_tools=EXPECTED).evaluate(span).score == 100


@pytest.mark.parametrize("expected", [None, []])
def test_without_expected_tools(expected: list[str] | None) -> None:
    """Then a judge would have to decide; without one the evaluation fails, and no score is made up (G33, G34)."""
    result = ToolSelect(expected_tools=expected).evaluate(SPAN)
    assert (result.score, result.is_success, result.is_gte_threshold, result.eval_metadata) == (None, False, None, None)
    assert "No judge is configured" in result.explanation


def test_without_input_messages() -> None:
    """The evaluation fails if no input messages are found (G29)."""
    kept = {key: value for key, value in SPAN["attributes"].items() if "input_messages" not in key}
    result = ToolSelect(expected_tools=EXPECTED).evaluate({"attributes": kept})
    assert (result.score, result.is_success) == (None, False)
    assert "no input messages" in result.explanation
