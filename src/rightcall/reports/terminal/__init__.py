"""The report for people: one line a test, and for a failure what was expected beside what was made."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rightcall.core.rates import show_rate
from rightcall.core.results import Attempt, Outcome, Result
from rightcall.core.rows import Row
from rightcall.core.sidebyside import ASCII_MARKS, UNICODE_MARKS, side_by_side
from rightcall.core.summary import Decision, RunEnd, RunHead, ShadowCounts, Summary
from rightcall.core.values import cut, display, visible
from rightcall.core.verdicts import Finding, Status, Verdict
from rightcall.core.wording import amount, first_and_more, shadowed
from rightcall.reports.terminal.paint import Line, Piece, Style, coloured, plain

if TYPE_CHECKING:
    from rightcall.core.comparison import Comparison

SHOWN_FINDINGS: Final = 5
SHOWN_REPLY: Final = 300
SHOWN_UNUSED: Final = 10

SHOWN: Final = {True: 1000, False: 50}
"""How many tests that passed, and that did not pass, are shown unless all are asked for."""


class Detail(enum.Enum):
    """How much is shown: only what did not pass, one line for what passed, or every verdict."""

    QUIET = "quiet"
    NORMAL = "normal"
    VERBOSE = "verbose"


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """How the report looks: cells in a line, with colours or without, symbols of Unicode or ASCII."""

    width: int = 100
    colours: bool = False
    ascii_only: bool = False
    detail: Detail = Detail.NORMAL


_STYLES: Final[dict[str, Style]] = {
    "plain": "plain",
    "pass": "pass",
    "fail": "fail",
    "error": "error",
    "inconclusive": "muted",
    "not_applicable": "muted",
    "head": "muted",
    "match": "plain",
    "differs": "fail",
    "moved": "error",
    "missing": "fail",
    "unexpected": "error",
    "note": "muted",
}
_UNICODE = {"pass": "✓", "fail": "✗", "error": "!", "inconclusive": "?", "not_applicable": "-"}
_ASCII = {**_UNICODE, "pass": "ok", "fail": "x"}
_WORDS = {"pass": "passed", "fail": "failed", "error": "could not be judged", "inconclusive": "inconclusive"}


class TerminalReport:
    """Shows each result as soon as it is known, then the counts and the gate's decision."""

    def __init__(self, look: Look | None = None) -> None:
        self.look = look or Look()
        self._paint = coloured if self.look.colours else plain
        self._signs = _ASCII if self.look.ascii_only else _UNICODE
        self._marks = ASCII_MARKS if self.look.ascii_only else UNICODE_MARKS
        self._is_after_block = True
        self._results = {True: 0, False: 0}

    def start(self, head: RunHead) -> bytes:
        """Name the test set."""
        self._is_after_block = True
        self._results = {True: 0, False: 0}
        return self._paint([(("strong", head.test_set),), ()]) if head.test_set else b""

    def add(self, result: Result) -> bytes:
        """Show one result: a line if it passed, a block if it did not; beyond a number, only count it."""
        passed = result.outcome == Outcome.PASS
        self._results[passed] += 1
        if self._is_left_out(passed):
            return b""
        lines = list(self._result(result))
        is_block = len(lines) > 1
        before: list[Line] = [()] if is_block and not self._is_after_block else []
        after: list[Line] = [()] if is_block else []
        self._is_after_block = is_block
        return self._paint([*before, *lines, *after])

    def _is_left_out(self, passed: bool) -> bool:
        if self.look.detail is Detail.VERBOSE:
            return False
        return (passed and self.look.detail is Detail.QUIET) or self._results[passed] > SHOWN[passed]

    def end(self, end: RunEnd) -> bytes:
        """Show how much was left out, what was not used, the counts and the decision."""
        return self._paint([*self._left_out(), *self._end(end)])

    def _left_out(self) -> Iterator[Line]:
        for passed, verb in ((True, "passed"), (False, "did not pass")):
            more = self._results[passed] - SHOWN[passed]
            if more > 0 and self._is_left_out(passed) and not (passed and self.look.detail is Detail.QUIET):
                number = amount(more, "more test")
                yield (("strong", f"{number} {verb}"), ("muted", "; --verbose shows all, -o FILE keeps all"))

    def _result(self, result: Result) -> Iterator[Line]:
        yield self._title(result)
        if result.reason:
            yield (("plain", "  "), (_STYLES[result.outcome], result.reason))
        if len(result.attempts) == 1:
            yield from self._attempt(result.attempts[0])
            return
        for number, attempt in enumerate(result.attempts, 1):
            if self._is_shown(attempt.outcome):
                yield (
                    ("plain", f"  attempt {number} of {len(result.attempts)}: "),
                    self._outcome(attempt.outcome),
                )
                yield from ((("plain", "  "), *line) for line in self._attempt(attempt))

    def _is_shown(self, outcome: Outcome) -> bool:
        return outcome != Outcome.PASS or self.look.detail is Detail.VERBOSE

    def _title(self, result: Result) -> Line:
        outcome = result.outcome
        name = f"  {result.name}" if result.name and result.name != result.id else ""
        pieces: list[Piece] = [
            (_STYLES[outcome], f"{self._signs[outcome]} "),
            ("strong", result.id),
            ("plain", name),
        ]
        if outcome != Outcome.PASS:
            pieces.append((_STYLES[outcome], f"  {_WORDS[outcome]}"))
        pieces.append(("muted", _remarks(result)))
        return tuple(pieces)

    def _outcome(self, outcome: Outcome) -> Piece:
        return (_STYLES[outcome], _WORDS[outcome])

    def _attempt(self, attempt: Attempt) -> Iterator[Line]:
        if attempt.reason:
            yield (("plain", "  "), (_STYLES[attempt.outcome], attempt.reason))
        for verdict in attempt.verdicts:
            yield from self._verdict(verdict, attempt)
        if attempt.outcome != Outcome.PASS:
            yield from self._evidence(attempt)
        for warning in _untold(attempt):
            yield (("plain", "  "), ("error", "note: "), ("plain", warning))

    def _verdict(self, verdict: Verdict, attempt: Attempt) -> Iterator[Line]:
        if verdict.status == Status.PASS and not self._is_shown(attempt.outcome):
            return
        style = _STYLES[verdict.status]
        counts = "" if verdict.severity == "block" else f" ({verdict.severity}: does not count)"
        reason = f": {verdict.reason}" if verdict.reason else ""
        sign = self._signs[verdict.status]
        yield (("plain", "  "), (style, f"{sign} {verdict.id}"), ("muted", counts), ("plain", reason))
        for finding in _shown_findings(verdict):
            yield (("plain", "      "), ("plain", finding))
        rows = attempt.alignments.get(verdict.id, ())
        if rows:
            yield from self._alignment(rows)

    def _alignment(self, rows: Sequence[Row]) -> Iterator[Line]:
        yield ()
        for line in side_by_side(rows, self.look.width - 4, self._marks):
            yield (("plain", "    "), (_STYLES[line.kind], line.text))
        yield ()

    def _evidence(self, attempt: Attempt) -> Iterator[Line]:
        if source := _trajectory(attempt) or attempt.place:
            yield (("muted", f"  {source}"),)
        if attempt.output is not None:
            yield (("plain", "  The agent replied: "), ("plain", _reply(attempt.output)))

    def _end(self, end: RunEnd) -> Iterator[Line]:
        if not self._is_after_block:
            yield ()
        yield from _listed("No test was for", end.unused)
        for warning in end.warnings:
            yield (("error", "note: "), ("plain", warning))
        if end.unused or end.warnings:
            yield ()
        if end.comparison is not None:
            yield from compared(end.comparison, self.look)
            yield ()
        if end.counted and self.look.detail is not Detail.QUIET:
            yield (("muted", f"counted: {end.counted}"),)
        if end.summary.judge is not None and self.look.detail is not Detail.QUIET:
            yield (("muted", f"judge: {end.summary.judge.words}"),)
        yield tuple(_counts(end.summary))
        yield from _shadow(end.summary.shadow)
        yield _decided(end.decision)


