"""What the page shows of one result: its attempts, their verdicts with the evidence, and expected beside made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from rightcall.core.results import Attempt, Outcome, Result, Statistics
from rightcall.core.rows import Mark
from rightcall.core.rows import Row as Aligned
from rightcall.core.sidebyside import SHOWN_ROWS, condensed, numbered
from rightcall.core.story import reason
from rightcall.core.values import cut, display
from rightcall.core.verdicts import Finding, Status, Verdict
from rightcall.core.wording import amount
from rightcall.reports.html.longtext import LongText, indented, long_text, long_value, spoken
from rightcall.reports.html.rows import FACETS, SHOWN_NAME
from rightcall.reports.html.run import RateView, rate_view
from rightcall.reports.html.transcript import TranscriptView, transcript_view

SHOWN_ATTEMPTS: Final = 50
SHOWN_VERDICTS: Final = 200
SHOWN_FINDINGS: Final = 50
SHOWN_WARNINGS: Final = 50
SHOWN_LABELS: Final = 50
SHOWN_PLACE: Final = 500


class FindingView(msgspec.Struct, frozen=True):
    """One piece of evidence. `values` are what was expected and what was found, where the finding has them."""

    code: str
    message: LongText
    path: str
    values: tuple[tuple[str, LongText], ...]


class CallView(msgspec.Struct, frozen=True):
    """A call in a row: its words, and its arguments over several lines where one line does not hold them well."""

    words: str
    arguments: str = ""


class AlignedView(msgspec.Struct, frozen=True):
    """One row of expected beside made, with remarks on it."""

    mark: Mark
    expected: CallView | None
    made: CallView | None
    remarks: tuple[str, ...]


class Sides(msgspec.Struct, frozen=True):
    """What stands over two lists of calls, and what a row says, by its mark."""

    heads: tuple[str, str]
    words: Mapping[str, str]


EXPECTED: Final = Sides(
    ("expected", "made"),
    {
        "match": "as expected",
        "differs": "other arguments",
        "moved": "at another place",
        "missing": "not made",
        "unexpected": "not expected",
    },
)


class AlignmentView(msgspec.Struct, frozen=True):
    """Two lists of calls side by side; no rows where there is nothing to show."""

    rows: tuple[AlignedView, ...] = ()
    left_out: int = 0
    sides: Sides = EXPECTED


class VerdictView(msgspec.Struct, frozen=True, kw_only=True):
    """What one assertion says. `measures` are names and values such as precision; `left_out` counts findings."""

    id: str
    status: Status
    severity: str
    reason: LongText
    measures: tuple[tuple[str, str], ...]
    findings: tuple[FindingView, ...]
    left_out: int
    alignment: AlignmentView
    traceback: LongText | None


class AttemptView(msgspec.Struct, frozen=True, kw_only=True):
    """One trajectory graded. `facts` are names and values of where it comes from."""

    outcome: Outcome
    reason: LongText | None
    verdicts: tuple[VerdictView, ...]
    verdicts_left_out: int
    reply: LongText | None
    warnings: tuple[LongText, ...]
    warnings_left_out: int
    facts: tuple[tuple[str, str], ...]
    transcript: TranscriptView | None


class FlakinessView(msgspec.Struct, frozen=True):
    """How sure a test over several attempts is; `chances` holds k, pass@k and pass^k (G37)."""

    outcomes: tuple[Outcome, ...]
    words: str
    rate: RateView
    chances: tuple[tuple[int, float, float], ...]


class ResultView(msgspec.Struct, frozen=True, kw_only=True):
    """One test in one run."""

    anchor: str
    id: str
    name: str
    outcome: Outcome
    reason: LongText | None
    place: str
    labels: tuple[tuple[str, LongText], ...]
    flakiness: FlakinessView | None
    attempts: tuple[AttemptView, ...]
    attempts_left_out: int
    transcripts_left_out: bool = False


def without_transcripts(view: ResultView) -> ResultView:
    """The same with no conversation in it."""
    attempts = tuple(msgspec.structs.replace(attempt, transcript=None) for attempt in view.attempts)
    return msgspec.structs.replace(view, attempts=attempts, transcripts_left_out=True)


def result_view(result: Result, anchor: str) -> ResultView:
    """What is shown of a result."""
    return ResultView(
        anchor=anchor,
        id=cut(result.id, SHOWN_NAME),
        name=cut(result.name, SHOWN_NAME) if result.name != result.id else "",
        outcome=result.outcome,
        reason=None if result.outcome == Outcome.PASS else long_text(reason(result)),
        place=cut(result.place, SHOWN_PLACE),
        labels=tuple(_labels(result.labels)),
        flakiness=None if result.statistics is None else _flakiness(result, result.statistics),
        attempts=tuple(map(_attempt, result.attempts[:SHOWN_ATTEMPTS])),
        attempts_left_out=max(0, len(result.attempts) - SHOWN_ATTEMPTS),
    )


def _labels(labels: Mapping[str, Any]) -> Iterator[tuple[str, LongText]]:
    for name in sorted(labels, key=lambda name: (name not in FACETS, name))[:SHOWN_LABELS]:
        value = labels[name]
        words = isinstance(value, list) and all(isinstance(item, str) for item in value)
        yield cut(name, SHOWN_NAME), long_text(", ".join(value)) if words else spoken(value)


def _flakiness(result: Result, statistics: Statistics) -> FlakinessView:
    chances = zip(range(1, 1 + len(statistics.pass_at_k)), statistics.pass_at_k, statistics.pass_hat_k, strict=True)
    passed, graded = statistics.passed, statistics.passed + statistics.failed
    flaky = "flaky: some passed, some failed" if statistics.flaky else "not flaky"
    words = f"{passed} of {amount(len(result.attempts), 'attempt')} passed; {flaky}"
    outcomes = tuple(attempt.outcome for attempt in result.attempts[:SHOWN_ATTEMPTS])
    return FlakinessView(outcomes, words, rate_view(passed, graded), tuple(chances))


def _attempt(attempt: Attempt) -> AttemptView:
    return AttemptView(
        outcome=attempt.outcome,
        reason=long_text(attempt.reason) if attempt.reason else None,
        verdicts=tuple(_verdict(verdict, attempt) for verdict in attempt.verdicts[:SHOWN_VERDICTS]),
        verdicts_left_out=max(0, len(attempt.verdicts) - SHOWN_VERDICTS),
        reply=None if attempt.output is None else spoken(attempt.output),
        warnings=tuple(map(long_text, attempt.warnings[:SHOWN_WARNINGS])),
        warnings_left_out=max(0, len(attempt.warnings) - SHOWN_WARNINGS),
        facts=tuple(_facts(attempt)),
        transcript=None if attempt.transcript is None else transcript_view(attempt.transcript),
    )


def _facts(attempt: Attempt) -> Iterator[tuple[str, str]]:
    if attempt.trajectory:
        yield "Trajectory", cut(attempt.trajectory, SHOWN_NAME)
    yield "Calls", "none recorded" if attempt.calls is None else str(attempt.calls)
    if attempt.place:
        yield "Read from", cut(attempt.place, SHOWN_PLACE)
    if attempt.hash:
        yield "Hash", attempt.hash


def _verdict(verdict: Verdict, attempt: Attempt) -> VerdictView:
    findings = verdict.findings
    is_crash = verdict.status == Status.ERROR and "traceback" in verdict.details
    told = verdict.details.get("reason") if verdict.status == Status.PASS else verdict.reason
    return VerdictView(
        id=cut(verdict.id, SHOWN_NAME),
        status=verdict.status,
        severity=verdict.severity,
        reason=long_text(told if isinstance(told, str) else ""),
        measures=tuple(_measures(verdict)),
        findings=tuple(map(_finding, findings[:SHOWN_FINDINGS])),
        left_out=max(0, len(findings) - SHOWN_FINDINGS),
        alignment=alignment_view(attempt.alignments.get(verdict.id, ())),
        traceback=long_text(str(verdict.details["traceback"])) if is_crash else None,
    )


def _measures(verdict: Verdict) -> Iterator[tuple[str, str]]:
    for name, value in (("score", verdict.score), ("precision", verdict.precision), ("recall", verdict.recall)):
        if value is not None:
            yield name, f"{value:.4g}"


def _finding(finding: Finding) -> FindingView:
    values = (("expected", finding.expected), ("found", finding.actual))
    shown = tuple((name, long_value(value)) for name, value in values if value is not msgspec.UNSET)
    return FindingView(finding.code, long_text(finding.message), cut(finding.path, SHOWN_NAME), shown)


def alignment_view(rows: Sequence[Aligned], sides: Sides = EXPECTED, shown: int = SHOWN_ROWS) -> AlignmentView:
    """Rows as they are shown; among many, long runs of matches are told by their number."""
    kept = condensed(rows)
    return AlignmentView(tuple(map(_aligned, kept[:shown])), max(0, len(kept) - shown), sides)


def _aligned(row: Aligned) -> AlignedView:
    remarks = [difference.message for difference in row.differences] + [row.note]
    return AlignedView(
        row.mark,
        _call(row.expected_index, row.expected),
        _call(row.made_index, row.made),
        tuple(cut(remark, 1000) for remark in remarks if remark),
    )


def _call(index: int | None, call: Mapping[str, Any] | None) -> CallView | None:
    if call is None:
        return None
    arguments: Any = call.get("arguments")
    return CallView(numbered(index, call), indented(arguments) if _is_long(arguments) else "")


def _is_long(arguments: Any) -> bool:
    """Whether some of the arguments are cut where a call stands on one line."""
    parts: Sequence[Any] = list(arguments.values()) if isinstance(arguments, dict) else [arguments]
    return len(display(arguments, 200)) > 150 or any(len(display(part, 70)) > 60 for part in parts)
