"""From results to a decision: the counts of a run, the gate and the exit code (G35, G36, G39)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec

from rightcall.core.rates import show_comparison
from rightcall.core.results import ONE, Attempt, Outcome, Result
from rightcall.core.spending import Used
from rightcall.core.verdicts import Status, Verdict

if TYPE_CHECKING:
    from rightcall.core.comparison import Comparison

RULES_VERSION = "1"
"""The version of the rules by which runs are graded; results of other rules cannot be compared with them."""


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """What must hold for a run to pass (G36). Rates are exact fractions from 0 to 1."""

    min_pass_rate: Fraction = ONE
    min_graded: int = 1
    allow_errors: int = 0
    thresholds: Mapping[str, Fraction] = {}


class ShadowCounts(msgspec.Struct, kw_only=True):
    """Trajectories with verdicts of severity `shadow`, and what these would have done had they blocked."""

    failed: int = 0
    errors: int = 0
    total: int = 0

    def add(self, attempt: Attempt) -> None:
        """Fold one trajectory in. Failed verdicts weigh more than those that could not be judged (G2)."""
        statuses = {verdict.status for verdict in attempt.verdicts if verdict.severity == "shadow"}
        if not statuses:
            return
        self.total += 1
        self.failed += Status.FAIL in statuses
        self.errors += Status.ERROR in statuses and Status.FAIL not in statuses


class StatusCounts(msgspec.Struct, kw_only=True):
    """How often one verdict name came to each status."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    not_applicable: int = 0


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The gate's decision: `exit_code` is 0, 1 (blocked by failures) or 3 (incomplete); `reasons` say why.

    `incomplete` says that something could not be judged, also where failures decide the exit code.
    """

    passed: bool
    exit_code: int
    reasons: tuple[str, ...] = ()
    incomplete: bool = False

    @property
    def word(self) -> str:
        """The exit code in a word."""
        return {0: "Passed", 1: "Blocked"}.get(self.exit_code, "Incomplete")


class RunHead(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is made with, known before its first result (G6). `test_set` is a name for people."""

    product: str
    rules: str = RULES_VERSION
    test_set: str = ""
    test_set_hash: str = ""
    gate: Gate = Gate()


class Summary(msgspec.Struct, kw_only=True):
    """The counts of a run, folded result by result, and everything that is decided from them.

    Every report and the exit code are made from this one object (G36). `judge` is what all answers of judges came
    from and cost, `None` where none was asked.
    """

    passed: int = 0
    failed: int = 0
    errors: int = 0
    inconclusive: int = 0
    verdicts: dict[str, StatusCounts] = {}
    blocking: dict[str, StatusCounts] = {}
    shadow: ShadowCounts = msgspec.field(default_factory=ShadowCounts)
    judge: Used | None = None

    @property
    def total(self) -> int:
        """All results."""
        return self.passed + self.failed + self.errors + self.inconclusive

    @property
    def graded(self) -> int:
        """Results that passed or failed: the denominator of the pass rate."""
        return self.passed + self.failed

    @property
    def pass_rate(self) -> Fraction | None:
        """Passed of graded results; `None` when nothing was graded."""
        return Fraction(self.passed, self.graded) if self.graded else None

    def add(self, result: Result) -> None:
        """Fold one result in."""
        match result.outcome:
            case Outcome.PASS:
                self.passed += 1
            case Outcome.FAIL:
                self.failed += 1
            case Outcome.ERROR:
                self.errors += 1
            case Outcome.INCONCLUSIVE:
                self.inconclusive += 1
        for attempt in result.attempts:
            self.shadow.add(attempt)
            for verdict in attempt.verdicts:
                self._spend(verdict)
                _count(self.verdicts, verdict)
                if verdict.severity == "block":
                    _count(self.blocking, verdict)

    def _spend(self, verdict: Verdict) -> None:
        used = Used.of(verdict.evidence.details)
        if used is not None:
            self.judge = used if self.judge is None else self.judge + used

    def decide(self, gate: Gate) -> Decision:
        """Does the run pass the gate? Undefined, empty and missing block (G36, G39)."""
        failures, missing = list(_failures(self, gate)), list(_missing(self, gate))
        code = 1 if failures else 3 if missing else 0
        return Decision(passed=code == 0, exit_code=code, reasons=(*failures, *missing), incomplete=bool(missing))


class RunEnd(msgspec.Struct, frozen=True, kw_only=True):
    """What a run came to. `unused` names the trajectories that no test was for, `warnings` what had no effect.

    `counted` says in words which calls counted. `comparison` is there where the run was compared with a baseline.
    """

    summary: Summary
    decision: Decision
    counted: str = ""
    unused: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    comparison: Comparison | None = None


def _count(counts: dict[str, StatusCounts], verdict: Verdict) -> None:
    row = counts.setdefault(verdict.name, StatusCounts())
    match verdict.status:
        case Status.PASS:
            row.passed += 1
        case Status.FAIL:
            row.failed += 1
        case Status.ERROR:
            row.errors += 1
        case Status.NOT_APPLICABLE:
            row.not_applicable += 1


def _failures(summary: Summary, gate: Gate) -> Iterable[str]:
    rate = summary.pass_rate
    if rate is not None and rate < gate.min_pass_rate:
        yield f"pass rate {summary.passed}/{summary.graded} = {show_comparison(rate, gate.min_pass_rate)}"
    for name, threshold in gate.thresholds.items():
        row = summary.blocking.get(name, StatusCounts())
        graded = row.passed + row.failed
        if graded and Fraction(row.passed, graded) < threshold:
            yield f"`{name}` {row.passed}/{graded} = {show_comparison(Fraction(row.passed, graded), threshold)}"


def _missing(summary: Summary, gate: Gate) -> Iterable[str]:
    if summary.graded < max(gate.min_graded, 1):
        yield f"graded {summary.graded} of {summary.total}, at least {max(gate.min_graded, 1)} needed"
    if summary.errors > gate.allow_errors:
        allowed = f", {gate.allow_errors} allowed" if gate.allow_errors else ""
        noun = "test" if summary.errors == 1 else "tests"
        yield f"{summary.errors} {noun} could not be judged{allowed}"
    for name in gate.thresholds:
        row = summary.blocking.get(name, StatusCounts())
        if not row.passed + row.failed:
            yield f"`{name}`: no results"
