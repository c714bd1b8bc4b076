"""Other tools' decisions, recorded by running them: what their configuration says is what we decide.

Where we decide otherwise, the row is an exception with a reason; the reasons are the differences that the pages of the
dialects tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from support.conformance import rows
from support.peers import KINDS_OF_DIFFERENCE, ours, theirs, verdicts

ROWS = rows("peers")
EXCEPTIONS = {row["id"]: row for row in rows("peers_exceptions")}
COUNTS = {
    "agentevals": (1130, 48),
    "azure-ai-evaluation": (344, 26),
    "bfcl-eval": (64, 3),
    "deepeval": (410, 25),
    "google-adk": (384, 9),
    "ragas": (306, 28),
    "strands-agents-evals": (380, 89),
}
"""Rows and exceptions of each tool; 60 of the last are rows that its scorer broke off on."""


@pytest.mark.parametrize("peer", COUNTS)
def test_what_a_configuration_says_is_what_is_decided(peer: str) -> None:
    """Each row that is no exception: the tool's own verdict, on the same calls."""
    rows_of = [row for row in ROWS if row["peer"] == peer and row["id"] not in EXCEPTIONS]
    assert [(row["id"], theirs(row)) for row in rows_of] == [(row["id"], ours(row)) for row in rows_of]


@pytest.mark.parametrize("peer", COUNTS)
def test_exceptions_are_exceptions(peer: str) -> None:
    """Each exception: we decide as it says, and not as the tool did."""
    rows_of = [row for row in ROWS if row["peer"] == peer and row["id"] in EXCEPTIONS]
    expected = [(row["id"], EXCEPTIONS[row["id"]]["ours"]) for row in rows_of]
    assert expected == [(row["id"], ours(row)) for row in rows_of]
    assert [row["id"] for row in rows_of if theirs(row) == ours(row)] == []


def test_exceptions_have_reasons_and_are_no_hole() -> None:
    """Every exception is a row and names a known kind of difference; how many there are is fixed."""
    assert set(KINDS_OF_DIFFERENCE) == {row["kind"] for row in EXCEPTIONS.values()}
    assert EXCEPTIONS.keys() <= {row["id"] for row in ROWS}
    counted = Counter(row["peer"] for row in ROWS)
    excepted = Counter(row["peer"] for row in ROWS if row["id"] in EXCEPTIONS)
    assert {peer: (counted[peer], excepted[peer]) for peer in counted} == COUNTS


def _is_measured(row: Mapping[str, Any]) -> bool:
    return row["id"] not in EXCEPTIONS and row["expected"] != [] and row["actual"] != [] and row["score"] is not None


def test_azure_measures_the_same_precision_and_recall() -> None:
    """Precision, recall and F1 of Azure's evaluator are those of our details (G19)."""
    measured = [row for row in ROWS if row["peer"] == "azure-ai-evaluation" and _is_measured(row)]
    for row in measured:
        (verdict,) = verdicts(row)
        known = {key: pytest.approx(row[key]) for key in ("precision", "recall", "f1")}
        assert known == {key: verdict.details[key] for key in known}, row["id"]
    assert len(measured) > 250


def test_ragas_measures_the_same_f1() -> None:
    """F1 of Ragas is ours wherever no two calls are equal, which it counts once (G19)."""
    measured = [row for row in ROWS if row["metric"] == "ToolCallF1" and _is_measured(row) and _has_no_twins(row)]
    for row in measured:
        (verdict,) = verdicts(row)
        assert pytest.approx(row["score"], abs=1e-4) == verdict.details["f1"], row["id"]
    assert len(measured) > 60


def _has_no_twins(row: Mapping[str, Any]) -> bool:
    return all(calls.count(call) == 1 for calls in (row["expected"], row["actual"]) for call in calls)
