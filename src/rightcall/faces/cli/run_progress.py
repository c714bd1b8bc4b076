"""How far a run of an agent has come, on a terminal's standard error."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import TextIO

from rightcall.app.running.live import Watch
from rightcall.core.results import Outcome
from rightcall.core.wording import amount
from rightcall.faces.cli.progress import Line


class RunProgress(Line, Watch):
    """Counts attempts by what they came to, and says how long the others will take."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream, clock)
        self._outcomes = Counter[Outcome]()
        self._planned = self._before = 0

    def begin(self, planned: int, made: int) -> None:
        """So many attempts are planned, and so many of them were made before."""
        self._planned, self._before = planned, made

    def step(self, outcome: Outcome) -> None:
        """One more attempt was made, and came to this."""
        self._outcomes[outcome] += 1
        if self.is_due():
            self.show(self._told())

    def _told(self) -> str:
        made = self._outcomes.total()
        left = self._planned - self._before - made
        seconds = (self.clock() - self.began) / made * left
        counts = f"{self._outcomes[Outcome.PASS]} passed, {self._outcomes[Outcome.FAIL]} failed"
        errors = f", {amount(self._outcomes[Outcome.ERROR], 'error')}" if self._outcomes[Outcome.ERROR] else ""
        return f"{self._before + made:,} of {self._planned:,} attempts: {counts}{errors}; {_lasting(seconds)} left"


def _lasting(seconds: float) -> str:
    """About how long: `12 s`, `3 min`, `2.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
