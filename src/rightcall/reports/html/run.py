"""What the page shows of a whole run: the decision, the counts and rates, what it was made with, and notes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import msgspec

from rightcall.core.rates import show_interval, show_rate, wilson
from rightcall.core.summary import Gate, RunEnd, RunHead, StatusCounts, Summary
from rightcall.core.values import cut
from rightcall.core.wording import amount, shadowed
from rightcall.reports.html.longtext import LongText, long_text

SHOWN_NOTES: Final = 200
SHOWN_VERDICTS: Final = 1000
SHOWN_TITLE: Final = 500

if TYPE_CHECKING:
    from rightcall.core.comparison import Comparison
    from rightcall.reports.html.changes import ComparisonView


class RateView(msgspec.Struct, frozen=True):
    """A rate of passes: its words, and Wilson's 95 % interval around it; `None` where nothing was graded."""

    words: str
    share: float | None = None
    interval: tuple[float, float] | None = None


class VerdictRow(msgspec.Struct, frozen=True):
    """What came of one verdict name: how often it passed, failed, erred and did not apply, and the rate it needs."""

    name: str
    counts: tuple[int, int, int, int]
    rate: RateView
    threshold: str


class RunView(msgspec.Struct, frozen=True, kw_only=True):
    """The head and the foot of the page. `facts` are names and values of what the run was made with."""

    title: str
    decision: str
    exit_code: int
    reasons: tuple[LongText, ...]
    counts: tuple[tuple[str, int], ...]
    total: int
    rate: RateView
    coverage: str
    shadow: str
    verdicts: tuple[VerdictRow, ...]
    verdicts_left_out: int
    facts: tuple[tuple[str, str], ...]
    comparison: ComparisonView | None
    notes: tuple[LongText, ...]
    notes_left_out: int


def run_view(head: RunHead, end: RunEnd) -> RunView:
    """What is shown of a run beside its results."""
    summary, notes = end.summary, [f"No test was for trajectory {name}" for name in end.unused] + list(end.warnings)
    names = sorted(summary.verdicts)
    return RunView(
        title=cut(head.test_set, SHOWN_TITLE),
        decision=end.decision.word,
        exit_code=end.decision.exit_code,
        reasons=tuple(map(long_text, end.decision.reasons)),
        counts=outcome_counts(summary),
        total=summary.total,
        rate=rate_view(summary.passed, summary.graded),
        coverage=_coverage(summary),
        shadow=_shadow(summary),
        verdicts=tuple(_verdict_row(name, summary.verdicts[name], head.gate) for name in names[:SHOWN_VERDICTS]),
        verdicts_left_out=max(0, len(names) - SHOWN_VERDICTS),
        facts=tuple(_facts(head, end)),
        comparison=None if end.comparison is None else _comparison(end.comparison),
        notes=tuple(map(long_text, notes[:SHOWN_NOTES])),
        notes_left_out=max(0, len(notes) - SHOWN_NOTES),
    )


def _comparison(comparison: Comparison) -> ComparisonView:
    from rightcall.reports.html.changes import comparison_view

    return comparison_view(comparison)


def outcome_counts(summary: Summary) -> tuple[tuple[str, int], ...]:
    """How many results came to each outcome."""
    return (
        ("pass", summary.passed),
        ("fail", summary.failed),
        ("error", summary.errors),
        ("inconclusive", summary.inconclusive),
    )


def rate_view(passed: int, graded: int) -> RateView:
    """`3/4 = 0.7500 (95 % interval 0.3006 to 0.9544)`, or `n/a` where nothing was graded (G35)."""
    if not graded:
        return RateView("n/a")
    words = show_interval(passed, graded, "95 % interval ")
    return RateView(words, passed / graded, wilson(passed, graded))


def _coverage(summary: Summary) -> str:
    if not summary.total:
        return "n/a"
    return f"{summary.graded}/{summary.total} = {show_rate(Fraction(summary.graded, summary.total))} graded"


def _shadow(summary: Summary) -> str:
    counts = summary.shadow
    return shadowed(counts.failed, counts.errors, counts.total) if counts.total else ""


def _verdict_row(name: str, counts: StatusCounts, gate: Gate) -> VerdictRow:
    numbers = (counts.passed, counts.failed, counts.errors, counts.not_applicable)
    threshold = str(gate.thresholds.get(name, ""))
    return VerdictRow(
        cut(name, SHOWN_TITLE), numbers, rate_view(counts.passed, counts.passed + counts.failed), threshold
    )


def _facts(head: RunHead, end: RunEnd) -> Iterator[tuple[str, str]]:
    yield "Test set", cut(head.test_set, SHOWN_TITLE) or "none: expectations that the records carry"
    if head.test_set_hash:
        yield "Hash of the test set", head.test_set_hash
    yield "Graded by", f"rightcall {head.product}, rules {head.rules}"
    yield "Needed to pass", "; ".join(_needed(head.gate))
    if end.counted:
        yield "Counted", cut(end.counted, SHOWN_TITLE)


def _needed(gate: Gate) -> Iterator[str]:
    yield f"pass rate {gate.min_pass_rate}"
    yield f"at least {gate.min_graded} graded"
    yield f"at most {amount(gate.allow_errors, 'error')}"
    yield from (f"{cut(name, SHOWN_TITLE)} {rate}" for name, rate in gate.thresholds.items())
