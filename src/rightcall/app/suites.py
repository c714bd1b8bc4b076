"""A test set graded as a whole and looked at test by test, as test runners do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from rightcall.app import service
from rightcall.app.redaction import Redaction, shown
from rightcall.app.reporting import Graded
from rightcall.app.sinks import Sink
from rightcall.core.results import Result
from rightcall.core.summary import RunEnd, RunHead

if TYPE_CHECKING:
    from rightcall.core.redaction.runs import Told


class Suite(msgspec.Struct, frozen=True):
    """Every result of a run by its id, in order, and what the run came to."""

    results: Mapping[str, Result]
    end: RunEnd


class _Keeping:
    """A report that keeps the results, and the target that its bytes would go to."""

    def __init__(self) -> None:
        self.results: dict[str, Result] = {}

    def start(self, head: RunHead) -> bytes:
        return b""

    def add(self, result: Result) -> bytes:
        # Several records that cannot be read may have one id; none of them may hide another.
        identity, number = result.id, 1
        while identity in self.results:
            number += 1
            identity = f"{result.id}[{number}]"
        self.results[identity] = result
        return b""

    def end(self, end: RunEnd) -> bytes:
        return b""

    def write(self, data: bytes) -> None:
        pass

    def finish(self) -> None:
        pass

    def discard(self) -> None:
        pass


class _Keeper(Sink):
    """A sink that hides nothing, so that results are kept by their true ids."""

    def _shown(self, told: Told) -> Told:
        return told


def grade(request: service.GradeRequest) -> Suite:
    """Grade as the command line does and keep everything; raises what `service.grade` raises.

    What the request hides is taken out of the results, not of the ids by which they are kept.
    """
    return kept(lambda sinks: service.grade(request, sinks), request.redaction)


def kept(work: Callable[[Sequence[Sink]], Graded], redaction: Redaction) -> Suite:
    """Keep every result that the work gives to the sinks that it is given, without what is hidden."""
    sink, finish = keeper(redaction)
    return finish(work([sink]).end)


def keeper(redaction: Redaction) -> tuple[Sink, Callable[[RunEnd], Suite]]:
    """A sink that keeps every result, and what makes a suite of them in the end."""
    keeping = _Keeping()

    def finish(end: RunEnd) -> Suite:
        redactor = redaction.asked
        results = {identity: shown(result, redactor) for identity, result in keeping.results.items()}
        return Suite(results, shown(end, redactor))

    return _Keeper(keeping, lambda: keeping), finish