def _decided(decision: Decision) -> Line:
    style: Style = "pass" if decision.passed else "fail" if decision.exit_code == 1 else "error"
    return ((style, decision.word), ("plain", f": {'; '.join(decision.reasons)}" if decision.reasons else ""))


def comparison_as_text(comparison: Comparison, look: Look | None = None) -> bytes:
    """Return a comparison of two runs as it is shown, with what it comes to."""
    look = look or Look()
    paint = coloured if look.colours else plain
    return paint([*compared(comparison, look), (), _decided(comparison.decide())])


def compared(comparison: Comparison, look: Look) -> Iterator[Line]:
    """What a run differs in from its baseline: also calls side by side of tests that block, verbose of all."""
    from rightcall.core.comparison import Kind
    from rightcall.core.comparison.telling import ALARMING, summed, told

    marks = ASCII_MARKS if look.ascii_only else UNICODE_MARKS
    with_calls = frozenset(Kind) if look.detail is Detail.VERBOSE else ALARMING
    lines = summed(comparison) if look.detail is Detail.QUIET else told(comparison, look.width, marks, with_calls)
    for line in lines:
        yield ((_STYLES[line.kind], line.text),)


def _shadow(counts: ShadowCounts) -> Iterator[Line]:
    if counts.total:
        style: Style = "error" if counts.failed or counts.errors else "plain"
        yield ((style, f"shadow: {shadowed(counts.failed, counts.errors, counts.total)}"),)


