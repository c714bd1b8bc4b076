"""One test run several times, every attempt with fixtures of its own, and reported once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest

from rightcall.app.python import NotJudgedError
from rightcall.core.results import Outcome
from rightcall.faces.pytest_plugin.attempts import Tried, is_settled, is_skip, together
from rightcall.faces.pytest_plugin.marker import Asked

When = Literal["setup", "call", "teardown"]


def run(item: pytest.Item, nextitem: pytest.Item | None, asked: Asked) -> bool:
    """Run attempts until the verdict is settled, and report them as one test."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in together(item, _attempts(item, nextitem, asked), asked):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _attempts(item: pytest.Item, nextitem: pytest.Item | None, asked: Asked) -> list[Tried]:
    tried: list[Tried] = []
    before = list(item.user_properties)
    is_last = False
    while not is_last:
        item.user_properties[:] = before
        _renew(item)
        try:
            reports, outcome = _set_up_and_call(item)
            outcomes = [*(one.outcome for one in tried), outcome]
            is_last = is_skip(reports[-1]) or is_settled(outcomes, asked) or _is_stopping(item)
            teardown = _tear_down(item, _following(item, nextitem) if is_last else item.parent)
        finally:
            _let_go(item)
        tried.append(Tried(outcome if teardown.passed else Outcome.ERROR, (*reports, teardown)))
    return tried


def _is_stopping(item: pytest.Item) -> bool:
    return bool(item.session.shouldfail or item.session.shouldstop)


def _following(item: pytest.Item, nextitem: pytest.Item | None) -> pytest.Item | None:
    return None if _is_stopping(item) else nextitem


def _renew(item: pytest.Item) -> None:
    """Give the item fixtures of its own again, as pytest does where a test is run once more."""
    if hasattr(item, "_request") and not item._request:
        item._initrequest()  # type: ignore[attr-defined]  # there is no public way


def _let_go(item: pytest.Item) -> None:
    """Forget the fixtures, as pytest does after a test."""
    if hasattr(item, "_request"):
        item._request = False
        item.funcargs = None  # type: ignore[attr-defined]  # it has them where it has a request


def _set_up_and_call(item: pytest.Item) -> tuple[list[pytest.TestReport], Outcome]:
    setup, _ = _phase(item, "setup", lambda: item.ihook.pytest_runtest_setup(item=item))
    if not setup.passed:
        return [setup], Outcome.ERROR
    call, error = _phase(item, "call", lambda: item.ihook.pytest_runtest_call(item=item))
    return [setup, call], _outcome(call, error)


def _tear_down(item: pytest.Item, following: pytest.Item | pytest.Collector | None) -> pytest.TestReport:
    """Tear down what `following` does not need; the item's parent stands for a neighbour that shares all but itself."""
    report, _ = _phase(item, "teardown", lambda: item.ihook.pytest_runtest_teardown(item=item, nextitem=following))
    return report


def _outcome(report: pytest.TestReport, error: BaseException | None) -> Outcome:
    """A failed assertion is the agent's; anything else that is raised leaves unknown what the agent would have done."""
    if report.passed:
        return Outcome.PASS
    is_assertion = isinstance(error, AssertionError | pytest.fail.Exception) and not isinstance(error, NotJudgedError)
    return Outcome.FAIL if is_assertion or hasattr(report, "wasxfail") else Outcome.ERROR


def _phase(
    item: pytest.Item, when: When, phase: Callable[[], object]
) -> tuple[pytest.TestReport, BaseException | None]:
    """Run one phase and report it, as pytest does, but without showing the report yet."""
    debugs = item.config.getoption("usepdb", False)
    reraise = (pytest.exit.Exception,) if debugs else (pytest.exit.Exception, KeyboardInterrupt)
    call: pytest.CallInfo[object] = pytest.CallInfo.from_call(phase, when=when, reraise=reraise)
    report = item.ihook.pytest_runtest_makereport(item=item, call=call)
    if call.excinfo is None:
        return report, None
    if report.failed:
        item.ihook.pytest_exception_interact(node=item, call=call, report=report)
    return report, call.excinfo.value
