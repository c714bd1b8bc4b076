"""Several attempts at one test as one verdict, and their reports as the reports of one test (G37)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec
import pytest

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr

from rightcall.core.results import Attempt, Outcome, settle, statistics
from rightcall.core.wording import amount
from rightcall.faces.pytest_plugin.marker import Asked
from rightcall.faces.pytest_plugin.telling import OUTCOME


class Tried(msgspec.Struct, frozen=True):
    """One attempt: what it came to, and its reports, of which the last is that of the teardown."""

    outcome: Outcome
    reports: tuple[pytest.TestReport, ...]

    @property
    def deciding(self) -> pytest.TestReport:
        """The report of the call, or of the set-up if there was no call."""
        return self.reports[-2]

    @property
    def is_skipped(self) -> bool:
        """Whether the test asked to be skipped."""
        return is_skip(self.deciding)


def is_skip(report: pytest.TestReport) -> bool:
    """Whether a report says that the test was skipped, which an expected failure is not."""
    return report.skipped and not hasattr(report, "wasxfail")


def verdict(outcomes: Sequence[Outcome], asked: Asked) -> Outcome:
    """What the attempts come to; those that were not made, or could not be judged, are unknown."""
    passed, failed = outcomes.count(Outcome.PASS), outcomes.count(Outcome.FAIL)
    return settle(passed, failed, asked.repeat - passed - failed, asked.min_pass_rate)


def is_settled(outcomes: Sequence[Outcome], asked: Asked) -> bool:
    """Whether no attempt is left that could change the verdict."""
    return len(outcomes) >= asked.repeat or verdict(outcomes, asked) is not Outcome.ERROR


def together(item: pytest.Item, tried: Sequence[Tried], asked: Asked) -> Sequence[pytest.TestReport]:
    """The reports of one attempt, with the verdict, the reasons and the time of all of them."""
    if tried[0].is_skipped:
        return tried[0].reports
    outcome = verdict([one.outcome for one in tried], asked)
    shown = _representative(tried, outcome)
    deciding = shown.deciding
    if outcome is not Outcome.PASS and not hasattr(deciding, "wasxfail"):
        deciding.outcome, deciding.longrepr = "failed", _failure(item, _text(tried, asked, outcome))
    deciding.duration = sum(one.deciding.duration for one in tried)
    reports = (*shown.reports[:-1], _teardown(tried))
    for report in reports:
        report.user_properties = [*shown.deciding.user_properties, *_properties(tried, outcome)]
    return reports


def _representative(tried: Sequence[Tried], outcome: Outcome) -> Tried:
    alike = (one for one in tried if one.outcome is outcome)
    return next(alike, tried[-1])


def _teardown(tried: Sequence[Tried]) -> pytest.TestReport:
    """The first teardown that went wrong, so that none is hidden."""
    teardowns = [one.reports[-1] for one in tried]
    return next((report for report in teardowns if not report.passed), teardowns[-1])


def _failure(item: pytest.Item, text: str) -> str | TerminalRepr:
    """The text as pytest shows failures that need no traceback."""
    try:
        pytest.fail(text, pytrace=False)
    except pytest.fail.Exception:
        return item.repr_failure(pytest.ExceptionInfo.from_current())
    raise AssertionError("unreachable")


def _text(tried: Sequence[Tried], asked: Asked, outcome: Outcome) -> str:
    return "\n\n".join([_head(tried, asked, outcome), *_reasons(tried)])


def _head(tried: Sequence[Tried], asked: Asked, outcome: Outcome) -> str:
    passed = sum(one.outcome is Outcome.PASS for one in tried)
    unknown = sum(one.outcome is Outcome.ERROR for one in tried)
    left = asked.repeat - len(tried)
    wanted = f"all {asked.repeat}" if asked.min_pass_rate == 1 else f"{asked.min_pass_rate} of {asked.repeat}"
    parts = [f"{passed} of {amount(len(tried), 'attempt')} passed, {wanted} must"]
    parts += [f"{unknown} could not be judged"] if unknown else []
    parts += [f"{left} more were not made"] if left else []
    return ("could not be judged: " if outcome is Outcome.ERROR else "") + "; ".join(parts)


def _reasons(tried: Sequence[Tried]) -> Iterator[str]:
    """Why attempts did not pass: what is said alike is told once, as the first of them told it."""
    alike: dict[str, list[tuple[str, str]]] = {}
    for number, one in enumerate(tried, 1):
        if one.outcome is not Outcome.PASS:
            for report in (report for report in one.reports if not report.passed):
                alike.setdefault(_message(report), []).append((str(number), report.longreprtext))
    for told in alike.values():
        noun = "attempt" if len(told) == 1 else "attempts"
        yield f"{noun} {', '.join(number for number, _ in told)}:\n{told[0][1]}"


def _message(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return report.longreprtext if crash is None else str(crash.message)


def _properties(tried: Sequence[Tried], outcome: Outcome) -> Iterator[tuple[str, object]]:
    measured = statistics(Attempt(trajectory="", outcome=one.outcome) for one in tried)
    low, high = measured.interval
    yield OUTCOME, str(outcome)
    yield "rightcall.attempts", len(tried)
    yield "rightcall.attempts_passed", measured.passed
    yield "rightcall.interval_95", f"{low:.4f} to {high:.4f}"
    for name, values in (("pass@", measured.pass_at_k), ("pass^", measured.pass_hat_k)):
        if values:
            yield f"rightcall.{name}{len(values)}", f"{values[-1]:.4f}"