def _remarks(result: Result) -> str:
    parts = []
    if len(result.attempts) > 1 and result.statistics is not None:
        statistics = result.statistics
        graded = statistics.passed + statistics.failed
        low, high = statistics.interval
        parts.append(f"{statistics.passed} of {len(result.attempts)} attempts passed")
        if graded:
            rate = show_rate(Fraction(statistics.passed, graded), 2)
            parts.append(f"rate {rate}, 95 % interval {low:.2f} to {high:.2f}")
        parts.extend(["flaky"] if statistics.flaky else [])
    elif result.attempts and result.outcome == Outcome.PASS:
        parts.append(", ".join(verdict.id for verdict in result.attempts[0].verdicts))
    if result.outcome != Outcome.PASS and result.place:
        parts.append(result.place)
    return "  " + "; ".join(parts) if parts else ""


def _shown_findings(verdict: Verdict) -> Iterator[str]:
    others: tuple[Finding, ...] = verdict.findings[1:]
    for finding in others[:SHOWN_FINDINGS]:
        yield finding.message
    if len(others) > SHOWN_FINDINGS:
        yield f"and {len(others) - SHOWN_FINDINGS} more findings"


def _untold(attempt: Attempt) -> Iterator[str]:
    """What is worth knowing of the attempt, but for what a reason says already."""
    told = [attempt.reason, *(verdict.reason for verdict in attempt.verdicts)]
    yield from (warning for warning in attempt.warnings if not any(warning in reason for reason in told))


def _trajectory(attempt: Attempt) -> str:
    calls = "no calls recorded" if attempt.calls is None else amount(attempt.calls, "call")
    place = f", in {attempt.place}" if attempt.place and attempt.place != attempt.trajectory else ""
    return f"trajectory {attempt.trajectory}: {calls}{place}" if attempt.trajectory else ""


def _reply(output: Any) -> str:
    text = visible(" ".join(output.split())) if isinstance(output, str) else display(output, SHOWN_REPLY)
    return cut(text, SHOWN_REPLY)


def _listed(title: str, names: Sequence[str]) -> Iterator[Line]:
    if names:
        number = amount(len(names), "trajectory", "trajectories")
        yield (("error", "note: "), ("plain", f"{title} {number}: {first_and_more(names, SHOWN_UNUSED)}"))


def _counts(summary: Summary) -> Iterator[Piece]:
    yield ("pass" if summary.passed else "plain", f"passed {summary.passed}")
    yield ("fail" if summary.failed else "plain", f", failed {summary.failed}")
    yield ("error" if summary.errors else "plain", f", errors {summary.errors}")
    yield ("plain", f", inconclusive {summary.inconclusive}, total {summary.total}")
    yield ("plain", f", coverage {_percent(summary.graded, summary.total)}")


def _percent(part: int, whole: int) -> str:
    """Cut, not rounded, so that 100 % means all."""
    tenths = 1000 * part // whole if whole else 0
    return f"{tenths // 10} %" if tenths % 10 == 0 else f"{tenths // 10}.{tenths % 10} %"
