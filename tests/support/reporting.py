"""Runs to report: made at random, with text of every kind, and a few made by hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from rightcall.core.results import Attempt, Outcome, Result, attempt_outcome, result_outcome, statistics
from rightcall.core.rows import Row, RowDifference
from rightcall.core.summary import Gate, RunEnd, RunHead, Summary
from rightcall.core.verdicts import Evidence, Finding, Status, Verdict
from rightcall.reports import Report

HOSTILE = "x\x1b[31m\r\n\t\x00\x9b2J\u202e\u2066\ufeff\ufffe\ud800\U000e0001<b>&\"']]>```|${{7*7}}"
"""Terminal escapes, control and direction characters, a lone surrogate, markup."""

texts = st.one_of(st.text(st.characters(codec=None), max_size=12), st.just(HOSTILE), st.sampled_from(["a", "b c"]))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(texts, inner, max_size=2)),
    max_leaves=4,
)
calls = st.fixed_dictionaries({"name": texts}, optional={"arguments": values})
rows = st.builds(
    Row,
    mark=st.sampled_from(["match", "differs", "moved", "missing", "unexpected", "note"]),
    expected_index=st.one_of(st.none(), st.integers(0, 99)),
    expected=st.one_of(st.none(), calls),
    made_index=st.one_of(st.none(), st.integers(0, 99)),
    made=st.one_of(st.none(), calls),
    differences=st.lists(st.builds(RowDifference, path=texts, message=texts, actual=values), max_size=2).map(tuple),
    note=texts,
)
findings = st.builds(Finding, code=st.sampled_from(["missing", "timeout"]), message=texts, path=texts, actual=values)


@st.composite
def verdicts(draw: st.DrawFn) -> Verdict:
    """A verdict whose findings agree with its status."""
    status = draw(st.sampled_from(Status))
    found = tuple(draw(st.lists(findings, min_size=1, max_size=3))) if status in (Status.FAIL, Status.ERROR) else ()
    name = draw(st.sampled_from(["tool_sequence", "no_unexpected_tool", HOSTILE]))
    return Verdict(
        id=name,
        name=name,
        kind="fake",
        status=status,
        severity=draw(st.sampled_from(["block", "warn", "shadow"])),
        score=draw(st.sampled_from([None, 0, 1, 66.67])),
        evidence=Evidence(
            found, draw(st.dictionaries(st.sampled_from(["precision", "recall", "reason", "traceback"]), values))
        ),
    )


@st.composite
def attempts(draw: st.DrawFn) -> Attempt:
    """An attempt whose outcome follows from its verdicts."""
    made = tuple(draw(st.lists(verdicts(), max_size=2)))
    return Attempt(
        trajectory=draw(texts),
        outcome=attempt_outcome(made),
        verdicts=made,
        reason=draw(texts),
        calls=draw(st.one_of(st.none(), st.integers(0, 3))),
        made=draw(st.one_of(st.none(), st.lists(calls, max_size=2).map(tuple))),
        output=draw(values),
        alignments={verdict.id: tuple(draw(st.lists(rows, max_size=2))) for verdict in made},
        warnings=tuple(draw(st.lists(texts, max_size=1))),
        place=draw(texts),
        hash="0123456789abcdef",
    )


@st.composite
def results(draw: st.DrawFn) -> Result:
    """A result whose outcome follows from its attempts."""
    made = tuple(draw(st.lists(attempts(), max_size=3)))
    return Result(
        id=draw(texts),
        name=draw(texts),
        outcome=result_outcome(made) if made else Outcome.ERROR,
        attempts=made,
        statistics=statistics(made) if len(made) > 1 else None,
        reason=draw(texts),
        place=draw(st.one_of(texts, st.just("tests/refund.rightcall.yaml:12"))),
        labels=draw(st.dictionaries(texts, values, max_size=2)),
    )


heavy = settings(max_examples=settings().max_examples // 4)
"""For laws of reports: a quarter of the examples that the profile has, since one run holds a hundred values."""


def report(written: Report, made: Iterable[Result], gate: Gate | None = None, **end: Any) -> bytes:
    """The bytes of a report of a run."""
    summary = Summary()
    head = RunHead(product="0.0", test_set=end.pop("test_set", "Refund flow"), test_set_hash="abc", gate=gate or Gate())
    pieces = [written.start(head)]
    for result in made:
        summary.add(result)
        pieces.append(written.add(result))
    pieces.append(written.end(RunEnd(summary=summary, decision=summary.decide(head.gate), **end)))
    return b"".join(pieces)


def verdict(name: str, status: str, *messages: str, details: dict[str, Any] | None = None, **fields: Any) -> Verdict:
    """A verdict with a finding for each message."""
    return Verdict(
        id=name,
        name=name,
        kind="fake",
        status=Status(status),
        evidence=Evidence(tuple(Finding(code="missing", message=message) for message in messages), details or {}),
        **fields,
    )


def result(identity: str, *made: Attempt, **fields: Any) -> Result:
    """A result over attempts."""
    return Result(
        id=identity,
        name=fields.pop("name", ""),
        outcome=fields.pop("outcome", None) or result_outcome(made),
        attempts=made,
        statistics=statistics(made) if len(made) > 1 else None,
        **fields,
    )


def attempt(*made: Verdict, **fields: Any) -> Attempt:
    """An attempt with verdicts."""
    fields = {"trajectory": "t-1", "calls": 2, **fields}
    return Attempt(outcome=fields.pop("outcome", None) or attempt_outcome(made), verdicts=made, **fields)


ROWS = (
    Row(
        mark="match",
        expected_index=0,
        expected={"name": "lookup_order", "arguments": {"order_id": 7}},
        made_index=0,
        made={"name": "lookup_order", "arguments": {"order_id": 7}},
    ),
    Row(mark="missing", expected_index=1, expected={"name": "check_policy"}),
    Row(
        mark="differs",
        expected_index=2,
        expected={"name": "issue_refund", "arguments": {"amount": 19.5}},
        made_index=1,
        made={"name": "issue_refund", "arguments": {"amount": 195}},
        differences=(
            RowDifference(
                path="amount", message="expected with amount = 19.5; had amount = 195", expected=19.5, actual=195
            ),
        ),
    ),
    Row(mark="unexpected", made_index=2, made={"name": "send_email", "arguments": {}}),
)
PASSED = result("late-order", attempt(verdict("tool_sequence", "pass")), name="Late order")
FAILED = result(
    "damaged",
    attempt(
        verdict(
            "tool_sequence",
            "fail",
            "Expected check_policy; it was never called.",
            "Expected amount = 19.5.",
            details={"precision": 0.5, "recall": 0.25, "f1": None},
        ),
        verdict("no_unexpected_tool", "pass"),
        alignments={"tool_sequence": ROWS},
        output="All done, 195 EUR are on their way.",
        place="log.jsonl:3",
    ),
    place="refund.rightcall.yaml:12",
)
UNJUDGED = result("gone", outcome=Outcome.ERROR, reason="no trajectory for test `gone`", place="r.yaml:4")
EMPTY = result("empty", attempt(verdict("tool_sequence", "not_applicable")))
FLAKY = result("flaky", attempt(verdict("tool_sequence", "pass")), attempt(verdict("tool_sequence", "fail", "No b.")))
RUN = (PASSED, FAILED, UNJUDGED, EMPTY, FLAKY)
