"""From verdicts to results: attempts, and tests over their attempts (G2, G35, G37)."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import msgspec

from rightcall.core.calls import Transcript
from rightcall.core.rates import pass_at_k, pass_hat_k, wilson
from rightcall.core.rows import Row
from rightcall.core.verdicts import Status, Verdict
from rightcall.errors import Where

ONE = Fraction(1)
SHOWN_K = 10


class Outcome(enum.StrEnum):
    """What an attempt, or a test over its attempts, came to (G2)."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    INCONCLUSIVE = "inconclusive"


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One trajectory graded for one test.

    `reason` says why, when there are no verdicts to say it. `alignments` holds expected beside made for
    failed verdicts, by verdict id. `calls` is how many calls were recorded, `None` when none were recorded, and
    `made` are these calls as `{"name": …, "arguments": …}`, by which two runs are compared;
    `output` is the agent's reply, kept when the attempt did not pass. `place` is where the trajectory was read.
    `transcript` is there only where a report shows it: it is most of a trajectory. `secrets` are what each redactor, by
    its name, found to be secret in the test and the trajectory: they are for redaction, and no report is told them.
    """

    trajectory: str
    outcome: Outcome
    verdicts: tuple[Verdict, ...] = ()
    reason: str = ""
    calls: int | None = None
    made: tuple[dict[str, Any], ...] | None = None
    output: Any = None
    alignments: Mapping[str, tuple[Row, ...]] = {}
    warnings: tuple[str, ...] = ()
    place: str = ""
    hash: str = ""
    transcript: Transcript | None = None
    secrets: Mapping[str, tuple[str, ...]] = {}


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """Rates over the attempts of a test: shown beside its verdict, deciding nothing (G37).

    `pass_at_k` and `pass_hat_k` are for k = 1, 2, … up to ten; `interval` is Wilson's at 95 %.
    """

    passed: int
    failed: int
    errors: int
    inconclusive: int
    pass_at_k: tuple[float, ...] = ()
    pass_hat_k: tuple[float, ...] = ()
    interval: tuple[float, float] = (0.0, 1.0)
    flaky: bool = False


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One test in one run, over its attempts.

    `place` is where the test stands, as `file:line`; `places` where the expectation behind a verdict stands, by the
    verdict's id, for verdicts that did not pass. `positional` says that the id is only the position of the test, so
    that another run may call another test so.
    """

    id: str
    name: str
    outcome: Outcome
    attempts: tuple[Attempt, ...] = ()
    statistics: Statistics | None = None
    reason: str = ""
    place: str = ""
    places: Mapping[str, Where] = {}
    labels: dict[str, Any] = {}
    positional: bool = False


def attempt_outcome(verdicts: Iterable[Verdict], min_assertion_rate: Fraction = ONE) -> Outcome:
    """G2: a blocking failure fails, else a blocking error errs, else a pass passes, else inconclusive.

    With `min_assertion_rate` below 1 the share of passed assertions decides, but for bans, which fail alone.
    """
    blocking = [verdict for verdict in verdicts if verdict.severity == "block"]
    bans = {verdict.status for verdict in blocking if verdict.ban}
    if Status.FAIL in bans:
        return Outcome.FAIL
    statuses = [verdict.status for verdict in blocking]
    passed, failed, errors = (statuses.count(status) for status in (Status.PASS, Status.FAIL, Status.ERROR))
    outcome = settle(passed, failed, errors, min_assertion_rate)
    return Outcome.ERROR if outcome == Outcome.PASS and Status.ERROR in bans else outcome


def settle(passed: int, failed: int, errors: int, rate: Fraction) -> Outcome:
    """Does `passed / (passed + failed)` reach the rate, whatever the errors would have come to (G37)?"""
    total = passed + failed + errors
    if total == 0:
        return Outcome.INCONCLUSIVE
    if passed == total:
        return Outcome.PASS
    if Fraction(passed + errors, total) < rate:
        return Outcome.FAIL
    if errors == total or Fraction(passed, total) < rate:
        return Outcome.ERROR
    return Outcome.PASS


def statistics(attempts: Iterable[Attempt]) -> Statistics:
    """Count the attempts and say how sure the rate is."""
    outcomes = [attempt.outcome for attempt in attempts]
    passed, failed = outcomes.count(Outcome.PASS), outcomes.count(Outcome.FAIL)
    graded = passed + failed
    ks = range(1, min(graded, SHOWN_K) + 1)
    return Statistics(
        passed=passed,
        failed=failed,
        errors=outcomes.count(Outcome.ERROR),
        inconclusive=outcomes.count(Outcome.INCONCLUSIVE),
        pass_at_k=tuple(float(pass_at_k(passed, graded, k)) for k in ks),
        pass_hat_k=tuple(float(pass_hat_k(passed, graded, k)) for k in ks),
        interval=wilson(passed, graded),
        flaky=passed > 0 and failed > 0,
    )


def result_outcome(attempts: tuple[Attempt, ...], min_pass_rate: Fraction = ONE, missing: int = 0) -> Outcome:
    """What a test came to over its attempts (G37). `missing` ones were to be made and were not: they are unknown."""
    if len(attempts) == 1 and not missing:
        return attempts[0].outcome
    outcomes = [attempt.outcome for attempt in attempts]
    passed, failed, errors = (outcomes.count(outcome) for outcome in (Outcome.PASS, Outcome.FAIL, Outcome.ERROR))
    return settle(passed, failed, errors + missing, min_pass_rate)
