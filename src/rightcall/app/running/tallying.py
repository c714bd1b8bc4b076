"""Attempts as they come in, in any order: graded, kept, and folded into the results of their tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from rightcall.app import ahead, runner
from rightcall.app.attempts import keep
from rightcall.app.matching import Grade
from rightcall.app.running.planning import Planned
from rightcall.app.spool import Spool
from rightcall.core.calls import Trajectory
from rightcall.core.results import Attempt, Outcome, Result, settle
from rightcall.errors import TraceError
from rightcall.testsets import CompiledTest

Made = tuple[Planned, Trajectory | TraceError]
"""An attempt that was made, and what was recorded of it."""


class Tally:
    """The attempts of a run, until it is left (`with`). `planned` says how many are to be made at each test."""

    def __init__(self, tests: Sequence[CompiledTest], planned: Mapping[str, int], file: str) -> None:
        self.tests = tests
        self.grade_one: Grade = runner.attempt
        self.made = 0
        self.planned = sum(planned.values())
        self._planned = planned
        self._file = file
        self._by_id = {compiled.test.id: compiled for compiled in tests}
        self._tickets: dict[str, dict[int, int]] = {compiled.test.id: {} for compiled in tests}
        self._outcomes: dict[str, list[Outcome]] = {compiled.test.id: [] for compiled in tests}
        self._spool = Spool[Attempt](Attempt)

    def begun(self, made: Iterable[Made]) -> Iterable[Made]:
        """The same attempts; where judges are asked, those of the next ones are asked meanwhile."""
        return ahead.looking(made, self._begin) if ahead.asks(self.tests) else made

    def _begin(self, made: Made) -> None:
        planned, item = made
        if not isinstance(item, TraceError):
            ahead.begin(item, self._by_id[planned.test])

    def take(self, planned: Planned, item: Trajectory | TraceError) -> Outcome:
        """Grade an attempt that was made, and say what it came to."""
        if isinstance(item, TraceError):
            attempt = runner.unread_attempt(item)
        else:
            attempt = self.grade_one(item, self._by_id[planned.test], self._file)
        return self._keep(planned, attempt)

    def asks(self, planned: Planned) -> bool:
        """Whether a judge is asked where an attempt is graded."""
        return ahead.asks((self._by_id[planned.test],))

    def leave(self, planned: Planned, item: Trajectory) -> Outcome:
        """Keep an attempt ungraded, since a judge would have to be waited for and the run is to end."""
        reason = "it was recorded, and not judged before the run was stopped"
        return self._keep(planned, Attempt(trajectory=item.id, outcome=Outcome.ERROR, reason=reason, place=self._file))

    def _keep(self, planned: Planned, attempt: Attempt) -> Outcome:
        self._tickets[planned.test][planned.number] = keep(self._spool, attempt)
        self._outcomes[planned.test].append(attempt.outcome)
        self.made += 1
        return attempt.outcome

    def is_settled(self, test: str) -> bool:
        """Whether no attempt that is still to be made could change what the test comes to (G37)."""
        outcomes = self._outcomes[test]
        passed, failed = outcomes.count(Outcome.PASS), outcomes.count(Outcome.FAIL)
        unknown = max(0, self._planned[test] - passed - failed)
        return settle(passed, failed, unknown, self._by_id[test].test.min_pass_rate) in (Outcome.PASS, Outcome.FAIL)

    def has(self, planned: Planned) -> bool:
        """Whether an attempt was graded."""
        return planned.number in self._tickets[planned.test]

    def is_complete(self, test: str) -> bool:
        """Whether all attempts at the test were made."""
        return len(self._tickets[test]) >= self._planned.get(test, 0)

    def result(self, compiled: CompiledTest) -> Result:
        """What a test came to over the attempts that were made, in the order of their numbers."""
        test = compiled.test
        tickets = sorted(self._tickets[test.id].items())
        attempts = [self._spool.fetch(ticket) for _, ticket in tickets]
        return runner.result(test, attempts, planned=self._planned.get(test.id, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._spool.__exit__()
