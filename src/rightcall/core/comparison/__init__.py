"""What became of the tests of one run, the baseline, in another: as data, the same for every report.

Tests are paired by their id, and verdicts within a test by theirs. Nothing here is decided by a rate: a rate is shown
with its interval, and whether it differs by more than chance; what blocks are tests that fail now and did not before.

`outlines` are what is needed of the results, `comparer` folds them, `classifying` looks at one test, `calls` at its
calls, and `telling` says it all in words, `rates` those of rates.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET

from rightcall.core.rates import wilson
from rightcall.core.results import Outcome
from rightcall.core.significance import LEVEL
from rightcall.core.summary import Decision
from rightcall.core.verdicts import Severity, Status
from rightcall.core.wording import amount, first

SHOWN_IDS: Final = 5
"""Tests that a reason of the decision names."""


class Kind(enum.StrEnum):
    """What became of a test; a failure is excused only by the same failure before, an error by an error.

    A *regression* passed and fails now; so does a test in which a blocking verdict that passed fails now. A *new
    failure* fails now and was not there, or was not judged, or fails by a blocking verdict that was not there or not
    judged. *Unjudged* is one that is an error and was none, or that was judged and has now nothing to judge, or that
    fails as before, but in which a blocking verdict that passed is an error.
    """

    REGRESSION = "regression"
    NEW_FAILURE = "new_failure"
    UNJUDGED = "unjudged"
    FIX = "fix"
    JUDGED = "judged"
    STILL_FAILING = "still_failing"
    STILL_UNJUDGED = "still_unjudged"
    STILL_PASSING = "still_passing"
    NEW = "new"
    REMOVED = "removed"


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """How many of those that were judged passed: the integers, their ratio, and Wilson's 95 % interval."""

    passed: int
    graded: int
    rate: float | None
    interval: tuple[float, float]

    @property
    def exact(self) -> Fraction | None:
        """The rate as it is compared; `None` if nothing was judged."""
        return Fraction(self.passed, self.graded) if self.graded else None


def rate_of(passed: int, graded: int) -> Rate:
    """Return a rate with everything that is shown of it."""
    return Rate(passed=passed, graded=graded, rate=passed / graded if graded else None, interval=wilson(passed, graded))


class RateChange(msgspec.Struct, frozen=True, kw_only=True):
    """A rate in both runs.

    `worse` and `better` are how many of what was judged in both runs went from pass to fail and from fail to pass,
    `p_value` is that of McNemar's exact test on them; `None` where what is counted cannot be paired.
    """

    before: Rate
    after: Rate
    worse: int | None = None
    better: int | None = None
    p_value: float | None = None

    @property
    def is_significant(self) -> bool:
        """Whether the difference is more than chance would make of runs that are equally good."""
        return self.p_value is not None and self.p_value < LEVEL


class VerdictSide(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict in one run, over the attempts: failed if it failed in one, else an error, else passed.

    `passed` of `graded` attempts passed; `reason` is that of the first attempt with this status.
    """

    name: str
    status: Status
    severity: Severity
    passed: int
    graded: int
    reason: str


class VerdictChange(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict that is not what it was; `None` on the side where there was none."""

    id: str
    before: VerdictSide | None
    after: VerdictSide | None


class TestSide(msgspec.Struct, frozen=True, kw_only=True):
    """A test in one run: `passed` of `graded` attempts passed, `attempts` there were; `reason` says why it did not."""

    __test__ = False

    outcome: Outcome
    passed: int
    graded: int
    attempts: int
    reason: str
    place: str


class CallDifference(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One place where the arguments of two calls differ, by its JSON path; a value that is not there is left out."""

    path: str
    message: str
    before: Any = UNSET
    after: Any = UNSET


class CallRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the calls before beside the calls now; indices count from 0."""

    mark: Literal["same", "differs", "moved", "removed", "added", "note"]
    before_index: int | None = None
    before: dict[str, Any] | None = None
    after_index: int | None = None
    after: dict[str, Any] | None = None
    differences: tuple[CallDifference, ...] = ()
    note: str = ""


class CallsChange(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of an attempt then beside those of an attempt now; the attempts by position, from 0."""

    before_attempt: int
    after_attempt: int
    rows: tuple[CallRow, ...]


class TestChange(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one test: its verdicts that changed, and its calls if these did.

    `p_value` is that of Fisher's exact test on its attempts, where one of the runs has several. `secrets` are those of
    both results; no report writes them.
    """

    __test__ = False

    id: str
    kind: Kind
    before: TestSide | None
    after: TestSide | None
    verdicts: tuple[VerdictChange, ...] = ()
    calls: CallsChange | None = None
    p_value: float | None = None
    secrets: Mapping[str, tuple[str, ...]] = {}


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """A run beside its baseline.

    `counts` has every kind, and `changes` the tests of which there is something to tell, by kind; of a kind with very
    many only the first, and `left_out` says how many more there are. `pass_rate` counts tests, `attempt_rate` their
    attempts, `verdict_rates` the verdicts of each name. `calls_changed` is in how many of the tests in both runs the
    calls are others, `calls_unknown` in how many that is not known. `notes` say what limits the comparison.
    """

    baseline: str
    candidate: str
    counts: Mapping[Kind, int]
    changes: tuple[TestChange, ...]
    left_out: int
    judged_in_both: int
    pass_rate: RateChange
    attempt_rate: RateChange
    verdict_rates: Mapping[str, RateChange]
    calls_changed: int
    calls_unknown: int
    notes: tuple[str, ...]

    @property
    def excused(self) -> int:
        """How many tests fail as they did before."""
        return self.counts[Kind.STILL_FAILING]

    def decide(self) -> Decision:
        """Decide: 1 if a test fails that did not fail before, else 3 if something is newly unjudged, else 0.

        A failure is excused only by a failure in the baseline. Where no test was judged in both runs nothing has been
        compared, which is never a pass.
        """
        failures = [*self._named(Kind.REGRESSION, "regression"), *self._named(Kind.NEW_FAILURE, "new failure")]
        missing = list(self._named(Kind.UNJUDGED, "test is newly unjudged", "tests are newly unjudged"))
        if not self.judged_in_both:
            missing.append("nothing to compare: no test was judged in both runs")
        code = 1 if failures else 3 if missing else 0
        return Decision(passed=code == 0, exit_code=code, reasons=(*failures, *missing), incomplete=bool(missing))

    def _named(self, kind: Kind, one: str, many: str = "") -> Iterator[str]:
        number = self.counts[kind]
        if number:
            names = [change.id for change in self.changes if change.kind == kind]
            yield f"{amount(number, one, many)}: {first(names, SHOWN_IDS)}"
