"""The JSON reports: one document with everything that is known of a run, or its results, one a line.

Its keys and their types never depend on what happened: lists are lists, also when they are empty, and whether
calls were recorded stands beside how many there were. `schema` changes when a key changes its meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rightcall.core.inert import escaped_json
from rightcall.core.results import Attempt, Result
from rightcall.core.summary import Decision, Gate, RunEnd, RunHead, StatusCounts, Summary

if TYPE_CHECKING:
    from rightcall.core.comparison import Comparison

SCHEMA: Final = 1
"""The version of the document's shape."""


class JSONReport:
    """Writes results as they come, then the counts and the decision."""

    def __init__(self) -> None:
        self._separator = b""

    def start(self, head: RunHead) -> bytes:
        """Open the document with what the run was made with."""
        opening = {
            "rightcall": head.product,
            "schema": SCHEMA,
            "rules": head.rules,
            "test_set": {"name": head.test_set, "hash": head.test_set_hash},
            "gate": _gate(head.gate),
        }
        return escaped_json(opening)[:-1] + b',"results":['

    def add(self, result: Result) -> bytes:
        """Write one result on a line of its own."""
        separator, self._separator = self._separator, b","
        return separator + b"\n" + escaped_json(result_as_json(result, _aligned_attempt))

    def end(self, end: RunEnd) -> bytes:
        """Close the document with the counts, the verdict table and the decision."""
        closing = {
            "counts": _counts(end.summary),
            "verdicts": _verdict_table(end.summary),
            "shadow": end.summary.shadow,
            "judge": None if end.summary.judge is None else end.summary.judge.record(),
            "counted": end.counted,
            "unused": end.unused,
            "warnings": end.warnings,
            "comparison": None if end.comparison is None else comparison_as_json(end.comparison),
            "decision": _decision(end.decision),
        }
        return b"\n]," + escaped_json(closing)[1:] + b"\n"


class JSONLinesReport:
    """Writes one result a line and nothing else, for runs of any size."""

    def start(self, head: RunHead) -> bytes:
        """Write nothing: every line is a result."""
        return b""

    def add(self, result: Result) -> bytes:
        """Write one result."""
        return escaped_json(result_as_json(result, _attempt)) + b"\n"

    def end(self, end: RunEnd) -> bytes:
        """Write nothing: every line is a result."""
        return b""


def result_as_json(result: Result, attempt_as_json: Callable[[Attempt], dict[str, Any]]) -> dict[str, Any]:
    """Return one result with the keys of the report."""
    return {
        "id": result.id,
        "name": result.name,
        "outcome": result.outcome,
        "reason": result.reason,
        "place": result.place,
        "labels": result.labels,
        "positional": result.positional,
        "statistics": result.statistics,
        "attempts": [attempt_as_json(attempt) for attempt in result.attempts],
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "trajectory": attempt.trajectory,
        "outcome": attempt.outcome,
        "reason": attempt.reason,
        "recorded": attempt.calls is not None,
        "calls": attempt.calls,
        "made": attempt.made,
        "verdicts": [verdict.record() for verdict in attempt.verdicts],
        "output": attempt.output,
        "warnings": attempt.warnings,
        "place": attempt.place,
        "hash": attempt.hash,
    }


def _aligned_attempt(attempt: Attempt) -> dict[str, Any]:
    """The same with expected beside made, which is much text in a large run."""
    return {**_attempt(attempt), "alignments": dict(attempt.alignments)}


def comparison_document(comparison: Comparison) -> bytes:
    """Return a comparison of two runs as a document, with what it comes to."""
    decision = _decision(comparison.decide())
    document = {"schema": SCHEMA, "comparison": comparison_as_json(comparison), "decision": decision}
    return escaped_json(document) + b"\n"


def comparison_as_json(comparison: Comparison) -> dict[str, Any]:
    """Return what a run differs in from its baseline."""
    found = msgspec.structs.asdict(comparison)
    # What is secret in the results is kept only to be taken out of them.
    return {**found, "changes": [_without(msgspec.structs.asdict(change), "secrets") for change in comparison.changes]}


def _without(members: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in members.items() if key != name}


def _gate(gate: Gate) -> dict[str, Any]:
    return {
        "min_pass_rate": str(gate.min_pass_rate),
        "min_graded": gate.min_graded,
        "allow_errors": gate.allow_errors,
        "thresholds": {name: str(rate) for name, rate in gate.thresholds.items()},
    }


def _counts(summary: Summary) -> dict[str, Any]:
    return {
        "passed": summary.passed,
        "failed": summary.failed,
        "errors": summary.errors,
        "inconclusive": summary.inconclusive,
        "graded": summary.graded,
        "total": summary.total,
        "pass_rate": _ratio(summary.passed, summary.graded),
        "coverage": _ratio(summary.graded, summary.total),
    }


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _verdict_table(summary: Summary) -> list[dict[str, Any]]:
    none = StatusCounts()
    return [
        {"name": name, "all": counts, "blocking": summary.blocking.get(name, none)}
        for name, counts in sorted(summary.verdicts.items())
    ]


def _decision(decision: Decision) -> Mapping[str, Any]:
    return {
        "passed": decision.passed,
        "exit_code": decision.exit_code,
        "incomplete": decision.incomplete,
        "reasons": decision.reasons,
    }
